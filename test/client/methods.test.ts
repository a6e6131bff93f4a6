/** The results of every method, against the app of the process. Together the methods use every route of the document. */
import { type Client, createClient, RecentnError } from '../../src/client'
import { createApp, messagesOf } from '../../src/http/process/app'
import type { Store } from '../../src/store/types'
import { memoryStore, serving } from '../http/support/client'
import { document, operationOf } from '../http/support/documented'
import { eventually } from '../support/timing'

let store: Store
let url: string
let client: Client
const used = new Set<string>()

const watched: typeof fetch = (input, init) => {
  used.add(String(operationOf(init?.method ?? 'GET', String(input).slice(url.length))?.operationId))
  return fetch(input, init)
}

beforeAll(async () => {
  store = await memoryStore()
  const app = createApp(store, { allowAnonymous: false })
  url = await serving(app, messagesOf(app))
  client = createClient({ baseUrl: `${url}/`, fetch: watched })
})

afterAll(() => {
  const all = Object.values(document.paths as object).flatMap((path) => Object.values(path as object))
  expect([...used].sort()).toEqual(all.map(({ operationId }) => operationId).sort())
})

async function everyOf<T>(list: AsyncIterable<T>, all: T[] = []) {
  for await (const each of list) all.push(each)
  return all
}

