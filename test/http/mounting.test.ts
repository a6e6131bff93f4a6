import express, { type Express } from 'express'
import { createMetrics } from '../../src/http/metrics/metrics'
import { createRouter, type RouterOptions } from '../../src/http/router'
import { RecentnError } from '../../src/shared/errors'
import type { Store } from '../../src/store/types'
import { soonMs } from '../support/timing'
import { clientOf, fresh, memoryStore, send, serving } from './support/client'
import { mounted } from './support/mounting'

let store: Store
beforeAll(async () => {
  store = await memoryStore()
})

describe.each([
  ['by itself', () => {}],
  ['after express.json()', (app: Express) => void app.use(express.json({ limit: '2mb' }))],
  [
    'after express.json({ strict: false })',
    (app: Express) => void app.use(express.json({ strict: false, limit: '2mb' })),
  ],
  ['after express.raw()', (app: Express) => void app.use(express.raw({ type: () => true, limit: '2mb' }))],
  ['after express.text()', (app: Express) => void app.use(express.text({ type: () => true, limit: '2mb' }))],
  ['after express.urlencoded()', (app: Express) => void app.use(express.urlencoded())],
  [
    'after a parser that does not read it and leaves an empty object, as those of Express 4 do',
    (app: Express) =>
      void app.use((request, _response, next) => {
        request.body = {}
        next()
      }),
  ],
])('in the app of a user, %s', (_name, prepare: (app: Express) => void) => {
  test('appends and reads', async () => {
    const client = await mounted(store, { access: 'anonymous' }, { prepare })
    const group = fresh()
    const payload = JSON.parse('{"__proto__":{"a":"\\u0000"},"n":[1.5,null]}')
    const answer = await client.post(`/v1/groups/${group}/items`, { member: 'm', payload })
    expect(answer.status).toBe(201)
    const page = await client.get(`/v1/groups/${group}/items`)
    expect(page.json).toMatchObject({ totalAppended: '1', items: [{ member: 'm' }] })
    expect(page.text).toContain('"payload":{"__proto__":{"a":"\\u0000"},"n":[1.5,null]}')
    expect((await client.post('/v1/items', { items: [{ group }, { group }] })).status).toBe(201)
    expect((await client.put(`/v1/groups/${group}`, { capacity: 2 })).status).toBe(200)
  })

  test('refuses what is no valid body', async () => {
    const client = await mounted(store, { access: 'anonymous' }, { prepare })
    const path = '/v1/groups/refused/items'
    expect((await client.post(path, { member: 7 })).json.errors).toEqual([
      { pointer: '/member', detail: 'must be a string' },
    ])
    expect((await client.request('POST', path)).status).toBe(400)
    expect((await client.post(path, { payload: 'x'.repeat(1024 ** 2) })).status).toBe(413)
    const form = { body: 'member=a', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }
    expect((await client.request('POST', path, form)).status).toBe(415)
    expect((await client.get('/v1/groups/refused')).status).toBe(404)
  })
})

describe('where it is mounted', () => {
  test.each(['/', '/activity', '/a/b c'.replace(' ', '%20')])(
    '%s: its own paths are its, the others the app’s',
    async (mount) => {
      const client = await mounted(store, { access: 'anonymous' }, { mount })
      const base = mount === '/' ? '' : mount
      expect((await client.get('/v1/groups')).status).toBe(200)
      expect((await client.get('/v1/nothing')).json).toMatchObject({ type: 'about:blank', status: 404 })
      const { headers } = await client.post(`/v1/groups/${fresh('a/b')}/items`.replace('a/b', 'a%2Fb'), {})
      expect(headers.location).toMatch(`${base}/v1/groups/a%2Fb`)
      expect((await send(client.url, 'GET', String(headers.location), {})).json).toMatchObject({ id: '0' })
      const own = await send(client.url, 'GET', '/own', {})
      expect([own.status, own.text]).toEqual([200, 'mine'])
      const document = await send(client.url, 'GET', `${base}/openapi.json`, {})
      expect(document.json.servers).toEqual([{ url: mount }])
      expect(Object.keys(document.json.paths ?? {})).not.toContain('/livez')
    },
  )

  test('its own body limit', async () => {
    const client = await mounted(store, { access: 'anonymous', bodyLimitBytes: 20 })
    const path = `/v1/groups/${fresh()}/items`
    expect((await client.request('POST', path, { body: '{"member":"a23456"}' })).status).toBe(201)
    expect((await client.request('POST', path, { body: '{"member":"a2345678"}' })).status).toBe(413)
  })

  test('a body over it that the app has parsed is refused at once', async () => {
    const parse = (app: Express) => void app.use(express.json())
    const client = await mounted(store, { access: async () => true, bodyLimitBytes: 20 }, { prepare: parse })
    const start = Date.now()
    expect((await client.post(`/v1/groups/${fresh()}/items`, { member: 'x'.repeat(100) })).status).toBe(413)
    expect(Date.now() - start).toBeLessThan(soonMs())
  })
})

