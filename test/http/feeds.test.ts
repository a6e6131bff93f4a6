import { createApp } from '../../src/http/process/app'
import { type Client, clientOf, fresh, type Loose, memoryStore, serving, startApp } from './support/client'

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

let server: Client
beforeAll(async () => {
  server = await startApp()
})

const pathOf = (feed: string) => `/v1/feeds/${encodeURIComponent(feed)}`
const some = () => pathOf(fresh('feed'))

/** The changes after a cursor, as soon as there are `count` of them. */
async function changesOf(path: string, count: number, after = '0'): Promise<Loose[]> {
  const changes: Loose[] = []
  for (let cursor = after; changes.length < count; ) {
    const page = JSON.parse((await server.get(`${path}/changes?after=${cursor}&waitSeconds=10`)).text)
    expect(page.changes).not.toEqual([])
    changes.push(...page.changes)
    cursor = page.cursor
  }
  return changes
}

/** The values that a consumer from the beginning knows of each key, once that is enough. */
async function latestOf(path: string, isEnough: (seen: Map<unknown, Loose>) => boolean): Promise<Map<unknown, Loose>> {
  const seen = new Map<unknown, Loose>()
  for (let cursor = '0'; !isEnough(seen); ) {
    const page = JSON.parse((await server.get(`${path}/changes?after=${cursor}&waitSeconds=10`)).text)
    expect(page.changes).not.toEqual([])
    for (const change of page.changes) seen.set(change.key, change)
    cursor = page.cursor
  }
  return seen
}

describe('/v1/feeds/{feed}/entries/{key}', () => {
  test('PUT writes, and writes again with the next version; the entry is unpublished then', async () => {
    const feed = fresh('a feed / of äöü ')
    const key = encodeURIComponent('fred / äöü')
    const path = `${pathOf(feed)}/entries/${key}`
    const value = { name: 'Fred', n: [1, null] }
    const first = await server.put(path, { value })
    const written = { key: 'fred / äöü', value, version: 1, syncId: null, deleted: false, updatedAt: TIME }
    expect([first.status, first.json]).toEqual([200, written])
    const second = await server.put(path, { value: null })
    expect([second.status, second.json]).toEqual([200, { ...written, value: null, version: 2 }])
    expect((await server.get(path)).json).toMatchObject({ key: 'fred / äöü', value: null, version: 2 })
  })

  test('GET has the sync id once the entry is published', async () => {
    const path = some()
    const written = (await server.put(`${path}/entries/a`, { value: 1 })).json
    const [change] = await changesOf(path, 1)
    expect(change).toEqual({ syncId: '1', key: 'a', value: 1, version: 1, deleted: false })
    const got = await server.get(`${path}/entries/a`)
    expect([got.status, got.json]).toEqual([200, { ...written, syncId: '1' }])
  })

  test('DELETE leaves a tombstone, which only consumers see; a PUT goes on with the version', async () => {
    const path = some()
    await server.put(`${path}/entries/a`, { value: 1 })
    await server.put(`${path}/entries/b`, { value: 2 })
    const removed = await server.delete(`${path}/entries/a`)
    const tombstone = { key: 'a', value: null, version: 2, syncId: null, deleted: true, updatedAt: TIME }
    expect([removed.status, removed.json]).toEqual([200, tombstone])
    for (const method of ['GET', 'DELETE']) {
      const answer = await server.request(method, `${path}/entries/a`)
      expect([answer.status, answer.json.code]).toEqual([404, 'entry_not_found'])
    }
    // It may have been published before it was deleted, too.
    const latest = await latestOf(path, (seen) => seen.has('b') && Boolean(seen.get('a')?.deleted))
    expect(latest.get('a')).toMatchObject({ value: null, version: 2, deleted: true })
    expect(latest.get('b')).toMatchObject({ value: 2, version: 1, deleted: false })
    await server.put(`${path}/entries/a`, { value: 3 })
    expect((await server.get(`${path}/entries/a`)).json).toMatchObject({ value: 3, version: 3, deleted: false })
  })

  test('of an unknown feed or key: 404', async () => {
    const path = some()
    await server.put(`${path}/entries/a`, { value: 1 })
    for (const target of [`${path}/entries/b`, `${some()}/entries/a`]) {
      for (const method of ['GET', 'DELETE']) {
        const answer = await server.request(method, target)
        expect([method, target, answer.status, answer.json.code]).toEqual([method, target, 404, 'entry_not_found'])
      }
    }
  })
})