describe('groups', () => {
  test('append one and many, by an event id once', async () => {
    const occurredAt = new Date('2026-11-21T10:00:00.125Z')
    const payload = { id: '7', createdAt: 'never', list: [1, null], ['__proto__']: 1 }
    const item = await client.groups.append('a', { member: 'user-7', payload, occurredAt, eventId: 'e' })
    expect(item).toEqual({
      ...{ group: 'a', id: 0n, slot: 0, member: 'user-7', score: null, payload, occurredAt, eventId: 'e' },
      createdAt: expect.any(Date),
      appended: true,
    })
    expect(await client.groups.append('a', { eventId: 'e' })).toEqual({ ...item, appended: false })
    expect(await client.groups.append('a')).toMatchObject({ id: 1n, payload: null, occurredAt: null })
    const known = { group: 'a', eventId: 'e' }
    expect(await client.groups.appendMany([{ group: 'a' }, { group: 'b', occurredAt }, known])).toEqual([
      { group: 'a', id: 2n, slot: 2, appended: true },
      { group: 'b', id: 0n, slot: 0, appended: true },
      { group: 'a', id: 0n, slot: 0, appended: false },
    ])
    expect((await store.groups.recent('b')).items[0]?.occurredAt).toEqual(occurredAt)
  })

  test('read one and many, page by page, and only when changed', async () => {
    for (const member of ['x', 'y', 'z']) await client.groups.append('read', { member })
    const page = await client.groups.recent('read', { limit: 2, exclude: ['z'] })
    expect(page).toMatchObject({ group: 'read', capacity: 10, mode: 'history', totalAppended: 3n, nextBefore: null })
    expect(page.items).toEqual((await store.groups.recent('read', { exclude: ['z'] })).items)
    expect(await client.groups.recentIfChanged('read', page.tag, { limit: 2, exclude: ['z'] })).toBeNull()
    await client.groups.append('read')
    expect(await client.groups.recentIfChanged('read', page.tag, { limit: 2, exclude: ['z'] })).toMatchObject({
      totalAppended: 4n,
    })
    expect(await client.groups.item('read', 2n)).toEqual(await store.groups.item('read', 2n))
    expect([await client.groups.item('read', 9n), await client.groups.item('none', 0n)]).toEqual([null, null])
    expect(await client.groups.recent('read', { before: 2n, limit: 1 })).toMatchObject({ nextBefore: 1n })
    const all = await everyOf(client.groups.allItems('read', { limit: 1 }))
    expect(all.map(({ id }) => id)).toEqual([3n, 2n, 1n, 0n])
    const many = await client.groups.recentMany(['read', 'nobody'], { limit: 1 })
    expect(many.map(({ group, totalAppended, items }) => [group, totalAppended, items.length])).toEqual([
      ['read', 4n, 1],
      ['nobody', 0n, 0],
    ])
  })

  test('are removed item by item, emptied, forgotten, and ranked', async () => {
    await client.groups.appendMany([{ group: 'gone' }, { group: 'gone' }])
    expect([await client.groups.remove('gone', 0n), await client.groups.remove('gone', 0n)]).toEqual([true, false])
    expect(await client.groups.clear('gone')).toEqual({ deleted: 1 })
    expect([await client.groups.drop('gone'), await client.groups.drop('gone')]).toEqual([true, false])
    expect(await client.groups.get('gone')).toBeNull()
    await client.groups.put('gone', { mode: 'top' })
    await client.groups.append('gone', { member: 'm', score: 1.5 })
    expect(await client.group('gone').changeScore('m', 2)).toMatchObject({ id: 1n, score: 3.5 })
  })

  test('have settings, and are listed', async () => {
    const own = { capacity: 3, mode: 'distinct', ttlSeconds: 60, forgetEmptySeconds: 90 } as const
    const made = await client.groups.put('list:1', own)
    expect(made).toEqual({
      group: 'list:1',
      ...own,
      own,
      policy: null,
      tag: expect.any(String),
      totalAppended: 0n,
      createdAt: expect.any(Date),
      created: true,
    })
    const other = client.groups.put('list:1', {}, { ifTag: 'other' })
    await expect(other).rejects.toMatchObject({ code: 'settings_changed', status: 412 })
    expect(await client.groups.ensure('list:1', { capacity: 3 })).toEqual({ ...made, created: false })
    const { created: _, ...left } = made
    const changed = await client.groups.update('list:1', { ttlSeconds: null, mode: null }, { ifTag: made.tag })
    const now = { ttlSeconds: null, mode: 'history', own: { capacity: 3, forgetEmptySeconds: 90 } }
    expect(changed).toEqual({ ...left, ...now, tag: expect.any(String) })
    expect((await client.groups.put('list:1', {}, { ifTag: changed.tag })).created).toBe(false)
    await expect(client.groups.update('list:0', {})).rejects.toMatchObject({ code: 'group_not_found' })
    await client.groups.put('list:2')
    expect(await client.groups.get('list:2')).toEqual(await store.groups.get('list:2'))
    expect((await client.groups.list({ prefix: 'list:', limit: 1 })).nextAfter).toBe('list:1')
    const all = await everyOf(client.groups.all({ prefix: 'list:', limit: 1 }))
    expect(all.map(({ group }) => group)).toEqual(['list:1', 'list:2'])
  })

  test('have policies', async () => {
    const policy = {
      prefix: 'p:',
      capacity: 5,
      mode: 'history',
      ttlSeconds: null,
      forgetEmptySeconds: null,
      tag: expect.any(String),
    }
    expect(await client.policies.put('p:', { capacity: 5, mode: 'history' })).toEqual({ ...policy, created: true })
    expect(await client.policies.get('p:')).toEqual(policy)
    expect(await client.policies.list({ limit: 1 })).toEqual({ policies: [policy], nextAfter: null })
    expect(await everyOf(client.policies.all())).toEqual([policy])
    const other = client.policies.put('p:', { capacity: 6, mode: 'history' }, { ifTag: 'other' })
    await expect(other).rejects.toMatchObject({ code: 'settings_changed', status: 412 })
    const ensured = await client.policies.ensure('p:', { capacity: 6, mode: 'history' })
    expect(ensured).toEqual({ ...policy, created: false })
    const changed = await client.policies.update('p:', { capacity: 7 }, { ifTag: ensured.tag })
    expect(changed).toEqual({ ...policy, capacity: 7 })
    expect((await client.policies.put('p:', { capacity: 5, mode: 'history' }, { ifTag: '*' })).created).toBe(false)
    await client.groups.appendMany(Array(4).fill({ group: 'p:lost' }))
    expect((await client.policies.losses('p:')).items).toBe(0)
    expect((await client.groups.losses('p:lost', { capacity: 1 })).items).toBe(3)
    expect(await client.policies.drop('p:')).toBe(true)
    expect([await client.policies.drop('p:'), await client.policies.get('p:')]).toEqual([false, null])
  })

  test('tell what a member did, and erase it', async () => {
    for (const group of ['m1', 'm2', 'm3']) await client.groups.append(group, { member: 'user/9' })
    expect((await client.groups.memberItems('user/9', { limit: 2 })).items).toHaveLength(2)
    const all = await everyOf(client.groups.allMemberItems('user/9', { limit: 2 }))
    expect(all.map(({ group }) => group).sort()).toEqual(['m1', 'm2', 'm3'])
    expect(await client.groups.eraseMember('user/9')).toEqual({ deleted: 3 })
  })

  test('are watched', async () => {
    await client.groups.append('seen')
    const watch = client.groups.watch('seen')
    await watch.ready
    const item = await client.groups.append('seen', { member: 'm' })
    const { appended: _, ...told } = item
    expect((await watch.next()).value).toEqual({ type: 'item', item: told })
    await client.groups.remove('seen', 1n)
    expect((await watch.next()).value).toEqual({ type: 'removed', id: 1n })
    await watch.return()
    expect((await watch.next()).done).toBe(true)
  })

  test.each(['a/b', 'a%2Fb', 'ü ☃ 😀', '?a=b&c#d', '+', '__proto__', 'a\\b', '...', '%', ';,:@$'])(
    'may be named %p',
    async (name) => {
      await client.groups.append(name, { member: name })
      expect((await client.groups.get(name))?.group).toBe(name)
      expect((await client.groups.recentMany([name], { exclude: [`not ${name}`] }))[0]?.items[0]?.member).toBe(name)
      expect((await client.groups.list({ prefix: name })).groups.map(({ group }) => group)).toContain(name)
      expect(await client.groups.drop(name)).toBe(true)
    },
  )

  test.each(['', '.', '..', '\ud800'])('may not be named %p, and nothing is asked', async (name) => {
    const asked = jest.fn(fetch)
    const { groups } = createClient({ baseUrl: url, fetch: asked })
    const refused = { code: 'invalid_input', status: 400, requestId: undefined, faults: [{ parameter: 'name' }] }
    await expect(groups.drop(name)).rejects.toMatchObject(refused)
    await expect(groups.append(name)).rejects.toBeInstanceOf(RecentnError)
    expect(asked).not.toHaveBeenCalled()
  })
})