test('a store that is not open yet is refused', () => {
  const opening = Promise.resolve(store) as unknown as Store
  for (const make of [() => createRouter(opening, { access: 'keys' }), () => createMetrics(opening)]) {
    expect(make).toThrow(/^store: must be a store/)
  }
})

describe('access', () => {
  test('must be said', () => {
    for (const access of [undefined, null, true, 'all', {}]) {
      const make = () => createRouter(store, { access } as unknown as RouterOptions)
      expect(make).toThrow(RecentnError)
      expect(make).toThrow(/access: must be 'keys', 'anonymous' or a function/)
    }
    expect(() => createRouter(store, undefined as unknown as RouterOptions)).toThrow(/access/)
    expect(() => createRouter(store, { access: 'anonymous', bodyLimitBytes: 0 })).toThrow(/bodyLimitBytes/)
  })

  test('is asked with what the request is about to do; anything but true is 403', async () => {
    let scopes: string[] = []
    let verdict: unknown = true
    const access = async (request: express.Request, scope: string) => {
      scopes.push(`${request.method} ${scope}`)
      return verdict as boolean
    }
    const client = await mounted(store, { access })
    const calls: [string, string, unknown?][] = [
      ['GET', '/v1/groups'],
      ['GET', '/v1/groups/g'],
      ['GET', '/v1/groups/g/items'],
      ['GET', '/v1/items?group=g'],
      ['GET', '/v1/members/m/items'],
      ['GET', '/v1/policies'],
      ['GET', '/v1/policies/p'],
      ['POST', '/v1/groups/g/items', {}],
      ['POST', '/v1/items', { items: [{ group: 'g' }] }],
      ['DELETE', '/v1/groups/g/items'],
      ['DELETE', '/v1/groups/g/items/0'],
      ['PUT', '/v1/groups/g', {}],
      ['DELETE', '/v1/groups/g'],
      ['DELETE', '/v1/members/m/items'],
      ['PUT', '/v1/policies/p', { capacity: 1, mode: 'history' }],
      ['DELETE', '/v1/policies/p'],
    ]
    for (const [method, path, json] of calls)
      expect((await client.request(method, path, { json })).status).not.toBe(403)
    expect(scopes).toEqual([
      ...Array(7).fill('GET read'),
      'POST append',
      'POST append',
      'DELETE append',
      'DELETE append',
      'PUT admin',
      'DELETE admin',
      'DELETE admin',
      'PUT admin',
      'DELETE admin',
    ])
    for (verdict of [false, undefined, 1, 'yes']) {
      scopes = []
      for (const [method, path] of calls) {
        const answer = await client.request(method, path, { body: '{', headers: { 'Content-Type': 'text/plain' } })
        expect([method, path, answer.status, answer.json?.code]).toEqual([method, path, 403, 'forbidden'])
      }
      expect(scopes).toHaveLength(calls.length)
      expect((await send(client.url, 'GET', '/activity/openapi.json', {})).status).toBe(403)
    }
  })

  test('may throw: a RecentnError is answered, anything else is 500 without internals', async () => {
    const seen: [unknown, string][] = []
    let thrown: unknown
    const client = await mounted(store, {
      access: () => {
        throw thrown
      },
      onError: (error, { requestId }) => seen.push([error, requestId]),
    })
    thrown = new RecentnError('unauthorized')
    const unauthorized = await client.get('/v1/groups')
    expect([unauthorized.status, unauthorized.headers['www-authenticate']]).toEqual([401, 'Bearer'])
    thrown = new RecentnError('overloaded', 'Too many of you', { retryAfterSeconds: 7 })
    const overloaded = await client.get('/v1/groups')
    expect([overloaded.status, overloaded.headers['retry-after']]).toEqual([429, '7'])
    expect(seen).toEqual([])

    thrown = new RecentnError('database_unavailable', 'The database mysql://db.inside:3306/shop cannot be reached')
    const away = await client.get('/v1/groups')
    expect([away.status, away.json.detail]).toEqual([503, 'The database is not available at present'])
    expect(away.text).not.toContain('inside')
    expect(seen.splice(0)).toEqual([[thrown, away.headers['x-request-id']]])

    thrown = new Error('secret of the inside')
    const failed = await client.get('/v1/groups')
    expect([failed.status, failed.json.code]).toEqual([500, 'internal'])
    expect(failed.text).not.toContain('secret')
    expect(seen).toEqual([[thrown, failed.headers['x-request-id']]])
  })
})

test('a store that is closed answers 503 with Retry-After', async () => {
  const closing = await memoryStore()
  const app = express()
  const seen: unknown[] = []
  app.use(createRouter(closing, { access: 'anonymous', onError: (error) => seen.push(error) }))
  const client = clientOf(await serving(app))
  await closing.close()
  const answer = await client.post('/v1/groups/g/items', {})
  expect([answer.status, answer.json.code, answer.headers['retry-after']]).toEqual([503, 'closed', '1'])
  expect(seen).toEqual([expect.objectContaining({ code: 'closed' })])
})
