/** The rights that the answers of an `access` function give, and for how long. */
import express, { type Request } from 'express'
import { type AccessFunction, RecentnError, type RequestSubjects, type Store } from '../../src'
import type { AccessAnswer } from '../../src/http/access'
import { createRouter, storeRoutes } from '../../src/http/router'
import { SOON_MS, soonMs } from '../support/timing'
import { type Answer, type Client, clientOf, fresh, memoryStore, serving } from './support/client'
import { mounted } from './support/mounting'
import { LISTS, NAMED, seed } from './support/named-routes'
import { closeStreams, eventually, listening } from './support/streams'

afterEach(closeStreams)

test('a rule about names holds, however a request says them', async () => {
  const store = await memoryStore()
  await store.groups.append('secret:1', { member: 'm' })
  await store.groups.append('open:1', { member: 'm' })
  const access = (_request: Request, _scope: string, subjects: RequestSubjects) =>
    !subjects.touches('groups', 'secret:')
  const client = await mounted(store, { access })
  for (const path of [
    '/v1/groups/secret:1/items',
    '/v1/groups/%73ecret:1/items',
    '/v1/groups/secret%3A1/stream',
    '/v1/items?group=secret:1',
    '/v1/items?group=open:1&group=%73ecret:1',
    '/v1/groups?prefix=secret',
    '/v1/groups?prefix=secret:1',
    '/v1/groups',
    '/v1/members/m/items',
    '/v1/policies/s',
  ]) {
    expect([path, (await client.get(path)).status]).toEqual([path, 403])
  }
  for (const path of [
    '/v1/groups/open:1/items',
    '/v1/groups?prefix=o',
    '/v1/members/m/items?prefix=open:',
    '/v1/queues',
  ]) {
    expect([path, (await client.get(path)).status]).toEqual([path, 200])
  }
})

describe('{ prefix }', () => {
  let store: Store
  let byKey: Client
  let byFunction: Client
  beforeAll(async () => {
    store = await memoryStore({ publish: false })
    await seed(store, 'in:')
    await seed(store, 'out:')
    const app = express()
    app.use('/keys', createRouter(store, { access: 'keys' }))
    app.use('/function', createRouter(store, { access: async () => ({ prefix: 'in:' }) }))
    const url = await serving(app)
    const { key } = await store.keys.create({ label: 'l', scopes: ['admin'], prefix: 'in:' })
    const keyed = clientOf(url, '/keys')
    byFunction = clientOf(url, '/function')
    byKey = {
      ...keyed,
      request: (method, path, sent) => {
        return keyed.request(method, path, { ...sent, headers: { ...sent?.headers, Authorization: `Bearer ${key}` } })
      },
    }
  })

  /** All but the id of the request, and where the page of the code is, which is below each mount. */
  const partsOf = ({ json: { type: _, requestId: __, ...parts } }: Answer) => parts

  const methodOf = (id: string) => storeRoutes.find((route) => route.id === id)?.method.toUpperCase() ?? ''

  test.each(Object.entries(NAMED))('%s: refuses what it refuses to a key', async (id, asked) => {
    const { path, json } = asked('out:')
    const one = await byKey.request(methodOf(id), path, { json })
    const other = await byFunction.request(methodOf(id), path, { json })
    expect([other.status, partsOf(other)]).toEqual([403, partsOf(one)])
    // The same in a path that is encoded another way.
    const encoded = path.replace('out:', '%6F%75t%3A')
    expect(partsOf(await byFunction.request(methodOf(id), encoded, { json }))).toEqual(partsOf(one))
  })

  test.each(Object.entries(LISTS))('%s: shows what it shows to a key', async (_id, { path, names }) => {
    for (const query of ['', '?prefix=i', '?prefix=in:', '?prefix=o', '?prefix=out:']) {
      const one = await byKey.request('GET', path + query)
      const other = await byFunction.request('GET', path + query)
      expect([other.status, other.text]).toEqual([200, one.text])
      for (const name of names(other.json)) expect(name).toMatch(/^in:/)
    }
  })

  test('lets through what is within', async () => {
    expect((await byFunction.post('/v1/groups/in:new/items', {})).status).toBe(201)
    expect((await byFunction.post('/v1/items', { items: [{ group: 'in:a' }, { group: 'in:b' }] })).status).toBe(201)
    expect((await byFunction.delete('/v1/members/n/items')).json).toMatchObject({ deleted: expect.any(Number) })
    expect((await store.groups.memberItems('n')).items.map(({ group }) => group.slice(0, 4))).toContain('out:')
  })
})

test('an answer that is neither true nor a prefix is 403', async () => {
  const store = await memoryStore()
  let answer: unknown
  const client = await mounted(store, { access: () => answer as AccessAnswer })
  const refused = [
    false,
    null,
    undefined,
    1,
    'yes',
    {},
    [],
    { prefix: '' },
    { prefix: null },
    { prefix: 7 },
    { prefix: '\n' },
  ]
  for (answer of [...refused, Object.create({ prefix: 'g' })]) {
    expect([answer, (await client.get('/v1/groups/g/items')).status]).toEqual([answer, 403])
  }
  answer = { prefix: 'g' }
  expect((await client.get('/v1/groups/g/items')).status).toBe(200)
})

describe('while an answer is not complete', () => {
  test.each<[string, () => AccessAnswer]>([
    ['false', () => false],
    ['another prefix', () => ({ prefix: 'other' })],
    [
      'unauthorized',
      () => {
        throw new RecentnError('unauthorized')
      },
    ],
  ])('the function is asked again, and its answer %s ends a stream and what waits', async (_name, later) => {
    const store = await memoryStore()
    await store.queues.put('g:q')
    let isOver = false
    const asked = new Set<string>()
    const access: AccessFunction = (_request, _scope, { operation }) => {
      asked.add(operation)
      return isOver ? later() : { prefix: 'g' }
    }
    const client = await mounted(store, { access })
    const stream = await listening(client.url, '/activity/v1/groups/g/stream')
    let ended = false
    stream.ended.then(() => {
      ended = true
    })
    await store.groups.append('g', { member: 'before' })
    await stream.until(1)
    const waiting = client.post('/v1/queues/g:q/receive', { waitSeconds: 20 })
    await eventually('it waits', () => asked.has('receiveMessages'), 10_000)
    const start = performance.now()
    isOver = true
    await eventually('the stream has ended', () => ended, 10_000)
    expect((await waiting).json).toEqual({ messages: [] })
    expect(performance.now() - start).toBeLessThan(soonMs(2 * SOON_MS))
  })

  test('an error of another kind ends nothing', async () => {
    const store = await memoryStore()
    let calls = 0
    const access = () => {
      if (calls++ === 0) return true
      throw new Error('the session store is away')
    }
    const client = await mounted(store, { access })
    const group = fresh()
    const stream = await listening(client.url, `/activity/v1/groups/${group}/stream`)
    await eventually('it is asked again', () => calls > 2, 10_000)
    await store.groups.append(group, { member: 'after' })
    await stream.until(1)
    expect(stream.text()).toContain('after')
  })
})
