import { createApp } from '../../src/http/process/app'
import type { RecentnError } from '../../src/shared/recentn-error'
import { innerOf } from '../../src/store/inner'
import { eventually, pause } from '../support/timing'
import { type Client, clientOf, memoryStore, rawExchange, send, serving, startApp } from './support/client'

let server: Client
beforeAll(async () => {
  server = await startApp()
})

const KEY = `rk_0123456789abcdef_${'s'.repeat(43)}`

/** With the port of the server. */
const here = (text: string) => text.replace('PORT', new URL(server.url).port)

const get = (headers: Record<string, string>) => send(server.url, 'GET', '/v1/groups', { headers })

describe('the guard against DNS rebinding', () => {
  test.each(['localhost', 'LOCALHOST:PORT', '127.0.0.1', '127.0.0.1:PORT', '127.1.2.3', '[::1]', '[::1]:PORT'])(
    'takes the Host %s',
    async (host) => {
      expect((await get({ Host: here(host) })).status).toBe(200)
    },
  )

  test.each([
    'example.org',
    'localhost.example.org',
    '127.0.0.1.example.org',
    'example.org:3000',
    '192.168.1.5',
    '0.0.0.0',
    '[::]',
    'localhost:80',
    '127.0.0.1:1',
    'localhost:PORT0',
    'localhost:',
  ])('refuses the Host %j', async (host) => {
    const answer = await get({ Host: here(host) })
    expect([answer.status, answer.json.code]).toEqual([403, 'forbidden'])
    expect((await send(server.url, 'GET', '/livez', { headers: { Host: here(host) } })).status).toBe(403)
  })

  test.each(['localhost', '127.0.0.1', '[::1]'])('takes the Origin of its pages at %s', async (name) => {
    const host = here(`${name}:PORT`)
    expect((await get({ Host: host, Origin: `http://${host}` })).status).toBe(200)
  })

  test.each([
    'http://example.org',
    'null',
    'https://localhost.example.org',
    'file://',
    'http://localhost@example.org',
    'http://localhost',
    'http://localhost:5173',
    'http://127.0.0.1:PORT',
    'https://localhost:PORT',
    'http://localhost:PORT/',
    '',
  ])('refuses the Origin %j', async (origin) => {
    expect((await get({ Host: here('localhost:PORT'), Origin: here(origin) })).status).toBe(403)
  })

  const queue = '/v1/queues/purged-by-a-form'
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

  test.each([
    // As Chromium 140 sends it for a form of a page at http://localhost:5173, and for one without a referrer.
    [{ ...form, Origin: 'http://localhost:5173', 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'navigate' }],
    [{ ...form, Origin: 'null', 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }],
    [{ 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'no-cors' }],
    [{ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }],
    [{ Origin: 'http://localhost:5173' }],
    [{ ...form, Origin: 'http://127.0.0.1' }],
  ])('lets no other page purge a queue: %j', async (headers) => {
    await server.put(queue, {})
    await server.post(`${queue}/messages`, { body: 1 })
    for (const [method, path] of [
      ['POST', `${queue}/purge`],
      ['PUT', queue],
      ['DELETE', queue],
    ] as const) {
      const { status, json } = await send(server.url, method, path, { headers })
      expect([method, status, json.code]).toEqual([method, 403, 'forbidden'])
    }
    expect((await server.get(`${queue}/messages`)).json.messages).not.toEqual([])
  })

  test.each<[string, string, number, Record<string, string>]>([
    ['a picture of another page', 'GET', 403, { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }],
    [
      'a frame in another page',
      'GET',
      403,
      { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' },
    ],
    [
      'a link on another page',
      'GET',
      200,
      { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' },
    ],
    [
      'an address that was typed in',
      'GET',
      200,
      { 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' },
    ],
    ['its own page', 'GET', 200, { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'cors' }],
    ['no browser', 'GET', 200, {}],
  ])('%s: %s is answered %d', async (_what, method, status, headers) => {
    expect((await send(server.url, method, '/v1/groups', { headers })).status).toBe(status)
  })

  test('lets its own pages and programs write', async () => {
    const own = { Host: here('localhost:PORT'), Origin: here('http://localhost:PORT'), 'Sec-Fetch-Site': 'same-origin' }
    for (const headers of [own, {}]) {
      await server.put(queue, {})
      expect((await send(server.url, 'POST', `${queue}/purge`, { headers })).status).toBe(200)
    }
  })

  test('is off where everyone is let in', async () => {
    const open = await startApp({ allowAnonymous: true })
    const headers = { Host: 'example.org', Origin: 'http://example.org' }
    expect((await open.request('GET', '/v1/groups', { headers })).status).toBe(200)
  })
})

describe('a request id', () => {
  test.each(['a', 'abc-123/~!', 'x'.repeat(128)])('is echoed: %s', async (id) => {
    expect((await server.get('/v1/groups', { 'X-Request-Id': id })).headers['x-request-id']).toBe(id)
    const { headers, json } = await server.get('/v1/nothing', { 'X-Request-Id': id })
    expect([headers['x-request-id'], json.requestId]).toEqual([id, id])
  })

  test.each(['', 'x'.repeat(129), 'a b', 'ü', `of-${KEY}`, KEY.replace('_', '%5F'), KEY.replaceAll('_', '%255f')])(
    'is made in place of %j',
    async (id) => {
      const answers = [await server.get('/v1/groups', { 'X-Request-Id': id }), await server.get('/livez')]
      const ids = answers.map(({ headers }) => headers['x-request-id'])
      for (const made of ids) expect(made).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      expect(new Set(ids).size).toBe(2)
    },
  )
})

describe('the process', () => {
  test('says that it lives and is ready', async () => {
    for (const path of ['/livez', '/readyz']) {
      const answer = await server.get(path)
      expect([answer.status, answer.json]).toEqual([200, { status: 'ok' }])
    }
  })

  test('is ready with a warning while writes fail because the disk is full, and reports that once', async () => {
    const reports: unknown[][] = []
    const store = await memoryStore({
      ...{ sweep: false, publish: false, tick: false },
      onBackgroundError(error, doing) {
        reports.push([(error as RecentnError).code, doing])
        throw new Error('a listener that fails harms no call')
      },
    })
    const client = clientOf(await serving(createApp(store, { allowAnonymous: false })))
    const ready = async () => {
      const { status, json } = await client.get('/readyz')
      return [status, json]
    }
    const toCode = (error: RecentnError) => error.code
    const sql = (text: string) => store.dataSource.query(text)
    const append = () => store.groups.append('full', { payload: 'x'.repeat(3000) })
    const whole = () => store.transaction((tx) => tx.groups.append('full', { payload: 'x'.repeat(3000) }))
    await append()
    expect(await ready()).toEqual([200, { status: 'ok' }])

    const [{ page_count: pages }] = await sql('PRAGMA page_count')
    await sql(`PRAGMA max_page_count = ${pages}`)
    for (const write of [whole, append, whole]) {
      let refused: unknown = null
      for (let left = 50; left > 0 && refused === null; left--) refused = await write().then(() => null, toCode)
      expect(refused).toBe('database_unavailable')
      expect(innerOf(store).counts().isDiskFull).toBe(true)
    }
    // Neither of these stores anything, however long after the failure.
    await pause(2100)
    await store.transaction(async (tx) => void (await tx.groups.recent('full')))
    await store.groups.recent('full')
    const warning = expect.stringMatching(/disk of the database is full/)
    expect(await ready()).toEqual([200, { status: 'ok', warning }])
    expect((await client.get('/livez')).json).toEqual({ status: 'ok' })
    expect(reports).toEqual([['database_unavailable', 'write']])

    await sql('PRAGMA max_page_count = 1000000')
    expect(await ready()).toEqual([200, { status: 'ok', warning }])
    await eventually(10_000, 'writes succeed again', async () => {
      await append()
      return !innerOf(store).counts().isDiskFull
    })
    expect(await ready()).toEqual([200, { status: 'ok' }])
    expect(reports).toHaveLength(1)
  })

  test('does not say what it is made of', async () => {
    const { headers } = await server.get('/v1/groups')
    expect(headers['x-powered-by']).toBeUndefined()
    expect(headers.server).toBeUndefined()
    expect(headers.etag).toBeUndefined()
  })

  test('answers 503 when the database is gone, and still lives', async () => {
    const { store, ...client } = await startApp()
    await store.close()
    const answer = await send(client.url, 'GET', '/readyz', {})
    expect([answer.status, answer.headers['retry-after'], answer.headers['content-type']]).toEqual([
      503,
      '1',
      'application/problem+json',
    ])
    expect((await client.get('/livez')).status).toBe(200)
  })
})

test.each([
  ['a health check looks at no query', `/livez?a=1&%&b=${'%ff'.repeat(5000)}`],
  ['a target is as long as that', `/livez?${'x'.repeat(16 * 1024 - 7)}`],
])('%s', async (_what, path) => {
  expect((await server.get(path)).status).toBe(200)
  expect((await server.get(path.replace('livez', 'readyz'))).status).toBe(path.length < 16 * 1024 ? 200 : 414)
})

test('1,000 headers are taken, the last one too', async () => {
  const filling = Array.from({ length: 997 }, (_, i) => `x${i}: y\r\n`).join('')
  const head = `GET /livez HTTP/1.1\r\nHost: localhost\r\n${filling}X-Request-Id: last\r\nConnection: close\r\n\r\n`
  expect(await rawExchange(server.url, head)).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*X-Request-Id: last/)
})

describe('what is no HTTP request', () => {
  test.each([
    ['nonsense', 'hello\r\n\r\n', 400, 'invalid_input'],
    ['a bad header', 'GET / HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n', 400, 'invalid_input'],
    [
      'a head that is too long',
      `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(300_000)}\r\n\r\n`,
      431,
      undefined,
    ],
    [
      'too many headers',
      `GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${'a:b\r\n'.repeat(999)}\r\n`,
      431,
      undefined,
    ],
    [
      'a target that is too long',
      `GET /v1/groups?prefix=${'x'.repeat(300_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      414,
      undefined,
    ],
    [
      'a target that is a little too long',
      `GET /livez?${'x'.repeat(16 * 1024 - 6)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      414,
      undefined,
    ],
    [
      'a bad chunk',
      'POST /v1/items HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
      400,
      'invalid_input',
    ],
    ['no Host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'invalid_input'],
    [
      'two Hosts',
      'GET /livez HTTP/1.1\r\nHost: localhost\r\nhOST: localhost\r\nConnection: close\r\n\r\n',
      400,
      'invalid_input',
    ],
    [
      'an unknown expectation',
      'GET /livez HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\nConnection: close\r\n\r\n',
      417,
      undefined,
    ],
    ['CONNECT', 'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\nmore', 405, undefined],
  ])('is answered with a problem: %s', async (_name, bytes, status, code) => {
    const text = await rawExchange(server.url, bytes)
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(text).toContain('Content-Type: application/problem+json')
    const [head = '', body = ''] = text.split('\r\n\r\n')
    expect(head).toContain('Connection: close')
    const type = code === undefined ? 'about:blank' : `/docs/errors#${code}`
    expect(JSON.parse(body)).toMatchObject({ type, status, detail: expect.any(String) })
    expect(JSON.parse(body).code).toBe(code)
    expect((await server.get('/livez')).status).toBe(200)
  })
})
