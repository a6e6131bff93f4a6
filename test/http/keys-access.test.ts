/** Callers that are let in: by the process before and after there is a key, and by a router in an app. */
import express from 'express'
import { SCOPES } from '../../src/fields/keys'
import { createApp } from '../../src/http/process/app'
import { type Access, createRouter } from '../../src/http/router'
import { RecentnError } from '../../src/shared/errors'
import { performance as storeClock } from '../../src/shared/platform'
import { soonMs, stopwatch } from '../support/timing'
import { type Answer, clientOf, memoryStore, send, serving, startApp } from './support/client'
import { served, useGuarded, withKey } from './support/keys'
import { closeStreams, eventually, listening, pause } from './support/streams'

afterEach(closeStreams)

const foreign = { Host: 'recentn.example.org', Origin: 'https://app.example.org' }

describe('the process', () => {
  test('lets in local callers until there is a key, and then none without one', async () => {
    const { store, url, get, request } = await startApp()
    expect((await get('/v1/groups')).status).toBe(200)
    expect((await request('GET', '/v1/groups', { headers: foreign })).status).toBe(403)
    const { key, id } = await store.keys.create({ label: 'first', scopes: ['read'] })
    expect((await get('/v1/groups')).status).toBe(401)
    expect((await request('GET', '/v1/groups', { headers: foreign })).status).toBe(401)
    const headers = { ...foreign, Authorization: `Bearer ${key}` }
    expect((await request('GET', '/v1/groups', { headers })).status).toBe(200)
    await store.keys.revoke(id)
    expect((await request('GET', '/v1/groups', { headers })).status).toBe(401)
    expect((await get('/v1/groups')).status).toBe(401)
    expect((await send(url, 'GET', '/v1/groups', {})).json.detail).toMatch(/API key is required/)
  })

  test('needs no key for its health and its document, and shows no other caller which paths there are', async () => {
    const { store, get, request } = await startApp()
    await store.keys.create({ label: 'first', scopes: ['read'] })
    for (const path of ['/livez', '/readyz', '/openapi.json']) {
      expect([path, (await request('GET', path, { headers: foreign })).status]).toEqual([path, 200])
    }
    expect((await get('/v1/nothing')).status).toBe(404)
    expect((await get('/metrics')).status).toBe(401)
    expect((await request('POST', '/v1/groups')).status).toBe(405)
  })

  test('that lets everyone in asks for no key, also where there are some', async () => {
    const { store, request } = await startApp({ allowAnonymous: true })
    await store.keys.create({ label: 'first', scopes: ['read'] })
    const headers = { ...foreign, Authorization: 'Bearer nonsense' }
    expect((await request('POST', '/v1/groups/g/items', { json: {}, headers })).status).toBe(201)
  })

  test('still lives when the database is gone, with keys and without', async () => {
    for (const hasKey of [true, false]) {
      const { store, get, request } = await startApp()
      if (hasKey) await store.keys.create({ label: 'first', scopes: ['read'] })
      await store.close()
      expect((await get('/livez')).status).toBe(200)
      expect((await request('GET', '/livez', { headers: foreign })).status).toBe(hasKey ? 200 : 403)
      expect((await get('/readyz')).status).toBe(503)
    }
  })
})

test('the process lives while the database answers nothing', async () => {
  const { store, get } = await startApp()
  expect((await get('/v1/groups')).status).toBe(200)
  await store.transaction(async () => {
    await pause(3500)
    const start = performance.now()
    expect((await get('/livez')).status).toBe(200)
    expect(performance.now() - start).toBeLessThan(soonMs())
  })
})

test('a caller that needs no key sees that everything is allowed, and of a function what it allows', async () => {
  const { get, store } = await startApp()
  expect((await get('/v1/access')).json).toEqual({ scopes: [...SCOPES], prefix: null })
  const told = async (access: Access) => {
    const app = express().use(createRouter(store, { access, onError: () => {} }))
    return clientOf(await serving(app)).get('/v1/access')
  }
  expect((await told('anonymous')).json).toEqual({ scopes: [...SCOPES], prefix: null })
  expect((await told('keys')).status).toBe(401)
  expect((await told((_request, scope) => scope !== 'admin')).json.scopes).toEqual(['append', 'read', 'queue', 'feed'])
  expect((await told(() => false)).json).toEqual({ scopes: [], prefix: null })
  const none = () => {
    throw new RecentnError('unauthorized')
  }
  expect((await told(none)).status).toBe(401)
})

