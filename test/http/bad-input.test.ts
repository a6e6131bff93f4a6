import { type Client, expectUntouched, rawExchange, startApp, UNTOUCHED_ITEMS } from './support/client'
import { faultsOf } from './support/refusals'

let server: Client
beforeAll(async () => {
  server = await startApp()
})

const ITEMS = UNTOUCHED_ITEMS
expectUntouched(() => server)

const faults = (method: string, path: string, json?: unknown) => faultsOf(server, method, path, json)

describe('fields', () => {
  test('every fault of path, query and body is named at once', async () => {
    const json = { member: '', payload: { deep: '\ud800' }, occurredAt: 'yesterday', eventId: 7, 'a/b~c': 1 }
    expect(await faults('POST', `/v1/groups/%00/items?x=1&x=2&%FF`, json)).toEqual([
      { parameter: 'group', detail: 'must not have control characters' },
      { parameter: '%FF', detail: expect.stringContaining('UTF-8') },
      { parameter: 'x', detail: 'is not a known parameter' },
      { pointer: '/a~1b~0c', detail: 'is not a known field' },
      { pointer: '/member', detail: 'must not be empty' },
      { pointer: '/payload', detail: expect.stringContaining('lone surrogate') },
      { pointer: '/occurredAt', detail: expect.stringContaining('RFC 3339') },
      { pointer: '/eventId', detail: 'must be a string' },
    ])
  })

  test('a malformed body is one of the faults', async () => {
    const answer = await server.request('POST', `${ITEMS}?x=1`, { body: '{' })
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid_input'])
    expect(answer.json.errors).toMatchObject([{ parameter: 'x' }, { pointer: '' }])
  })

  test('what is not known is answered with what was probably meant', async () => {
    const field = await server.request('POST', ITEMS, { body: '{"membr":"a"}' })
    expect(field.json.errors).toEqual([{ pointer: '/membr', detail: 'is not a known field; did you mean member?' }])
    const parameter = await server.request('GET', `${ITEMS}?limits=1`)
    expect(parameter.json.errors).toEqual([
      { parameter: 'limits', detail: 'is not a known parameter; did you mean limit?' },
    ])
  })

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'group', 'id', ''])(
    '%j is not known',
    async (name) => {
      const answer = await server.request('POST', ITEMS, { body: `{${JSON.stringify(name)}:null}` })
      expect(answer.json.errors).toEqual([{ pointer: `/${name}`, detail: 'is not a known field' }])
      expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    },
  )

  test.each([
    ['a'.repeat(192), 'must have at most 191 characters'],
    ['😀'.repeat(192), 'must have at most 191 characters'],
    ['', 'must not be empty'],
    ['.', 'must be neither "." nor ".."'],
    ['..', 'must be neither "." nor ".."'],
    ['a\u0000', 'must not have control characters'],
    ['a\u007f', 'must not have control characters'],
    ['\ud800', expect.stringContaining('well-formed')],
    [7, 'must be a string'],
    [['a'], 'must be a string'],
    [{ toString: 'a' }, 'must be a string'],
  ])('%j is no name', async (member, detail) => {
    expect(await faults('POST', ITEMS, { member })).toEqual([{ pointer: '/member', detail }])
  })

  test.each([
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '2026-01-01',
    1764000000,
    '10000-01-01T00:00:00Z',
  ])('%j is no time', async (occurredAt) => {
    expect(await faults('POST', ITEMS, { occurredAt })).toEqual([
      { pointer: '/occurredAt', detail: expect.any(String) },
    ])
  })

  test('of every item of a batch are checked', async () => {
    const items = [{ group: 'untouched' }, {}, 7, null, [], { group: 'untouched', payload: 'x'.repeat(65_536), y: 1 }]
    const detail = expect.any(String)
    expect(await faults('POST', '/v1/items', { items, x: 1 })).toEqual([
      { pointer: '/x', detail },
      { pointer: '/items/1/group', detail: 'is required' },
      { pointer: '/items/2', detail: 'must be an object' },
      { pointer: '/items/3', detail: 'must be an object' },
      { pointer: '/items/4', detail: 'must be an object' },
      { pointer: '/items/5/y', detail },
      { pointer: '/items/5/payload', detail },
    ])
  })

  test.each([{}, { items: null }, { items: [] }, { items: {} }, { items: Array(1001).fill({ group: 'untouched' }) }])(
    'a batch has 1 to 1,000 items',
    async (body) => {
      expect(await faults('POST', '/v1/items', body)).toEqual([{ pointer: '/items', detail: expect.any(String) }])
    },
  )

  test('more faults than anyone reads are counted', async () => {
    const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, 0]))
    const errors = await faults('POST', ITEMS, body)
    expect(errors).toHaveLength(101)
    expect(errors.at(-1)).toEqual({ pointer: '', detail: 'has 49900 more faults' })
  })

  test.each([
    [{ capacity: 0 }, '/capacity'],
    [{ capacity: 10_001 }, '/capacity'],
    [{ capacity: 1.5 }, '/capacity'],
    [{ capacity: '5' }, '/capacity'],
    [{ mode: 'ring' }, '/mode'],
    [{ mode: ['history'] }, '/mode'],
    [{ ttlSeconds: 0 }, '/ttlSeconds'],
    [{ ttlSeconds: 1e300 }, '/ttlSeconds'],
    [{ forgetEmptySeconds: 0 }, '/forgetEmptySeconds'],
    [{ totalAppended: '5' }, '/totalAppended'],
  ])('%j are no settings', async (settings, pointer) => {
    expect(await faults('PUT', '/v1/groups/untouched', settings)).toEqual([{ pointer, detail: expect.any(String) }])
    const policy = { capacity: 1, mode: 'history', ...settings }
    expect(await faults('PUT', '/v1/policies/untouched', policy)).toEqual([{ pointer, detail: expect.any(String) }])
  })

  test('a policy needs capacity and mode', async () => {
    for (const body of [{}, { capacity: null, mode: null, ttlSeconds: null }]) {
      expect(await faults('PUT', '/v1/policies/untouched', body)).toEqual([
        { pointer: '/capacity', detail: 'is required' },
        { pointer: '/mode', detail: 'is required' },
      ])
    }
  })
})

