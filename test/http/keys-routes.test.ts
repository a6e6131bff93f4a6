/**
 * Every route of the tables, asked by keys that may not and by keys that may. A route that is not among the rows here
 * fails the first test: what a key with a prefix can do by it has to be said, and tried.
 */
import { storeRoutes } from '../../src/http/router'
import { SCOPES } from '../../src/key-rules'
import type { Store } from '../../src/store-types'
import type { Client, Loose } from './support/client'
import { allRoutes } from './support/documented'
import { served, useGuarded, withKey } from './support/keys'

interface Asked {
  path: string
  json?: unknown
  /** Where in the request the names are that are outside. */
  at?: string[]
}

/** By operation: a request about what begins with `side`. */
const NAMED: Record<string, (side: string) => Asked> = {
  appendItem: (side) => ({ path: `/v1/groups/${side}g/items`, json: {}, at: ['group'] }),
  recentItems: (side) => ({ path: `/v1/groups/${side}g/items`, at: ['group'] }),
  clearGroup: (side) => ({ path: `/v1/groups/${side}cleared/items`, at: ['group'] }),
  removeItem: (side) => ({ path: `/v1/groups/${side}g/items/1`, at: ['group'] }),
  appendItems: (side) => ({
    path: '/v1/items',
    json: { items: [{ group: 'in:g' }, { group: `${side}g` }, { group: 'in:h' }, { group: `${side}h` }] },
    at: ['/items/1/group', '/items/3/group'],
  }),
  recentItemsOfMany: (side) => ({ path: `/v1/items?group=in:g&group=${side}g`, at: ['group'] }),
  getGroup: (side) => ({ path: `/v1/groups/${side}g`, at: ['group'] }),
  putGroup: (side) => ({ path: `/v1/groups/${side}g`, json: { capacity: 7 }, at: ['group'] }),
  deleteGroup: (side) => ({ path: `/v1/groups/${side}deleted`, at: ['group'] }),
  streamGroup: (side) => ({ path: `/v1/groups/${side}g/stream`, at: ['group'] }),
  getPolicy: (side) => ({ path: `/v1/policies/${side}`, at: ['prefix'] }),
  putPolicy: (side) => ({ path: `/v1/policies/${side}`, json: { capacity: 9, mode: 'history' }, at: ['prefix'] }),
  deletePolicy: (side) => ({ path: `/v1/policies/${side}deleted`, at: ['prefix'] }),
  getQueue: (side) => ({ path: `/v1/queues/${side}q`, at: ['queue'] }),
  putQueue: (side) => ({
    path: '/v1/queues/in:q',
    json: { deadLetterQueue: `${side}letters` },
    at: ['/deadLetterQueue'],
  }),
  updateQueue: (side) => ({
    path: '/v1/queues/in:q',
    json: { deadLetterQueue: `${side}letters` },
    at: ['/deadLetterQueue'],
  }),
  ensureQueue: (side) => ({
    path: '/v1/queues/in:q/ensure',
    json: { deadLetterQueue: `${side}letters` },
    at: ['/deadLetterQueue'],
  }),
  pauseQueue: (side) => ({ path: `/v1/queues/${side}purged/pause`, at: ['queue'] }),
  resumeQueue: (side) => ({ path: `/v1/queues/${side}purged/resume`, json: {}, at: ['queue'] }),
  deleteQueue: (side) => ({ path: `/v1/queues/${side}deleted`, at: ['queue'] }),
  redriveQueue: (side) => ({ path: `/v1/queues/${side}letters/redrive`, json: {}, at: ['queue'] }),
  purgeQueue: (side) => ({ path: `/v1/queues/${side}purged/purge`, json: {}, at: ['queue'] }),
  sendMessages: (side) => ({ path: `/v1/queues/${side}q/messages`, json: { body: 1 }, at: ['queue'] }),
  peekMessages: (side) => ({ path: `/v1/queues/${side}q/messages`, at: ['queue'] }),
  getMessage: (side) => ({ path: `/v1/queues/${side}q/messages/${ids[`${side}q`]}`, at: ['queue'] }),
  deleteMessage: (side) => ({ path: `/v1/queues/${side}q/messages/${ids[`${side}q`]}`, at: ['queue'] }),
  receiveMessages: (side) => ({ path: `/v1/queues/${side}q/receive`, json: {}, at: ['queue'] }),
  deleteReceived: (side) => ({
    path: `/v1/queues/${side}held/delete`,
    json: { receiptHandles: [ids[`${side}held`]] },
    at: ['queue'],
  }),
  releaseReceived: (side) => ({
    path: `/v1/queues/${side}held/release`,
    json: { receiptHandles: [ids[`${side}held`]] },
    at: ['queue'],
  }),
  extendReceived: (side) => ({
    path: `/v1/queues/${side}held/extend`,
    json: { receiptHandles: [ids[`${side}held`]], visibilityTimeoutSeconds: 900 },
    at: ['queue'],
  }),
  getFeed: (side) => ({ path: `/v1/feeds/${side}f`, at: ['feed'] }),
  deleteFeed: (side) => ({ path: `/v1/feeds/${side}deleted`, at: ['feed'] }),
  republishEntries: (side) => ({ path: `/v1/feeds/${side}f/republish`, json: { prefix: '' }, at: ['feed'] }),
  getEntry: (side) => ({ path: `/v1/feeds/${side}f/entries/k`, at: ['feed'] }),
  putEntry: (side) => ({ path: `/v1/feeds/${side}f/entries/k`, json: { value: 2 }, at: ['feed'] }),
  deleteEntry: (side) => ({ path: `/v1/feeds/${side}f/entries/gone`, at: ['feed'] }),
  putEntries: (side) => ({
    path: `/v1/feeds/${side}f/entries`,
    json: { entries: [{ key: 'in:k', value: 1 }] },
    at: ['feed'],
  }),
  getChanges: (side) => ({ path: `/v1/feeds/${side}f/changes`, at: ['feed'] }),
  getConsumer: (side) => ({ path: `/v1/feeds/${side}f/consumers/c`, at: ['feed'] }),
  putConsumer: (side) => ({ path: `/v1/feeds/${side}f/consumers/c`, json: { cursor: '1' }, at: ['feed'] }),
  deleteConsumer: (side) => ({ path: `/v1/feeds/${side}f/consumers/gone`, at: ['feed'] }),
}

