import { type Client, startApp } from './support/client'
import { expectAllowed, expectJsonOnly, faultsAt, faultsOf, NO_OBJECT, UNKNOWN } from './support/refusals'

let server: Client
beforeAll(async () => {
  server = await startApp()
  await server.put(`${FEED}/entries/stays`, { value: 1 })
  expect((await server.get(`${FEED}/changes?waitSeconds=10`)).json).toMatchObject({ cursor: '1' })
})

const FEED = '/v1/feeds/untouched'
const ENTRY = `${FEED}/entries/k`
const CONSUMER = `${FEED}/consumers/c`
const detail = expect.any(String)

afterEach(async () => {
  const stays = { syncId: '1', key: 'stays', value: 1, version: 1, deleted: false }
  expect((await server.get(`${FEED}/changes`)).json).toEqual({ changes: [stays], cursor: '1', hasMore: false })
  expect((await server.get(FEED)).json).toMatchObject({ lastSyncId: '1', consumers: [] })
  expect((await server.get('/v1/feeds')).json).toMatchObject({ feeds: [{ feed: 'untouched' }] })
})

const faults = (method: string, path: string, json?: unknown) => faultsOf(server, method, path, json)

describe('every fault is named at once', () => {
  test('of an entry', async () => {
    const json = { key: 'k', syncId: '1', 'a/b~c': 1, constructor: 1 }
    expect(await faults('PUT', '/v1/feeds/%00/entries/..?x=1', json)).toEqual(
      expect.arrayContaining([
        { parameter: 'feed', detail: 'must not have control characters' },
        { parameter: 'key', detail: 'must be neither "." nor ".."' },
        { parameter: 'x', detail: 'is not a known parameter' },
        ...faultsAt(UNKNOWN, '/constructor', '/key', '/syncId', '/a~1b~0c'),
        { pointer: '/value', detail: 'is required' },
      ]),
    )
    expect(await faults('PUT', ENTRY, {})).toEqual([{ pointer: '/value', detail: 'is required' }])
    for (const body of [[], 7, 'value', null]) {
      expect(await faults('PUT', ENTRY, body)).toEqual([{ pointer: '', detail: 'must be an object' }])
    }
  })

  test('of many entries', async () => {
    const entries: unknown[] = [
      { key: 'fine', value: 1 },
      { value: 1 },
      { key: '', value: '\ud800', version: 1 },
      { key: null },
      7,
      null,
      [],
      { key: 'k', value: null, constructor: 1 },
    ]
    expect(await faults('POST', `${FEED}/entries?x`, { entries, value: 1 })).toEqual([
      { parameter: 'x', detail },
      { pointer: '/value', detail: 'is not a known field' },
      { pointer: '/entries/1/key', detail: 'is required' },
      { pointer: '/entries/2/version', detail: 'is not a known field; did you mean ifVersion?' },
      { pointer: '/entries/2/key', detail: 'must not be empty' },
      { pointer: '/entries/2/value', detail: expect.stringContaining('lone surrogate') },
      ...faultsAt('is required', '/entries/3/key', '/entries/3/value'),
      ...faultsAt(NO_OBJECT, '/entries/4', '/entries/5', '/entries/6'),
      { pointer: '/entries/7/constructor', detail: 'is not a known field' },
    ])
  })

  const entry = { key: 'k', value: 1 }
  test.each([{}, { entries: null }, { entries: [] }, { entries: {} }, { entries: Array(1001).fill(entry) }])(
    'of a list that is none, number %#',
    async (body) => {
      expect(await faults('POST', `${FEED}/entries`, body)).toEqual([{ pointer: '/entries', detail }])
    },
  )

  test('of what is to be published again', async () => {
    const notOne = [{ pointer: '', detail: 'must have exactly one of keys and prefix' }]
    expect(await faults('POST', `${FEED}/republish`, { keys: ['stays'], prefix: '' })).toEqual(notOne)
    for (const body of [{}, { keys: null }, { prefix: null, keys: null }]) {
      expect(await faults('POST', `${FEED}/republish`, body)).toEqual(notOne)
    }
    const unknown = { pointer: '/feed', detail: 'is not a known field' }
    expect(await faults('POST', `${FEED}/republish`, { feed: 'x' })).toEqual([unknown, ...notOne])
    expect(await faults('POST', `${FEED}/republish?all=1`, { keys: ['', 7, 'fine', null], prefix: '\u0000' })).toEqual([
      { parameter: 'all', detail: 'is not a known parameter' },
      { pointer: '/prefix', detail: 'must not have control characters' },
      { pointer: '/keys/0', detail: 'must not be empty' },
      { pointer: '/keys/1', detail: 'must be a string' },
      { pointer: '/keys/3', detail: 'must be a string' },
      ...notOne,
    ])
    for (const keys of [[], 'stays', {}, 7, Array(1001).fill('stays')]) {
      expect(await faults('POST', `${FEED}/republish`, { keys })).toEqual([{ pointer: '/keys', detail }])
    }
    for (const prefix of [7, {}, '..', 'x'.repeat(192)]) {
      expect(await faults('POST', `${FEED}/republish`, { prefix })).toEqual([{ pointer: '/prefix', detail }])
    }
    for (const body of [[], 7, null]) {
      expect(await faults('POST', `${FEED}/republish`, body)).toEqual([{ pointer: '', detail: 'must be an object' }])
    }
  })

  test('of a cursor', async () => {
    expect(await faults('PUT', '/v1/feeds/%00/consumers/%01', { cursor: 1, force: 'yes', lag: 0 })).toEqual([
      { parameter: 'feed', detail: 'must not have control characters' },
      { parameter: 'consumer', detail: 'must not have control characters' },
      { pointer: '/lag', detail: 'is not a known field' },
      { pointer: '/cursor', detail: expect.stringContaining('decimal digits') },
      { pointer: '/force', detail: 'must be true or false' },
    ])
    for (const body of [{}, { cursor: null }, { force: true }]) {
      expect(await faults('PUT', CONSUMER, body)).toEqual([{ pointer: '/cursor', detail: 'is required' }])
    }
    for (const cursor of [0, 1, '', '-1', '01', '1.0', '1e3', ' 1', '+1', '0x1', 'x', '9'.repeat(39), [], true]) {
      expect(await faults('PUT', CONSUMER, { cursor })).toEqual([{ pointer: '/cursor', detail }])
    }
    // One that was never given, and one beyond the last sync id.
    for (const cursor of ['2', '9223372036854775807', '9'.repeat(38)]) {
      expect(await faults('PUT', CONSUMER, { cursor, force: true })).toEqual([{ pointer: '/cursor', detail }])
    }
  })

  test('of a reading', async () => {
    const query = 'after=01&limit=0&waitSeconds=21&values=text'
    expect(await faults('GET', `/v1/feeds/%00/changes?${query}`)).toEqual([
      { parameter: 'feed', detail: 'must not have control characters' },
      { parameter: 'values', detail: 'is not a known parameter' },
      { parameter: 'after', detail: expect.stringContaining('decimal digits') },
      { parameter: 'limit', detail: 'must be a whole number from 1 to 1000' },
      { parameter: 'waitSeconds', detail: 'must be a whole number from 0 to 20' },
    ])
    expect(await faults('GET', `${FEED}/changes?after=0&consumer=c`)).toEqual([
      { parameter: 'after', detail: 'must not be given with consumer' },
      { parameter: 'consumer', detail: 'must not be given with after' },
    ])
    expect(await faults('GET', `${FEED}/changes?after=x&consumer=%00&limit=1001`)).toEqual([
      { parameter: 'after', detail },
      { parameter: 'consumer', detail: 'must not have control characters' },
      { parameter: 'limit', detail },
      { parameter: 'after', detail: 'must not be given with consumer' },
      { parameter: 'consumer', detail: 'must not be given with after' },
    ])
  })
})