describe('a query', () => {
  test.each([
    ...['-1', '0', '1.5', '1e2', '', '%20', '10001', '0x10', '1%00', '99999999999999999999', '+5', '٣'].map((limit) => [
      `limit=${limit}`,
      'limit',
    ]),
    ['limit', 'limit'],
    ['limit=1&limit=1', 'limit'],
    ...['-1', '1.5', '', '01', 'x', '9223372036854775808'].map((before) => [`before=${before}`, 'before']),
    ['before=1&before=2', 'before'],
    ['exclude=', 'exclude'],
    ['exclude=a&exclude=%00', 'exclude'],
    [Array(101).fill('exclude=a').join('&'), 'exclude'],
    ['exclude=%ff', 'exclude'],
    ['exclude=%C0%AF', 'exclude'],
    ['limit=%', 'limit'],
    ['after=1', 'after'],
    ['Limit=1', 'Limit'],
    ['limit[]=1', 'limit[]'],
    ['__proto__=1', '__proto__'],
    ['constructor=1', 'constructor'],
  ])('?%s is refused', async (query, parameter) => {
    const path = `${ITEMS}?${query.replace('٣', encodeURIComponent('٣'))}`
    expect(await faults('GET', path)).toEqual([{ parameter, detail: expect.any(String) }])
  })

  test.each([
    ['/v1/items', [{ parameter: 'group', detail: 'is required' }]],
    [
      `/v1/items?${Array(101).fill('group=a').join('&')}`,
      [{ parameter: 'group', detail: 'may be given at most 100 times' }],
    ],
    ['/v1/items?group=a&before=1', [{ parameter: 'before', detail: 'is not a known parameter' }]],
    ['/v1/groups?limit=1001', [{ parameter: 'limit', detail: 'must be a whole number from 1 to 1000' }]],
    ['/v1/groups?prefix=%01', [{ parameter: 'prefix', detail: 'must not have control characters' }]],
    ['/v1/groups?prefix=a&prefix=b', [{ parameter: 'prefix', detail: 'is given more than once' }]],
    ['/v1/members/m/items?before=nonsense', [{ parameter: 'before', detail: expect.any(String) }]],
    [`/v1/policies?after=${'x'.repeat(3000)}`, [{ parameter: 'after', detail: expect.any(String) }]],
    ['/v1/groups/untouched?x', [{ parameter: 'x', detail: 'is not a known parameter' }]],
  ])('%s is refused', async (path, errors) => {
    expect(await faults('GET', path)).toEqual(errors)
  })

  test('of a write is refused as well', async () => {
    for (const path of [ITEMS, '/v1/groups/untouched', '/v1/members/m/items', '/v1/policies/p', `${ITEMS}/0`]) {
      expect(await faults('DELETE', `${path}?dryRun=1`)).toEqual([{ parameter: 'dryRun', detail: expect.any(String) }])
    }
  })
})

