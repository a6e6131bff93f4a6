/**
 * Every route of the tables, asked by keys that may not and by keys that may. A route that is not among the rows here
 * fails the first test: what a key with a prefix can do by it has to be said, and tried.
 */

import { SCOPES } from '../../src/fields/keys'
import { storeRoutes } from '../../src/http/router'
import type { Client, Loose } from './support/client'
import { allRoutes } from './support/documented'
import { served, useGuarded, withKey } from './support/keys'
import { type Asked, ids, LISTS, NAMED, OTHERS, seed, worldOf } from './support/named-routes'

const routes = storeRoutes.map((route) => ({ id: route.id, route }))

test('every route is tried here', () => {
  const tried = [...Object.keys(NAMED), ...Object.keys(LISTS), ...OTHERS]
  expect(routes.map(({ id }) => id).sort()).toEqual(tried.sort())
  for (const { id, route } of routes) expect(id === 'getAccess' ? [null] : SCOPES).toContain(route.scope)
  const ofProcess = allRoutes
    .slice(storeRoutes.length)
    .map(({ path, scope, about }) => [path, scope, about({ path: {}, query: {} })])
  const all = ['groups', 'queues', 'feeds'].map((kind) => ({ kind, prefix: '' }))
  expect(ofProcess).toEqual([
    ['/livez', null, []],
    ['/readyz', null, []],
    ['/metrics', 'read', all],
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
  })

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
  })

  describe('refuse what is outside of the prefix', () => {
    let before: string
    beforeAll(async () => {
      before = await worldOf(guarded.store, '')
    })

    test.each(routes.filter(({ id }) => id in NAMED))('$id', async (each) => {
      const answer = await send(confined, each, 'out:')
      expect([answer.status, answer.json?.code]).toEqual([403, 'forbidden'])
      expect(answer.json?.detail).toContain('"out:')
      const places = (answer.json.errors as unknown as Loose[]).map(({ pointer, parameter }) => pointer ?? parameter)
      expect(places).toEqual(asked(each.id, 'out:').at)
    })

    test('and none of them has changed anything', async () => {
      expect(await worldOf(guarded.store, '')).toBe(before)
    })
  })

  test('those about messages do nothing with what another queue has', async () => {
    const before = await worldOf(guarded.store, 'out:')
    expect((await confined.get(`/v1/queues/in:q/messages/${ids['out:q']}`)).status).toBe(404)
    expect((await confined.delete(`/v1/queues/in:q/messages/${ids['out:q']}`)).status).toBe(404)
    for (const [what, more] of Object.entries({ ack: {}, nack: {}, extend: { visibilityTimeoutSeconds: 9 } })) {
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
      await queues.nackMany(queue, [messages[0]?.receiptHandle as string], { dead: true })
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
    for (let from = ''; ; ) {
      const page = await confined.get(`${path}?limit=1${from}`)
      expect(page.status).toBe(200)
      seen.push(...names(page.json))
      const by = page.json.nextBefore === undefined ? 'after' : 'before'
      const next = by === 'after' ? page.json.nextAfter : page.json.nextBefore
      if (next === null) break
      from = `&${by}=${encodeURIComponent(String(next))}`
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
})