describe('POST …/entries', () => {
  test('writes many: their keys and versions in the order given; a key given twice keeps its last value', async () => {
    const path = some()
    await server.put(`${path}/entries/b`, { value: 0 })
    const entries = [
      { key: 'b', value: { b: 1 } },
      { key: 'a', value: null },
      { key: 'c', value: 1 },
      { key: 'c', value: 2 },
    ]
    const answer = await server.post(`${path}/entries`, { entries })
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        entries: [
          { key: 'b', version: 2 },
          { key: 'a', version: 1 },
          { key: 'c', version: 1 },
          { key: 'c', version: 1 },
        ],
      },
    ])
    expect((await server.get(`${path}/entries/b`)).json).toMatchObject({ value: { b: 1 }, version: 2 })
    expect((await server.get(`${path}/entries/a`)).json).toMatchObject({ value: null, version: 1 })
    expect((await server.get(`${path}/entries/c`)).json).toMatchObject({ value: 2 })
  })

  test('up to 1,000 of them, which are all published', async () => {
    const path = some()
    const entries = Array.from({ length: 1000 }, (_, n) => ({ key: `k${n}`, value: n }))
    const written = JSON.parse((await server.post(`${path}/entries`, { entries })).text)
    expect(written.entries).toEqual(entries.map(({ key }) => ({ key, version: 1 })))
    const changes = await changesOf(path, 1000)
    expect(changes.map(({ syncId }) => Number(syncId))).toEqual(entries.map((_, n) => n + 1))
    expect(new Map(changes.map(({ key, value }) => [key as unknown, value as unknown]))).toEqual(
      new Map(entries.map(({ key, value }) => [key, value])),
    )
  })
})

describe('POST …/republish', () => {
  async function made(): Promise<{ path: string; last: string }> {
    const path = some()
    const entries = ['a:1', 'a:2', 'b:1'].map((key) => ({ key, value: key }))
    await server.post(`${path}/entries`, { entries })
    return { path, last: String((await changesOf(path, 3)).at(-1)?.syncId) }
  }

  test.each([
    [{ keys: ['a:1', 'b:1', 'nobody', 'a:1'] }, ['a:1', 'b:1']],
    [{ keys: ['b:1'], prefix: null }, ['b:1']],
    [{ prefix: 'a:' }, ['a:1', 'a:2']],
    [{ prefix: '', keys: null }, ['a:1', 'a:2', 'b:1']],
    [{ prefix: 'c' }, []],
  ])('%j', async (body, keys) => {
    const { path, last } = await made()
    const answer = await server.post(`${path}/republish`, body)
    expect([answer.status, answer.json]).toEqual([200, { republished: keys.length }])
    if (keys.length === 0) return
    const changes = await changesOf(path, keys.length, last)
    expect(changes.map(({ key }) => key).sort()).toEqual(keys)
    for (const change of changes) {
      expect(change).toMatchObject({ value: change.key, version: 1 })
      expect(Number(change.syncId)).toBeGreaterThan(Number(last))
    }
  })

  test('tombstones too', async () => {
    const { path } = await made()
    await server.delete(`${path}/entries/a:1`)
    const [tombstone] = await changesOf(path, 1, '3')
    expect(tombstone).toEqual({ syncId: '4', key: 'a:1', value: null, version: 2, deleted: true })
    expect((await server.post(`${path}/republish`, { keys: ['a:1'] })).json).toEqual({ republished: 1 })
    expect(await changesOf(path, 1, '4')).toEqual([{ ...tombstone, syncId: '5' }])
  })

  test('of an unknown feed: 404', async () => {
    for (const body of [{ keys: ['a'] }, { prefix: '' }]) {
      const answer = await server.post(`${some()}/republish`, body)
      expect([answer.status, answer.json.code]).toEqual([404, 'feed_not_found'])
    }
  })
})