describe('a body', () => {
  test.each([
    ['PUT', ENTRY],
    ['POST', `${FEED}/entries`],
    ['POST', `${FEED}/republish`],
    ['PUT', CONSUMER],
  ])('of %s %s is JSON, and required', async (method, path) => {
    await expectJsonOnly(server, method, path)
    expect(await faults(method, path)).toEqual([{ pointer: '', detail: 'a JSON body is required' }])
    const large = { value: 'x'.repeat(1024 * 1024) }
    expect((await server.request(method, path, { json: large })).status).toBe(413)
  })
})

describe('paths and queries', () => {
  test.each([
    ['/v1/feeds?limit=0', 'limit'],
    ['/v1/feeds?limit=1001', 'limit'],
    ['/v1/feeds?prefix=%01', 'prefix'],
    ['/v1/feeds?feed=x', 'feed'],
    [`/v1/feeds?after=${'x'.repeat(3000)}`, 'after'],
    [`${FEED}?entries=1`, 'entries'],
    [`${FEED}/changes?after=`, 'after'],
    [`${FEED}/changes?after=-1`, 'after'],
    [`${FEED}/changes?after=1.0`, 'after'],
    [`${FEED}/changes?after=${'9'.repeat(39)}`, 'after'],
    [`${FEED}/changes?after=${'9'.repeat(38)}`, 'after'],
    [`${FEED}/changes?after=1&after=1`, 'after'],
    [`${FEED}/changes?consumer=`, 'consumer'],
    [`${FEED}/changes?consumer=a&consumer=b`, 'consumer'],
    [`${FEED}/changes?limit=010`, 'limit'],
    [`${FEED}/changes?limit=1001`, 'limit'],
    [`${FEED}/changes?waitSeconds=`, 'waitSeconds'],
    [`${FEED}/changes?waitSeconds=00`, 'waitSeconds'],
    [`${FEED}/changes?waitSeconds=0.5`, 'waitSeconds'],
    [`${FEED}/changes?maxBytes=1`, 'maxBytes'],
    [`${FEED}/changes?%ff`, '%ff'],
    [`${ENTRY}?values=text`, 'values'],
    [`${FEED}/entries/%ff`, 'key'],
    [`${FEED}/consumers/%00`, 'consumer'],
    ['/v1/feeds/%ff', 'feed'],
    [`/v1/feeds/${'a'.repeat(192)}/changes`, 'feed'],
  ])('%s is refused', async (path, parameter) => {
    expect(await faults('GET', path)).toEqual([{ parameter, detail }])
  })

  test.each([
    ['/v1/feeds', 'GET, HEAD, OPTIONS'],
    [FEED, 'GET, HEAD, DELETE, OPTIONS'],
    [`${FEED}/entries`, 'POST, OPTIONS'],
    [ENTRY, 'GET, HEAD, PUT, DELETE, OPTIONS'],
    [`${FEED}/republish`, 'POST, OPTIONS'],
    [`${FEED}/changes`, 'GET, HEAD, OPTIONS'],
    [CONSUMER, 'GET, HEAD, PUT, DELETE, OPTIONS'],
  ])('%s knows %s', async (path, allow) => {
    await expectAllowed(server, path, allow)
  })

  test.each(['/v1/feeds/', `${FEED}/`, `${FEED}/nothing`, `${FEED}/consumers`, `${ENTRY}/x`])(
    '%s is unknown',
    async (path) => {
      expect((await server.get(path)).json).toMatchObject({ type: 'about:blank', status: 404 })
    },
  )
})
