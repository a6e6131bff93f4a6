/** Entries that are written only if no other write came first: by `If-Match`, `If-None-Match: *` and `ifVersion`. */
import { type Client, fresh, startApp } from './support/client'

let server: Client
beforeAll(async () => {
  server = await startApp()
})

test('If-Match is the version that is read, and If-None-Match: * an entry that is new', async () => {
  const path = `/v1/feeds/${fresh('feed')}/entries/k`
  const ask = (method: string, headers: Record<string, string>, value?: unknown) =>
    server.request(method, path, { json: method === 'PUT' ? { value } : undefined, headers })
  const refused = { status: 412, json: { code: 'version_changed' } }
  expect(await ask('PUT', { 'If-Match': '"1"' }, 1)).toMatchObject(refused)
  const made = await ask('PUT', { 'If-None-Match': '*' }, 1)
  expect([made.status, made.headers.etag, (await server.get(path)).headers.etag]).toEqual([200, '"1"', '"1"'])
  const again: Record<string, string>[] = [{ 'If-None-Match': '*' }, { 'If-Match': '"0"' }, { 'If-Match': '"2"' }]
  for (const headers of again) expect(await ask('PUT', headers, 2)).toMatchObject(refused)
  // As a proxy that compresses makes it.
  const second = await ask('PUT', { 'If-Match': 'W/"1"' }, 2)
  expect([second.status, second.headers.etag]).toEqual([200, '"2"'])
  expect(await ask('DELETE', { 'If-Match': '"1"' })).toMatchObject(refused)
  expect((await ask('DELETE', { 'If-Match': '"2"' })).json).toMatchObject({ version: 3, deleted: true })
  expect((await ask('DELETE', { 'If-Match': '"3"' })).json.code).toBe('entry_not_found')
  for (const tag of ['*', '2', '"x"', '"1", "2"', '"-1"', '"01"', `"${'9'.repeat(16)}"`]) {
    const { status, json } = await ask('PUT', { 'If-Match': tag }, 1)
    expect([status, json.errors]).toMatchObject([400, [{ parameter: 'If-Match' }]])
  }
  const both = { 'If-Match': '"1"', 'If-None-Match': '*' }
  for (const [method, headers] of [
    ['PUT', both],
    ['DELETE', { 'If-None-Match': '*' }],
  ] as const) {
    const { status, json } = await ask(method, headers, 1)
    expect([status, json.errors]).toMatchObject([400, [{ parameter: 'If-None-Match' }]])
  }
})

test('POST of many names each entry that has another version', async () => {
  const path = `/v1/feeds/${fresh('feed')}/entries`
  await server.put(`${path}/a`, { value: 1 })
  const entry = (key: string, ifVersion: number) => ({ key, value: 2, ifVersion })
  const { status, json } = await server.post(path, { entries: [entry('b', 0), entry('a', 0), entry('c', 1)] })
  expect([status, json.code, json.detail]).toEqual([412, 'version_changed', 'The entry "a" has version 1 (and 1 more)'])
  expect(json.errors).toEqual([
    { pointer: '/entries/1/ifVersion', detail: 'has version 1' },
    { pointer: '/entries/2/ifVersion', detail: 'does not exist' },
  ])
  expect((await server.get(`${path}/b`)).status).toBe(404)
  const written = await server.post(path, { entries: [entry('b', 0), entry('a', 1)] })
  expect(written.json.entries).toEqual([
    { key: 'b', version: 1 },
    { key: 'a', version: 2 },
  ])
})