describe('/v1/feeds', () => {
  test('GET /v1/feeds/{feed} says what it holds and how far its consumers are', async () => {
    const path = some()
    await server.post(`${path}/entries`, { entries: ['a', 'b', 'c'].map((key) => ({ key, value: 1 })) })
    await changesOf(path, 3)
    await server.put(`${path}/consumers/search`, { cursor: '1' })
    await server.put(`${path}/consumers/mail`, { cursor: '3' })
    const got = await server.get(path)
    expect([got.status, got.json]).toEqual([
      200,
      {
        feed: decodeURIComponent(path.slice('/v1/feeds/'.length)),
        lastSyncId: '3',
        entries: 3,
        unpublished: 0,
        oldestUnpublishedSeconds: null,
        consumers: [
          { consumer: 'mail', cursor: '3', lag: 0, movedAt: TIME },
          { consumer: 'search', cursor: '1', lag: 2, movedAt: TIME },
        ],
      },
    ])
  })

  test('entries that no publisher has numbered wait, and are reported', async () => {
    const begun = performance.now()
    const offset = { ms: 0 }
    const store = await memoryStore({ publish: false, clockOffsetMs: () => offset.ms })
    const client = clientOf(await serving(createApp(store, { allowAnonymous: false })))
    await client.put('/v1/feeds/f/entries/a', { value: 1 })
    offset.ms = 60_000
    const waiting = (await client.get('/v1/feeds/f')).json
    expect(waiting).toMatchObject({ lastSyncId: '0', entries: 1, unpublished: 1, consumers: [] })
    expect(waiting.oldestUnpublishedSeconds).toBeGreaterThanOrEqual(60)
    expect(waiting.oldestUnpublishedSeconds).toBeLessThanOrEqual(60 + Math.ceil((performance.now() - begun) / 1000))
    expect((await client.get('/v1/feeds/f/changes')).json).toEqual({ changes: [], cursor: '0', hasMore: false })
    expect(await store.feeds.publish('f')).toEqual({ published: 1 })
    expect((await client.get('/v1/feeds/f/changes')).json).toMatchObject({ changes: [{ key: 'a' }], cursor: '1' })
    expect((await client.get('/v1/feeds')).json).toMatchObject({ feeds: [{ feed: 'f', lastSyncId: '1' }] })
  })

  test('GET /v1/feeds lists by name, in pages', async () => {
    const prefix = fresh('list')
    for (const name of ['c', 'a', 'b']) await server.put(`${pathOf(`${prefix}:${name}`)}/entries/k`, { value: 1 })
    const first = await server.get(`/v1/feeds?prefix=${prefix}:&limit=2`)
    expect(first.json).toMatchObject({ feeds: [{ feed: `${prefix}:a`, entries: 1 }, { feed: `${prefix}:b` }] })
    const after = encodeURIComponent(String(first.json.nextAfter))
    const second = await server.get(`/v1/feeds?prefix=${prefix}:&limit=2&after=${after}`)
    expect(second.json).toMatchObject({ feeds: [{ feed: `${prefix}:c` }], nextAfter: null })
    expect(JSON.parse((await server.get('/v1/feeds?prefix=')).text).feeds.length).toBeGreaterThan(2)
  })

  test('DELETE drops a feed: empty at once, and begun anew it goes on with greater sync ids', async () => {
    const path = some()
    await server.put(`${path}/entries/a`, { value: 1 })
    const [before] = await changesOf(path, 1)
    await server.put(`${path}/consumers/c`, { cursor: before?.syncId })
    const dropped = await server.delete(path)
    expect([dropped.status, dropped.text]).toEqual([204, ''])
    expect((await server.get(`${path}/changes`)).json).toEqual({ changes: [], cursor: '0', hasMore: false })
    expect((await server.get(`${path}/entries/a`)).status).toBe(404)
    for (const [method, of] of [
      ['GET', ''],
      ['DELETE', ''],
      ['GET', '/consumers/c'],
    ] as const) {
      const answer = await server.request(method, path + of)
      expect([answer.status, answer.json.code]).toEqual([404, 'feed_not_found'])
    }
    await server.put(`${path}/entries/a`, { value: 2 })
    const [after] = await changesOf(path, 1)
    expect(after).toMatchObject({ value: 2, version: 1 })
    expect(Number(after?.syncId)).toBeGreaterThan(Number(before?.syncId))
    const old = await server.get(`${path}/changes?after=${before?.syncId}`)
    expect([old.status, old.json.code]).toEqual([410, 'cursor_expired'])
  })
})

test('the feed of a followed table', async () => {
  const store = await memoryStore()
  await store.dataSource.query('CREATE TABLE kv (k varchar(9) PRIMARY KEY, v varchar(9) NOT NULL, sync bigint NULL)')
  await store.dataSource.query('CREATE INDEX kv_sync ON kv (sync)')
  await store.feeds.follow('kv', { syncColumn: 'sync', key: 'k', value: 'v' })
  await store.dataSource.query("INSERT INTO kv (k, v) VALUES ('g', '1')")
  const client = clientOf(await serving(createApp(store, { allowAnonymous: false })))
  const first = (await client.get('/v1/feeds/kv/changes?waitSeconds=10')).json
  expect(first).toMatchObject({ changes: [{ key: 'g', value: '1', version: null, deleted: false }] })
  const entry = await client.get('/v1/feeds/kv/entries/g')
  expect(entry.json).toEqual({ key: 'g', value: '1', version: null, syncId: '1', deleted: false, updatedAt: null })
  await store.dataSource.query('DELETE FROM kv')
  expect((await client.delete('/v1/feeds/kv/entries/g')).json).toMatchObject({ key: 'g', deleted: true })
  const next = (await client.get(`/v1/feeds/kv/changes?after=${first.cursor}&waitSeconds=10`)).json
  expect(next).toMatchObject({ changes: [{ key: 'g', value: null, deleted: true }] })
  expect((await client.get('/v1/feeds/kv')).status).toBe(200)
  expect((await client.post('/v1/feeds/kv/republish', { prefix: '' })).status).toBe(200)
  for (const [method, path, json] of [
    ['PUT', 'entries/g', { value: 1 }],
    ['POST', 'entries', { entries: [{ key: 'g', value: 1 }] }],
  ] as const) {
    const answer = await client.request(method, `/v1/feeds/kv/${path}`, { json })
    expect([method, answer.status, answer.json.errors]).toEqual([
      method,
      400,
      [{ parameter: 'feed', detail: expect.any(String) }],
    ])
  }
})
