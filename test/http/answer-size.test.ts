/** The largest answer, in bytes of JSON: names, errors and escapes count, not payloads alone. */
import type { Store } from '../../src/store/types'
import { type Client, startApp } from './support/client'

const MIB = 1024 * 1024
/** "About 4 MiB": by what is estimated of each item. */
const MOST_BYTES = 4.5 * MIB

/** The longest name, of characters that JSON escapes and of those that take four bytes. */
const longName = (n: number) => `${n}`.padStart(4, '0') + '"'.repeat(100) + '😀'.repeat(87)

let server: Client & { store: Store }
const groups = Array.from({ length: 4 }, (_, n) => longName(n))
beforeAll(async () => {
  server = await startApp()
  const { store } = server
  for (const group of groups) {
    await store.groups.put(group, { capacity: 2000 })
    for (let part = 0; part < 2; part++) {
      const items = Array.from({ length: 1000 }, (_, n) => ({
        group,
        member: longName(5),
        eventId: longName(part * 1000 + n),
      }))
      await store.groups.appendMany(items)
    }
  }
})

const bytesOf = (text: string) => Buffer.byteLength(text)
const query = groups.map((group) => `group=${encodeURIComponent(group)}`).join('&')

test('pages of many groups', async () => {
  const answer = await server.get(`/v1/items?limit=10000&${query}`)
  expect(answer.status).toBe(200)
  expect(bytesOf(answer.text)).toBeLessThan(MOST_BYTES)
  expect(bytesOf(answer.text)).toBeGreaterThan(3.5 * MIB)
  const pages = JSON.parse(answer.text).groups
  for (const { items, nextBefore } of pages) {
    if (items.length < 2000) expect(nextBefore).toBe(items.at(-1).id)
    else expect(nextBefore).toBeNull()
  }
})

test('pages of many groups that are read together, with large payloads', async () => {
  const names = Array.from({ length: 16 }, (_, n) => `large-${n}`)
  const payload = '漢'.repeat(21_000)
  for (let n = 0; n < 8; n++) await server.store.groups.appendMany(names.map((group) => ({ group, payload })))
  const answer = await server.get(`/v1/items?limit=8&${names.map((name) => `group=${name}`).join('&')}`)
  expect(bytesOf(answer.text)).toBeLessThan(MOST_BYTES + 16 * 64 * 1024)
})

test.each([
  ['a group', () => `/v1/groups/${encodeURIComponent(groups[0] as string)}/items?limit=10000`, 'items'],
  ['a member', () => `/v1/members/${encodeURIComponent(longName(5))}/items?limit=1000`, 'items'],
])('pages of %s', async (_what, path, list) => {
  const answer = await server.get(path())
  expect(answer.status).toBe(200)
  expect(bytesOf(answer.text)).toBeLessThan(MOST_BYTES)
  expect(JSON.parse(answer.text)[list].length).toBeGreaterThan(500)
})

test('messages with errors that are escaped', async () => {
  const { queues } = server.store
  await queues.put('q')
  const error = '\u0001'.repeat(1000)
  await queues.sendMany(
    'q',
    Array.from({ length: 1000 }, () => ({ body: 0, messageGroup: longName(1) })),
  )
  const messages = await queues.receive('q', { limit: 1000 })
  await queues.nackMany(
    'q',
    messages.map(({ receiptHandle }) => receiptHandle),
    { error, dead: true },
  )
  let after = ''
  let seen = 0
  do {
    const answer = await server.get(`/v1/queues/q/messages?state=dead&limit=1000${after}`)
    expect(bytesOf(answer.text)).toBeLessThan(MOST_BYTES)
    const page = JSON.parse(answer.text)
    seen += page.messages.length
    after = page.nextAfter === null ? '' : `&after=${page.nextAfter}`
  } while (after !== '')
  expect(seen).toBe(1000)
})

test('changes of a feed, with values of three bytes a character', async () => {
  const { feeds } = server.store
  const entries = Array.from({ length: 100 }, (_, n) => ({ key: longName(n), value: '漢'.repeat(80_000) }))
  for (let n = 0; n < 100; n += 10) await feeds.putMany('f', entries.slice(n, n + 10))
  await feeds.publish('f')
  let seen = 0
  for (let after = '0', hasMore = true; hasMore; ) {
    const answer = await server.get(`/v1/feeds/f/changes?limit=1000&after=${after}`)
    expect(bytesOf(answer.text)).toBeLessThan(MOST_BYTES)
    const page = JSON.parse(answer.text)
    seen += page.changes.length
    ;({ cursor: after, hasMore } = page)
  }
  expect(seen).toBe(100)
})

test('feeds with many consumers', async () => {
  const { feeds } = server.store
  for (let f = 0; f < 5; f++) {
    for (let n = 0; n < 700; n++) await feeds.moveCursor(`many-${f}`, longName(n), 0n)
  }
  const names: string[] = []
  let after = ''
  do {
    const answer = await server.get(`/v1/feeds?prefix=many-&limit=1000${after}`)
    expect(bytesOf(answer.text)).toBeLessThan(MOST_BYTES)
    const page = JSON.parse(answer.text)
    names.push(...page.feeds.map(({ feed }: { feed: string }) => feed))
    after = page.nextAfter === null ? '' : `&after=${page.nextAfter}`
  } while (after !== '')
  expect(names).toEqual(['many-0', 'many-1', 'many-2', 'many-3', 'many-4'])
})

test('a group is not read twice by one request', async () => {
  const answer = await server.get('/v1/items?group=a&group=b&group=%61')
  expect([answer.status, answer.json.errors]).toEqual([
    400,
    [{ parameter: 'group', detail: 'must not have a name more than once' }],
  ])
})