describe('queues', () => {
  test('are made, replaced, listed and dropped', async () => {
    expect((await client.queues.put('mail-dead')).created).toBe(true)
    const made = await client.queues.put('mail', { maxReceives: 1, deadLetterQueue: 'mail-dead' })
    expect(made).toMatchObject({ queue: 'mail', maxReceives: 1, paused: false, createdAt: expect.any(Date) })
    expect(await client.queues.get('mail')).toEqual(await store.queues.get('mail'))
    expect((await client.queues.list({ prefix: 'mail', limit: 1 })).nextAfter).toBe('mail')
    expect(await everyOf(client.queues.all({ limit: 1 }))).toMatchObject([{ queue: 'mail' }, { queue: 'mail-dead' }])
    expect(await client.queues.ensure('mail')).toEqual({ ...made, created: false })
    expect(await client.queues.pause('mail')).toMatchObject({ paused: true })
    expect(await client.queues.update('mail', { maxReceives: null })).toMatchObject({ maxReceives: null, paused: true })
    expect(await client.queues.resume('mail')).toMatchObject({ maxReceives: null, paused: false })
    expect(await client.queues.hold('mail', { seconds: 30 })).toEqual({ holdEndsAt: expect.any(Date) })
    await expect(client.queues.drop('mail-dead')).rejects.toMatchObject({ code: 'queue_in_use', status: 409 })
    expect([await client.queues.drop('nobody'), await client.queues.get('nobody')]).toEqual([false, null])
  })

  test('take and give messages, and settle them', async () => {
    await client.queues.put('work')
    const { id, sent } = await client.queues.send('work', { to: 'a' }, { dedupId: 'd', priority: 1 })
    expect([typeof id, sent]).toEqual(['bigint', true])
    expect(await client.queues.send('work', 'again', { dedupId: 'd' })).toEqual({ id, sent: false })
    const kept = await client.queues.send('work', 1, { key: 'k' })
    expect([kept.sent, await client.queues.cancel('work', 'k')]).toEqual([true, true])
    const more = await client.queues.sendMany('work', [{ body: 1 }, { body: null, messageGroup: 'g' }])
    const messages = await client.queues.receive('work', { limit: 3 })
    const [, ...ids] = messages.map((message) => message.id)
    expect(more).toEqual(ids.map((each) => ({ id: each, sent: true })))
    expect(messages[0]).toMatchObject({ id, body: { to: 'a' }, receiveCount: 1, sentAt: expect.any(Date) })
    const [first, second, third] = messages.map(({ receiptHandle }) => receiptHandle) as [string, string, string]
    expect(await client.queues.extendMany('work', [first], { visibilityTimeoutSeconds: 60 })).toEqual({
      extended: [first],
      failed: [],
    })
    expect(await client.queues.ackMany('work', [first])).toEqual({ acked: [first], failed: [] })
    expect(await client.queues.ackMany('work', [first])).toMatchObject({ failed: [{ code: 'stale_receipt' }] })
    const stale = { code: 'stale_receipt', status: 409 }
    await expect(client.queues.ack('work', first)).rejects.toMatchObject(stale)
    await expect(client.queues.nack('work', first, { error: 'e' })).rejects.toMatchObject(stale)
    await expect(client.queues.extend('work', first, { visibilityTimeoutSeconds: 9 })).rejects.toMatchObject(stale)
    await expect(client.queues.ack('work', 'x')).rejects.toMatchObject({ code: 'invalid_receipt', status: 400 })
    expect(await client.queues.extend('work', messages[1] as never, { visibilityTimeoutSeconds: 60 })).toBeUndefined()
    const dead = { error: 'e', dead: true }
    expect(await client.queues.nackMany('work', [second], dead)).toEqual({ nacked: [second], failed: [] })
    expect((await client.queues.message('work', ids[0] as bigint))?.lastError).toBe('e')
    const isReported = async () => (await store.queues.receivers('work')).unknownInFlight === 0
    await eventually(30_000, 'the store has reported that it receives', isReported)
    for (const read of ['errors', 'receivers'] as const)
      expect(await client.queues[read]('work')).toEqual(await store.queues[read]('work'))
    expect(await client.queues.history('work')).toMatchObject({ stepSeconds: 15 })
    const { messages: shown } = await client.queues.peek('work', { state: 'dead', error: 'e' })
    expect([shown.length, await client.queues.purge('work', { ids, error: 'no' })]).toEqual([1, { deleted: 0 }])
    expect(await client.overview({ prefix: 'work' })).toEqual(await store.overview({ prefix: 'work' }))
    expect(await client.queues.redrive('work', { ids: [id] })).toEqual({ moved: 0 })
    expect(await client.queues.redrive('work', { ids, limit: 5 })).toEqual({ moved: 1 })
    expect(await client.queues.promote('work', ids, { inFlight: false })).toEqual({ promoted: 0 })
    const page = await client.queues.peek('work', { state: 'in-flight' })
    expect(page).toEqual(await store.queues.peek('work', { state: 'in-flight' }))
    expect(await client.queues.nack('work', third)).toBeUndefined()
    const next = { limit: 1, cursor: 'c', visibilityTimeoutSeconds: 0 }
    for (const turn of ids) expect(await client.queues.cycle('work', next)).toMatchObject([{ id: turn }])
    const ready = await everyOf(client.queues.allMessages('work', { state: 'ready', limit: 1 }))
    expect(ready.map((message) => message.id)).toEqual(ids)
    for (const was of [true, false]) expect(await client.queues.remove('work', ids[0] as bigint)).toBe(was)
    expect(await client.queues.message('work', ids[0] as bigint)).toBeNull()
    expect(await client.queues.purge('work')).toEqual({ deleted: 1 })
    const definition = { queue: 'work', everySeconds: 60, body: { to: 'a' }, attributes: { a: 'b' } }
    const made = await client.schedules.put('s', definition)
    expect(made).toMatchObject({ ...definition, schedule: 's', created: true, nextTickAt: expect.any(Date) })
    expect(await client.schedules.get('s')).toEqual(await store.schedules.get('s'))
    expect(await client.schedules.put('s', definition)).toEqual({ ...made, created: false })
    expect(await client.schedules.ensure('s', { ...definition, priority: 5 })).toEqual({ ...made, created: false })
    const changed = await client.schedules.update('s', { priority: 0 }, { ifTag: made.tag })
    expect(changed.nextTickAt).toEqual(made.nextTickAt)
    expect(await client.schedules.list({ prefix: 's' })).toEqual(await store.schedules.list())
    expect(await everyOf(client.schedules.all({ limit: 1 }))).toHaveLength(1)
    for (const was of [true, false]) expect(await client.schedules.drop('s')).toBe(was)
    expect(await client.schedules.get('s')).toBeNull()
    expect(await client.queues.drop('work')).toBe(true)
    await expect(client.queues.send('work', 1)).rejects.toMatchObject({ code: 'queue_not_found', status: 404 })
  })

  test('are waited at, longer than a call may take', async () => {
    await client.queues.put('slow')
    const quick = createClient({ baseUrl: url, timeoutSeconds: 0.5, retries: 0 })
    const receiving = quick.queues.receive('slow', { waitSeconds: 5 })
    setTimeout(() => store.queues.send('slow', 'late'), 900)
    expect((await receiving).map(({ body }) => body)).toEqual(['late'])
  })
})