describe.each(served)('a key on %s', (engine) => {
  const guarded = useGuarded(engine)

  test.each([
    ['Bearer KEY', 200],
    ['bearer KEY', 200],
    ['BEARER   KEY ', 200],
    ['KEY', 401],
    ['Basic KEY', 401],
    ['Bearer', 401],
    ['Bearer KEY, Bearer KEY', 401],
    ['Bearer "KEY"', 401],
    ['', 401],
  ])('as Authorization: %s', async (text, status) => {
    const { key } = await guarded.client({ scopes: ['read'] })
    const headers = { Authorization: text.replaceAll('KEY', key) }
    const answer = await clientOf(guarded.url).get('/v1/groups', headers)
    expect(answer.status).toBe(status)
    if (status === 401) expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(answer.text).not.toContain(key)
  })

  test('is taken from the header only', async () => {
    const { key } = await guarded.client({ scopes: ['read'] })
    for (const name of ['key', 'access_token', 'authorization']) {
      expect((await clientOf(guarded.url).get(`/v1/groups?${name}=${key}`)).status).toBe(401)
    }
    expect((await clientOf(guarded.url).get('/v1/groups', { Cookie: `key=${key}`, 'X-Api-Key': key })).status).toBe(401)
  })

  const calls: Record<(typeof SCOPES)[number], [string, string, unknown?]> = {
    append: ['POST', '/v1/groups/g/items', {}],
    read: ['GET', '/v1/groups/g/items'],
    queue: ['POST', '/v1/queues/nobodys/receive', {}],
    feed: ['PUT', '/v1/feeds/f/entries/k', { value: 1 }],
    admin: ['PUT', '/v1/groups/g', { capacity: 3 }],
  }

  test.each(SCOPES)('with the scope %s may do what takes it, and admin all', async (scope) => {
    const client = await guarded.client({ scopes: [scope] })
    for (const [needed, [method, path, json]] of Object.entries(calls)) {
      const { status } = await client.request(method, path, { json })
      expect([needed, status === 403]).toEqual([needed, scope !== needed && scope !== 'admin'])
      expect(status).not.toBe(401)
    }
  })

  test('with the scope queue and a prefix may ensure the queues that begin with it, and no others', async () => {
    const client = await guarded.client({ scopes: ['queue'], prefix: 'shop:' })
    const ensure = (queue: string, settings = {}) => client.ensure(`/v1/queues/${queue}`, settings)
    expect((await ensure('shop:dead')).status).toBe(201)
    expect((await ensure('shop:mail', { deadLetterQueue: 'shop:dead' })).status).toBe(201)
    expect((await ensure('shop:more', { deadLetterQueue: 'dead' })).status).toBe(403)
    expect((await ensure('mail')).status).toBe(403)
    const there = await ensure('shop:mail', {})
    expect([there.status, there.json.existing]).toMatchObject([412, { deadLetterQueue: 'shop:dead' }])
    for (const path of ['/v1/groups/shop:g', '/v1/policies/shop:p', '/v1/schedules/shop:s']) {
      expect((await client.ensure(path, {})).status).toBe(403)
    }
    expect((await client.put('/v1/queues/shop:mail', {})).status).toBe(403)
  })

  test('learns what it may do, whatever its scopes', async () => {
    for (const [scopes, told] of [
      [['admin'], [...SCOPES]],
      [['read'], ['read']],
      [
        ['feed', 'append'],
        ['append', 'feed'],
      ],
    ] as const) {
      const client = await guarded.client({ scopes })
      expect((await client.get('/v1/access')).json).toEqual({ scopes: told, prefix: null })
    }
    const confined = await guarded.client({ scopes: ['queue'], prefix: 'shop:' })
    expect((await confined.get('/v1/access')).json).toEqual({ scopes: ['queue'], prefix: 'shop:' })
    expect((await confined.get('/v1/access?x=1')).status).toBe(400)
    await guarded.store.keys.revoke(confined.id)
    expect((await confined.get('/v1/access')).status).toBe(401)
  })

  test('with several scopes may do each', async () => {
    const client = await guarded.client({ scopes: ['append', 'feed'] })
    const outcomes = []
    for (const [method, path, json] of Object.values(calls))
      outcomes.push((await client.request(method, path, { json })).status)
    expect(outcomes.map((status) => status < 300)).toEqual([true, false, false, true, false])
  })

  test('that is revoked ends its streams and its waiting', async () => {
    const client = await guarded.client({ scopes: ['read', 'queue', 'feed'] })
    await guarded.store.queues.put('waited-for')
    const headers = { Authorization: `Bearer ${client.key}` }
    const stream = await listening(guarded.url, '/v1/groups/streamed/stream', headers)
    expect(stream.status).toBe(200)
    let over = false
    stream.ended.then(() => {
      over = true
    })
    await guarded.store.groups.append('streamed', { member: 'before' })
    await stream.until(1)
    const waiting = client.post('/v1/queues/waited-for/receive', { waitSeconds: 20 })
    const following = client.get('/v1/feeds/waited-for/changes?waitSeconds=20')
    await pause(1500)
    expect(over).toBe(false)
    const watch = stopwatch()
    await guarded.store.keys.revoke(client.id)
    await eventually('the stream has ended', () => over, 5000)
    expect((await waiting).json).toEqual({ messages: [] })
    expect((await following).json).toMatchObject({ changes: [] })
    expect(watch.isBeyond(5000)).toBe(false)
    await guarded.store.groups.append('streamed', { member: 'after' })
    await pause(200)
    expect(stream.text()).not.toContain('after')
    expect((await fetch(`${guarded.url}/v1/groups/streamed/stream`, { headers })).status).toBe(401)
  })

  test('is not told whether a body is valid before it is known', async () => {
    const client = withKey(guarded.url, 'rk_nonsense')
    const sent = { body: '{', headers: { 'Content-Type': 'text/plain' } }
    expect((await client.request('POST', '/v1/items?x=1', sent)).status).toBe(401)
    const reader = await guarded.client({ scopes: ['read'] })
    expect((await reader.request('POST', '/v1/items?x=1', sent)).status).toBe(403)
  })
})