/** By operation: a list, of which only what begins with the prefix may be seen, and the names that it shows. */
const LISTS: Record<string, { path: string; names: (json: Loose) => unknown[] }> = {
  listGroups: { path: '/v1/groups', names: (json) => namesIn(json.groups, 'group') },
  listPolicies: { path: '/v1/policies', names: (json) => namesIn(json.policies, 'prefix') },
  listQueues: { path: '/v1/queues', names: (json) => namesIn(json.queues, 'queue') },
  listFeeds: { path: '/v1/feeds', names: (json) => namesIn(json.feeds, 'feed') },
  memberItems: { path: '/v1/members/m/items', names: (json) => namesIn(json.items, 'group') },
}

/** Tried by a test of its own. */
const OTHERS = ['eraseMember', 'getAccess']

const namesIn = (list: unknown, name: string) => (list as Loose[]).map((each) => each[name])

/** Message ids and receipt handles, by queue. */
const ids: Record<string, string> = {}

/** The same things, by names that begin with `side`. */
async function seed(store: Store, side: string): Promise<void> {
  const { groups, queues, feeds } = store
  for (const group of ['g', 'cleared', 'deleted']) {
    await groups.append(`${side}${group}`, { member: 'm', payload: side })
    await groups.append(`${side}${group}`, { member: 'n' })
  }
  for (const prefix of ['', 'deleted']) await groups.putPolicy(`${side}${prefix}`, { capacity: 8, mode: 'history' })
  await queues.put(`${side}letters`)
  await queues.put(`${side}dying`, { deadLetterQueue: `${side}letters` })
  for (const queue of ['q', 'held', 'deleted', 'purged']) {
    await queues.put(`${side}${queue}`)
    const { id } = await queues.send(`${side}${queue}`, side)
    ids[side + queue] = String(id)
  }
  for (const [queue, dead] of [
    ['held', false],
    ['dying', true],
  ] as const) {
    if (dead) await queues.send(`${side}${queue}`, 'dead')
    const messages = await queues.receive(`${side}${queue}`, { visibilityTimeoutSeconds: 3600 })
    ids[side + queue] = messages[0]?.receiptHandle as string
    if (dead) await queues.release(`${side}${queue}`, [ids[side + queue] as string], { dead: true })
  }
  for (const feed of ['f', 'deleted']) {
    for (const key of ['k', 'gone']) await feeds.put(`${side}${feed}`, key, side)
    await feeds.publish(`${side}${feed}`)
    for (const consumer of ['c', 'gone']) await feeds.putConsumer(`${side}${feed}`, consumer, 0n)
  }
}

const asText = (value: unknown) => JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each))

/** All that is stored by names that begin with `side`. */
async function worldOf({ groups, queues, feeds }: Store, side: string): Promise<string> {
  const world: unknown[] = [(await groups.listPolicies()).policies.filter(({ prefix }) => prefix.startsWith(side))]
  for (const { group, ...settings } of (await groups.list({ prefix: side })).groups) {
    world.push(group, settings, await groups.recent(group, { limit: 100 }))
  }
  for (const { queue } of (await queues.list({ prefix: side })).queues) {
    const { oldestAgeSeconds: _, counts: __, ...settings } = (await queues.get(queue)) ?? {}
    world.push(settings)
    for (const state of ['ready', 'in-flight', 'delayed', 'dead', 'archived'] as const) {
      world.push((await queues.peek(queue, { state })).messages)
    }
  }
  for (const { feed } of (await feeds.list({ prefix: side })).feeds) {
    const { consumers } = (await feeds.getFeed(feed)) ?? {}
    world.push(feed, consumers, await feeds.changes(feed), await feeds.get(feed, 'k'), await feeds.get(feed, 'gone'))
  }
  return asText(world)
}