describe('a path', () => {
  test.each([
    ['GET', '/v1/groups/%ff/items', 'group'],
    ['GET', '/v1/groups/%E0%A4%A/items', 'group'],
    ['GET', '/v1/groups/%ED%A0%80', 'group'],
    ['DELETE', '/v1/members/%/items', 'member'],
    ['GET', '/v1/policies/%C0%80', 'prefix'],
    ['GET', '/v1/groups/%00/items', 'group'],
    ['GET', '/v1/groups/%2e%2e/items', 'group'],
    ['GET', '/v1/groups/../items', 'group'],
    ['GET', `/v1/groups/${'a'.repeat(192)}/items`, 'group'],
    ['DELETE', '/v1/groups/untouched/items/-1', 'id'],
    ['DELETE', '/v1/groups/untouched/items/x', 'id'],
    ['DELETE', '/v1/groups/untouched/items/9223372036854775808', 'id'],
  ])('%s %s is refused', async (method, path, parameter) => {
    expect(await faults(method, path)).toEqual([{ parameter, detail: expect.any(String) }])
  })

  test('of raw bytes is refused, for it would name another group', async () => {
    const head = Buffer.from('GET /v1/groups/ü HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    const text = await rawExchange(server.url, head)
    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(text).toContain('application/problem+json')
  })
})

describe('routes', () => {
  test.each([
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/groups/',
    '/v1/groups//items',
    '/v1/groups/a/items/',
    '/V1/groups',
    '/v1/groups/a/b/c',
  ])('%s is unknown', async (path) => {
    for (const method of ['GET', 'POST']) {
      const answer = await server.request(method, path)
      expect([answer.status, answer.json.type]).toEqual([404, 'about:blank'])
    }
  })

  test.each([
    ['/v1/groups', 'GET, HEAD, OPTIONS'],
    ['/v1/groups/a', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
    ['/v1/groups/a/items', 'POST, GET, HEAD, DELETE, OPTIONS'],
    ['/v1/groups/a/items/0', 'GET, HEAD, DELETE, OPTIONS'],
    ['/v1/items', 'POST, GET, HEAD, OPTIONS'],
    ['/v1/members/m/items', 'GET, HEAD, DELETE, OPTIONS'],
    ['/v1/policies', 'GET, HEAD, OPTIONS'],
    ['/v1/policies/p', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
    ['/openapi.json', 'GET, HEAD, OPTIONS'],
    ['/livez', 'GET, HEAD, OPTIONS'],
  ])('%s knows %s', async (path, allow) => {
    for (const method of ['TRACE', ...['PATCH', 'POST', 'PUT', 'DELETE'].filter((known) => !allow.includes(known))]) {
      const answer = await server.request(method, path)
      expect([answer.status, answer.json.type, answer.headers.allow]).toEqual([405, 'about:blank', allow])
    }
    const options = await server.request('OPTIONS', path)
    expect([options.status, options.text, options.headers.allow]).toEqual([204, '', allow])
  })
})