describe('feeds', () => {
  test('are written, read, followed and dropped', async () => {
    const written = await client.feeds.put('users', 'fred', { name: 'Fred' })
    const entry = { key: 'fred', value: { name: 'Fred' }, version: 1, syncId: null, deleted: false }
    expect(written).toEqual({ ...entry, updatedAt: expect.any(Date) })
    const many = await client.feeds.putMany('users', [{ key: 'jim', value: 1 }])
    expect(many).toEqual({ entries: [{ key: 'jim', version: 1 }] })
    await store.feeds.publish('users')
    const { changes, cursor, hasMore } = await client.feeds.changes('users', { waitSeconds: 10, limit: 1 })
    expect([changes[0]?.key, changes[0]?.syncId, cursor, hasMore]).toEqual(['fred', 1n, 1n, true])
    expect((await client.feeds.changes('users', { after: cursor })).changes).toMatchObject([{ key: 'jim' }])
    expect(await client.feeds.get('users', 'fred')).toMatchObject({ syncId: 1n })
    expect(await client.feeds.delete('users', 'jim')).toMatchObject({ deleted: true, version: 2 })
    expect([await client.feeds.get('users', 'jim'), await client.feeds.delete('users', 'no')]).toEqual([null, null])
    expect(await client.feeds.republish('users', { keys: ['fred'] })).toEqual({ republished: 1 })
    const consumer = { consumer: 'search', cursor: 1n, lag: expect.any(Number), movedAt: expect.any(Date) }
    expect(await client.feeds.moveCursor('users', 'search', 1n)).toEqual(consumer)
    expect(await client.feeds.moveCursor('users', 'search', 0n)).toMatchObject({ cursor: 1n })
    expect(await client.feeds.moveCursor('users', 'search', 0n, { force: true })).toMatchObject({ cursor: 0n })
    expect(await client.feeds.cursor('users', 'search')).toMatchObject({ cursor: 0n })
    expect(await client.feeds.changes('users', { consumer: 'search' })).toMatchObject({ hasMore: false })
    expect(await client.feeds.status('users')).toMatchObject({ feed: 'users', consumers: [{ cursor: 0n }] })
    expect((await client.feeds.list({ prefix: 'us' })).feeds.map(({ feed }) => feed)).toEqual(['users'])
    expect(typeof (await everyOf(client.feeds.all({ limit: 1 })))[0]?.lastSyncId).toBe('bigint')
    for (const isThere of [true, false]) expect(await client.feeds.dropCursor('users', 'search')).toBe(isThere)
    expect([await client.feeds.drop('users'), await client.feeds.drop('users')]).toEqual([true, false])
    expect(await client.feeds.status('users')).toBeNull()
  })
})

test('what the caller may do', async () => {
  expect(await client.access()).toEqual({ scopes: ['append', 'read', 'queue', 'feed', 'admin'], prefix: null })
})

describe('the process', () => {
  test('has its health and metrics', async () => {
    for (const health of ['livez', 'readyz'] as const) expect(await client.process[health]()).toEqual({ status: 'ok' })
    expect(await client.process.metrics()).toContain('recentn_')
  })
})
