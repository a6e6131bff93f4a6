/** The headers of every answer of the process: what browsers may do with it, and pages of which origins. */
import { createApp } from '../../src/http/process/app'
import { clientOf, memoryStore, rawExchange, send, serving, startApp } from './support/client'

const APP = 'https://app.example.org'

const NOTHING_ALLOWED = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

async function startWith(corsOrigins: string[], withKeys = true) {
  const store = await memoryStore()
  const url = await serving(createApp(store, { allowAnonymous: false, corsOrigins }))
  const key = withKeys ? (await store.keys.create({ label: 'l', scopes: ['admin'] })).key : 'none'
  return { ...clientOf(url), headers: { Authorization: `Bearer ${key}` }, store }
}

describe('security headers', () => {
  test.each([
    ['GET', '/v1/groups'],
    ['GET', '/v1/groups/g/items'],
    ['GET', '/v1/groups/nobody'],
    ['GET', '/livez'],
    ['GET', '/openapi.json'],
    ['GET', '/nowhere'],
    ['GET', '/v1/nowhere'],
    ['PATCH', '/v1/groups'],
    ['OPTIONS', '/v1/groups'],
    ['GET', '/v1/groups?limit=x'],
    ['GET', '/%zz'],
    ['HEAD', '/v1/groups'],
    ['HEAD', '/v1/groups/g/stream'],
  ])('are on %s %s', async (method, path) => {
    const server = await startApp()
    expect((await send(server.url, method, path, {})).headers).toMatchObject(NOTHING_ALLOWED)
    const refused = await send(server.url, method, path, { headers: { Host: 'example.org' } })
    expect([refused.status, refused.headers]).toEqual([403, expect.objectContaining(NOTHING_ALLOWED)])
    await server.store.keys.create({ label: 'l', scopes: ['read'] })
    expect((await send(server.url, method, path, {})).headers).toMatchObject(NOTHING_ALLOWED)
  })

  test('are on what is no HTTP', async () => {
    const server = await startApp()
    const text = await rawExchange(server.url, 'hello\r\n\r\n')
    for (const [name, value] of Object.entries(NOTHING_ALLOWED)) {
      expect(text.toLowerCase()).toContain(`${name}: ${value}\r\n`)
    }
  })

  test('keep no page from a conditional answer', async () => {
    const server = await startApp()
    const { headers } = await server.get('/v1/groups/g/items')
    const same = await server.get('/v1/groups/g/items', { 'If-None-Match': String(headers.etag) })
    expect([same.status, same.headers]).toEqual([304, expect.objectContaining(NOTHING_ALLOWED)])
  })
})

describe('CORS', () => {
  const allowedOf = (headers: Record<string, unknown>) =>
    Object.keys(headers).filter((name) => name.startsWith('access-control'))
  const preflight = { 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'authorization' }

  test('is off where nothing is configured', async () => {
    const server = await startWith([])
    for (const method of ['GET', 'OPTIONS']) {
      const headers = { ...server.headers, Origin: APP, ...preflight }
      const answer = await server.request(method, '/v1/groups', { headers })
      expect(answer.status).toBe(method === 'GET' ? 200 : 204)
      expect(allowedOf(answer.headers)).toEqual([])
    }
  })

  test('lets the pages of these origins read answers, refusals too, and no others', async () => {
    const server = await startWith([APP, 'http://localhost:5173'])
    for (const origin of [APP, 'http://localhost:5173']) {
      for (const [path, status] of [
        ['/v1/groups', 200],
        ['/v1/groups?x=1', 400],
        ['/v1/nowhere', 404],
      ] as const) {
        const answer = await server.get(path, { ...server.headers, Origin: origin })
        expect([path, answer.status]).toEqual([path, status])
        expect(answer.headers['access-control-allow-origin']).toBe(origin)
        expect(answer.headers['access-control-expose-headers']).toBe('ETag, Location, Retry-After, X-Request-Id')
        expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
        expect(answer.headers.vary).toBe('Origin')
      }
      const unauthorized = await server.get('/v1/groups', { Origin: origin })
      expect(unauthorized.status).toBe(401)
      expect(unauthorized.headers['access-control-allow-origin']).toBe(origin)
    }
    for (const origin of [`${APP}.evil.org`, 'http://app.example.org', `${APP}:8443`, 'null', undefined]) {
      const answer = await server.get('/v1/groups', { ...server.headers, ...(origin && { Origin: origin }) })
      expect(answer.status).toBe(200)
      expect(allowedOf(answer.headers)).toEqual([])
      expect(answer.headers.vary).toBe('Origin')
    }
  })

  test('answers preflights without a key, of these origins', async () => {
    const server = await startWith([APP])
    const answer = await send(server.url, 'OPTIONS', '/v1/groups/g', { headers: { Origin: APP, ...preflight } })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'Authorization, Content-Type, If-None-Match, Last-Event-ID, X-Request-Id',
      'access-control-max-age': '600',
      vary: 'Origin',
    })
    const other = await send(server.url, 'OPTIONS', '/v1/groups/g', {
      headers: { Origin: 'https://evil.org', ...preflight },
    })
    expect(allowedOf(other.headers)).toEqual([])
    const options = await send(server.url, 'OPTIONS', '/v1/groups/g', { headers: { Origin: APP } })
    expect(options.headers.allow).toBe('GET, HEAD, PUT, PATCH, DELETE, OPTIONS')
  })

  test('opens nothing to other origins while there is no key', async () => {
    const server = await startWith([APP, 'http://localhost:5173'], false)
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await send(server.url, method, '/v1/groups', { headers: { Origin: APP, ...preflight } })
      expect([answer.status, allowedOf(answer.headers)]).toEqual([403, []])
    }
    const local = await server.get('/v1/groups', { Origin: 'http://localhost:5173' })
    expect(local.headers['access-control-allow-origin']).toBe('http://localhost:5173')
  })
})