describe("createRouter with access: 'keys'", () => {
  test('wants a key from the beginning, in the app of a user', async () => {
    const store = await memoryStore()
    const app = express()
    app.get('/activity/own', (_request, response) => void response.send('mine'))
    app.use('/activity', createRouter(store, { access: 'keys' }))
    const url = await serving(app)
    const client = clientOf(url, '/activity')
    expect((await client.get('/v1/groups')).status).toBe(401)
    expect((await send(url, 'GET', '/activity/own', {})).text).toBe('mine')
    expect((await send(url, 'GET', '/activity/openapi.json', {})).status).toBe(200)
    const { key } = await store.keys.create({ label: 'l', scopes: ['append', 'read'], prefix: 'mine:' })
    const sent = { json: {}, headers: { Authorization: `Bearer ${key}` } }
    expect((await client.request('POST', '/v1/groups/mine:1/items', sent)).status).toBe(201)
    const refused = await client.request('POST', '/v1/groups/yours:1/items', sent)
    expect([refused.status, refused.json.errors]).toEqual([
      403,
      [{ parameter: 'group', detail: 'does not begin with "mine:"' }],
    ])
    expect(refused.json.detail).toBe('Access is confined to names that begin with "mine:"; the request names "yours:1"')
    const many = { items: Array.from({ length: 9 }, (_, n) => ({ group: `yours:${n}` })) }
    const all = await client.request('POST', '/v1/items', { ...sent, json: many })
    expect(all.json.detail).toMatch(/"yours:0", "yours:1", "yours:2" and 6 more$/)
    expect(all.json.errors).toHaveLength(9)
  })
})

test('a forbidden body is answered, whatever its size', async () => {
  const { store, url } = await startApp()
  await store.keys.create({ label: 'l', scopes: ['read'] })
  for (const size of [10, 900_000, 5_000_000]) {
    const sent = { body: JSON.stringify({ payload: 'x'.repeat(size) }) }
    for (let n = 0; n < 5; n++) {
      const answer = await send(url, 'POST', '/v1/groups/g/items', sent)
      expect([size, answer.status]).toEqual([size, 401])
    }
  }
})

test('with a key, too much at once is refused at once, while the database is busy', async () => {
  const store = await memoryStore({ batching: { maxPendingItems: 5 }, connectionTimeoutSeconds: 60 })
  const { key } = await store.keys.create({ label: 'l', scopes: ['append'] })
  const client = withKey(await serving(createApp(store, { allowAnonymous: false })), key)
  expect((await client.post('/v1/groups/g/items', {})).status).toBe(201)
  // The key is as old as one that is looked up in the background, and grows no older, however long this takes.
  const clock = jest.spyOn(storeClock, 'now').mockReturnValue(storeClock.now() + 1500)
  let answers: Promise<Answer>[] = []
  await store.transaction(async () => {
    answers = Array.from({ length: 50 }, () => client.post('/v1/groups/g/items', {}))
    // All but those that wait for the database are answered while it is busy.
    let left = 45
    await new Promise<void>((resolve) => {
      for (const answer of answers) answer.then(() => --left === 0 && resolve())
    })
  })
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  clock.mockRestore()
  expect([statuses.filter((status) => status === 201).length, new Set(statuses)]).toEqual([5, new Set([201, 429])])
})