const routes = storeRoutes.map((route) => ({ id: route.operation.id, route }))

test('every route is tried here', () => {
  const tried = [...Object.keys(NAMED), ...Object.keys(LISTS), ...OTHERS]
  expect(routes.map(({ id }) => id).sort()).toEqual(tried.sort())
  for (const { id, route } of routes) expect(id === 'getAccess' ? [null] : SCOPES).toContain(route.scope)
  const ofProcess = allRoutes.slice(storeRoutes.length).map(({ path, scope, reach }) => [path, scope, reach])
  expect(ofProcess).toEqual([
    ['/livez', null, 'nothing'],
    ['/readyz', null, 'nothing'],
    ['/metrics', 'read', 'within'],
  ])
})

describe.each(served)('the routes on %s', (engine) => {
  const guarded = useGuarded(engine)
  let confined: Client
  beforeAll(async () => {
    await seed(guarded.store, 'in:')
    await seed(guarded.store, 'out:')
    confined = await guarded.client({ scopes: ['admin'], prefix: 'in:' })
  })

  const asked = (id: string, side: string): Asked => (NAMED[id] ?? (() => ({ path: LISTS[id]?.path ?? '' })))(side)
  const send = (client: Client, { id, route }: (typeof routes)[number], side: string) => {
    const { path, json } = asked(id, side)
    const other = id === 'getAccess' ? '/v1/access' : '/v1/members/m/items'
    return client.request(route.method.toUpperCase(), path || other, { json })
  }

  test('need a key, and a good one', async () => {
    const revoked = await guarded.client({ scopes: ['admin'] })
    await guarded.store.keys.revoke(revoked.id)
    const other = await guarded.client({ scopes: ['admin'] })
    const swapped = `rk_${revoked.id}_${other.key.split('_').slice(2).join('_')}`
    const keys = [
      '',
      'x',
      'rk_',
      revoked.key,
      swapped,
      `${other.key}x`,
      other.key.slice(0, -1),
      other.key.toUpperCase(),
    ]
    const before = await worldOf(guarded.store, '')
    for (const key of keys) {
      for (const each of routes) {
        const answer = await send(withKey(guarded.url, key), each, 'in:')
        expect([each.id, answer.status, answer.json?.code]).toEqual([each.id, 401, 'unauthorized'])
        expect(answer.headers['www-authenticate']).toBe('Bearer')
      }
    }
    expect(await worldOf(guarded.store, '')).toBe(before)
  }, 60_000)

  test('need their scope', async () => {
    const before = await worldOf(guarded.store, '')
    for (const scope of SCOPES.filter((each) => each !== 'admin')) {
      const client = await guarded.client({ scopes: SCOPES.filter((each) => each !== scope && each !== 'admin') })
      for (const each of routes.filter(({ route }) => route.scope === scope || route.scope === 'admin')) {
        const answer = await send(client, each, 'in:')
        expect([each.id, answer.status, answer.json?.code]).toEqual([each.id, 403, 'forbidden'])
        expect(answer.json?.detail).toContain(`scope ${each.route.scope}`)
      }
    }
    expect(await worldOf(guarded.store, '')).toBe(before)
  }, 60_000)

  test.each(routes.filter(({ id }) => id in NAMED))('$id: nothing outside of the prefix', async (each) => {
    const before = await worldOf(guarded.store, '')
    const answer = await send(confined, each, 'out:')
    expect([answer.status, answer.json?.code]).toEqual([403, 'forbidden'])
    expect(answer.json?.detail).toContain('"out:')
    const places = (answer.json.errors as unknown as Loose[]).map(({ pointer, parameter }) => pointer ?? parameter)
    expect(places).toEqual(asked(each.id, 'out:').at)
    expect(await worldOf(guarded.store, '')).toBe(before)
  })

  test('those about messages do nothing with what another queue has', async () => {
    const before = await worldOf(guarded.store, 'out:')
    expect((await confined.get(`/v1/queues/in:q/messages/${ids['out:q']}`)).status).toBe(404)
    expect((await confined.delete(`/v1/queues/in:q/messages/${ids['out:q']}`)).status).toBe(404)
    for (const [what, more] of Object.entries({ delete: {}, release: {}, extend: { visibilityTimeoutSeconds: 9 } })) {
      const json = { receiptHandles: [ids['out:held']], ...more }
      const answer = await confined.post(`/v1/queues/in:held/${what}`, json)
      expect(answer.json.failed).toMatchObject([{ code: 'invalid_receipt' }])
    }
    expect(await worldOf(guarded.store, 'out:')).toBe(before)
  })

  test('redrive leaves what came from elsewhere', async () => {
    const { queues } = guarded.store
    await queues.put('out:dying', { deadLetterQueue: 'in:letters' })
    await queues.put('in:dying', { deadLetterQueue: 'in:letters' })
    for (const queue of ['out:dying', 'in:dying', 'out:dying', 'in:dying', 'out:dying']) {
      await queues.send(queue, queue)
      const messages = await queues.receive(queue)
      await queues.release(queue, [messages[0]?.receiptHandle as string], { dead: true })
    }
    const before = await worldOf(guarded.store, 'out:')
    // The one that was seeded, too.
    expect((await confined.post('/v1/queues/in:letters/redrive', {})).json).toEqual({ moved: 3 })
    expect((await confined.post('/v1/queues/in:letters/redrive', {})).json).toEqual({ moved: 0 })
    expect(await worldOf(guarded.store, 'out:')).toBe(before)
    expect((await queues.peek('in:letters')).messages).toHaveLength(3)
    expect((await queues.redrive('in:letters')).moved).toBe(3)
    expect((await queues.peek('out:dying')).messages).toHaveLength(3)
  })

  test.each(Object.entries(LISTS))('%s shows what is within, page by page', async (_id, { path, names }) => {
    const all = await (await guarded.client({ scopes: ['read'] })).get(path)
    const expected = names(all.json).filter((name) => String(name).startsWith('in:'))
    expect(expected.length).toBeGreaterThan(1)
    expect(names(all.json).length).toBeGreaterThan(expected.length)
    const seen: unknown[] = []
    for (let after = ''; ; ) {
      const page = await confined.get(`${path}?limit=1${after}`)
      expect(page.status).toBe(200)
      seen.push(...names(page.json))
      if (page.json.nextAfter === null) break
      after = `&after=${encodeURIComponent(String(page.json.nextAfter))}`
    }
    expect(seen).toEqual(expected)
  })

  test.each(Object.entries(LISTS))('%s: a prefix that is asked for counts within', async (_id, list) => {
    const names = async (prefix: string) => list.names((await confined.get(`${list.path}?prefix=${prefix}`)).json)
    const all = await names('')
    expect(all.length).toBeGreaterThan(1)
    for (const prefix of ['i', 'in', 'in:']) expect(await names(prefix)).toEqual(all)
    expect(await names('in:d')).toEqual(all.filter((name) => String(name).startsWith('in:d')))
    for (const prefix of ['out:', 'o', 'in;', 'in:zzz']) expect(await names(prefix)).toEqual([])
  })

  test('eraseMember erases within', async () => {
    const outside = await worldOf(guarded.store, 'out:')
    const mine = (await guarded.store.groups.memberItems('m', { prefix: 'in:' })).items.length
    expect(mine).toBeGreaterThan(1)
    for (const prefix of ['out:', 'in:zzz']) {
      expect((await confined.delete(`/v1/members/m/items?prefix=${prefix}`)).json).toEqual({ deleted: 0 })
    }
    expect((await confined.delete('/v1/members/m/items?prefix=in:cleared')).json).toEqual({ deleted: 1 })
    expect((await confined.delete('/v1/members/m/items')).json).toEqual({ deleted: mine - 1 })
    expect((await guarded.store.groups.memberItems('m', { prefix: 'in:' })).items).toEqual([])
    expect((await guarded.store.groups.memberItems('m')).items.length).toBeGreaterThan(1)
    expect(await worldOf(guarded.store, 'out:')).toBe(outside)
  })

  test.each(routes.filter(({ id, route }) => id in NAMED && !route.streams))('$id: what is within', async (each) => {
    const answer = await send(confined, each, 'in:')
    expect([each.id, answer.status < 300, answer.text]).toEqual([each.id, true, answer.text])
  })

  test('no key with a prefix is told of the feed of all groups, whatever the prefix', async () => {
    const { feeds } = guarded.store
    const client = await guarded.client({ scopes: ['admin'], prefix: 'recent' })
    const all = await guarded.client({ scopes: ['admin'] })
    await feeds.put('recent-things', 'k', 1)
    for (const path of ['', '/changes', '/consumers/c', '/entries/k']) {
      expect([path, (await client.get(`/v1/feeds/recent-groups${path}`)).status]).toEqual([path, 403])
      expect([path, (await all.get(`/v1/feeds/recent-groups${path}`)).status]).not.toEqual([path, 403])
    }
    expect(namesIn((await client.get('/v1/feeds')).json.feeds, 'feed')).toEqual(['recent-things'])
  })
})
