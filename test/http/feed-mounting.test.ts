/** Feeds in the app of a user: below a prefix, behind its body parsers and its `access`. */
import type { Store } from '../../src/store/types'
import { soonMs } from '../support/timing'
import { fresh, memoryStore } from './support/client'
import { BEFORE, expectAsked, expectGuarded, type GuardedCall, mounted } from './support/mounting'

let store: Store
beforeAll(async () => {
  store = await memoryStore()
})

test.each(BEFORE)('writes, reads and remembers, %s', async (_name, prepare) => {
  const client = await mounted(store, { access: 'anonymous' }, { prepare })
  const path = `/v1/feeds/${fresh('feed')}`
  const value = JSON.parse('{"__proto__":{"a":"\\u0000"},"n":[1.5,null]}')
  expect((await client.put(`${path}/entries/a`, { value })).status).toBe(200)
  const text = '"value":{"__proto__":{"a":"\\u0000"},"n":[1.5,null]}'
  expect((await client.get(`${path}/entries/a`)).text).toContain(text)
  const changes = await client.get(`${path}/changes?waitSeconds=10`)
  expect(changes.text).toContain(text)
  expect((await client.post(`${path}/entries`, { entries: [{ key: 'b', value: null }] })).status).toBe(200)
  expect((await client.put(`${path}/consumers/c`, { cursor: changes.json.cursor })).status).toBe(200)
  const next = await client.get(`${path}/changes?consumer=c&waitSeconds=10`)
  expect(next.json).toMatchObject({ changes: [{ key: 'b', value: null }] })
  expect((await client.post(`${path}/republish`, { prefix: '' })).json).toEqual({ republished: 2 })
  const refused = await client.post(`${path}/entries`, { entries: [{ key: 'b' }] })
  expect(refused.json.errors).toMatchObject([{ pointer: '/entries/0/value' }])
})

describe('access', () => {
  const callsOf = (feed: string): GuardedCall[] => [
    ['read', 'GET', '/v1/feeds'],
    ['read', 'GET', feed],
    ['feed', 'PUT', `${feed}/entries/k`, { value: 1 }],
    ['feed', 'GET', `${feed}/entries/k`],
    ['feed', 'DELETE', `${feed}/entries/k`],
    ['feed', 'POST', `${feed}/entries`, { entries: [{ key: 'k', value: 1 }] }],
    ['feed', 'POST', `${feed}/republish`, { keys: ['k'] }],
    ['feed', 'GET', `${feed}/changes`],
    ['feed', 'GET', `${feed}/consumers/c`],
    ['feed', 'PUT', `${feed}/consumers/c`, { cursor: '0' }],
    ['feed', 'DELETE', `${feed}/consumers/c`],
    ['admin', 'DELETE', feed],
  ]

  test('is asked with what the request is about to do', async () => {
    await expectAsked(store, callsOf('/v1/feeds/f'))
  })

  test('that is refused is 403, whatever the body; nothing is done, without a wait', async () => {
    const name = fresh('guarded')
    await store.feeds.put(name, 'k', 1)
    const { nobody, holder: consumer } = await expectGuarded(store, callsOf(`/v1/feeds/${name}`), 'feed')
    const start = Date.now()
    expect((await nobody.get(`/v1/feeds/${name}/changes?after=1&waitSeconds=20`)).status).toBe(403)
    expect(Date.now() - start).toBeLessThan(soonMs())
    expect(await store.feeds.get(name, 'k')).toMatchObject({ value: 1, version: 1 })
    const changes = await consumer.get(`/v1/feeds/${name}/changes?waitSeconds=10`)
    expect(changes.json).toMatchObject({ changes: [{ key: 'k', version: 1 }], cursor: '1' })
  })
})

test('`stopping` answers who waits', async () => {
  const stopping = new AbortController()
  const client = await mounted(store, { access: 'anonymous', stopping: stopping.signal })
  const waiting = client.get(`/v1/feeds/${fresh('feed')}/changes?waitSeconds=20`)
  setTimeout(() => stopping.abort(), 200)
  const start = Date.now()
  expect((await waiting).json).toEqual({ changes: [], cursor: '0', hasMore: false })
  expect(Date.now() - start).toBeLessThan(soonMs())
})
