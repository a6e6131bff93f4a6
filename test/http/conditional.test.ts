import { type Client, fresh, startApp } from './support/client'

let server: Client
beforeAll(async () => {
  server = await startApp()
})

async function tagOf(path: string): Promise<string> {
  const { headers } = await server.get(path)
  expect(headers['cache-control']).toBe('private, no-cache')
  expect(headers.etag).toMatch(/^"[\x21\x23-\x7e]+"$/)
  return headers.etag as string
}

describe.each([
  ['one group', (group: string) => `/v1/groups/${group}/items`],
  ['many groups', (group: string) => `/v1/items?group=other&group=${group}`],
])('the ETag of %s', (_name, pathOf) => {
  test('makes 304 of an answer that the client has', async () => {
    const group = fresh()
    const path = pathOf(group)
    await server.post(`/v1/groups/${group}/items`, {})
    const tag = await tagOf(path)
    for (const header of [tag, `W/${tag}`, `"x", ${tag}`, `"x",W/${tag}, "y"`, '*']) {
      const answer = await server.get(path, { 'If-None-Match': header })
      expect([header, answer.status, answer.text, answer.headers.etag]).toEqual([header, 304, '', tag])
      expect(answer.headers['cache-control']).toBe('private, no-cache')
      expect(answer.headers['content-type']).toBeUndefined()
    }
    for (const header of ['"x"', tag.slice(1, -1), `${tag.slice(0, -1)}x"`]) {
      expect((await server.get(path, { 'If-None-Match': header })).status).toBe(200)
    }
    expect((await server.request('HEAD', path, { headers: { 'If-None-Match': tag } })).status).toBe(304)
  })

  test('changes with everything that can change the answer', async () => {
    const prefix = fresh('tagged')
    const group = `${prefix}:1`
    const path = pathOf(group)
    const tags = [await tagOf(path)]
    const steps: (() => Promise<unknown>)[] = [
      () => server.post(`/v1/groups/${group}/items`, {}),
      () => server.post(`/v1/groups/${group}/items`, { member: 'm' }),
      () => server.delete(`/v1/groups/${group}/items/0`),
      () => server.put(`/v1/groups/${group}`, { capacity: 4 }),
      () => server.put(`/v1/groups/${group}`, {}),
      () => server.put(`/v1/policies/${prefix}`, { capacity: 5, mode: 'history' }),
      () => server.delete('/v1/members/m/items'),
      () => server.delete(`/v1/groups/${group}`),
      () => server.post(`/v1/groups/${group}/items`, {}),
    ]
    for (const step of steps) {
      await step()
      tags.push(await tagOf(path))
    }
    expect(new Set(tags).size).toBe(tags.length)
  })

  test('stays while nothing changes', async () => {
    const group = fresh()
    await server.post(`/v1/groups/${group}/items`, { eventId: 'e' })
    const tag = await tagOf(pathOf(group))
    await server.post(`/v1/groups/${group}/items`, { eventId: 'e' })
    await server.post(`/v1/groups/${fresh()}/items`, {})
    expect(await tagOf(pathOf(group))).toBe(tag)
  })
})

test('other answers are not to be kept', async () => {
  expect((await server.get('/v1/groups')).headers['cache-control']).toBe('no-store')
  expect((await server.get('/v1/nothing')).headers['cache-control']).toBe('no-store')
})
