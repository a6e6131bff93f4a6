import { type Client, startApp } from './support/client'
import { expectAllowed, expectJsonOnly, faultsAt, faultsOf, NO_OBJECT, UNKNOWN } from './support/refusals'

let server: Client
beforeAll(async () => {
  server = await startApp()
  await server.put(QUEUE, {})
  await server.post(`${QUEUE}/messages`, { body: 'stays' })
})

const QUEUE = '/v1/queues/untouched'
const MESSAGES = `${QUEUE}/messages`
const detail = expect.any(String)

afterEach(async () => {
  const { messages } = JSON.parse((await server.get(MESSAGES)).text)
  expect(messages).toMatchObject([{ body: 'stays', receiveCount: 0 }])
  expect((await server.get(QUEUE)).json).toMatchObject({ visibilityTimeoutSeconds: 30, paused: false })
})

const faults = (method: string, path: string, json?: unknown) => faultsOf(server, method, path, json)

describe('every fault is named at once', () => {
  test('of settings', async () => {
    const json = {
      visibilityTimeoutSeconds: 43_201,
      maxReceives: 1.5,
      deadLetterQueue: '',
      onAck: 'forget',
      retentionSeconds: 0,
      paused: true,
      counts: {},
      'a/b~c': 1,
    }
    expect(await faults('PUT', '/v1/queues/%00?x=1', json)).toEqual([
      { parameter: 'queue', detail: 'must not have control characters' },
      { parameter: 'x', detail: 'is not a known parameter' },
      ...faultsAt(UNKNOWN, '/counts', '/a~1b~0c'),
      { pointer: '/visibilityTimeoutSeconds', detail: 'must be a whole number from 0 to 43200' },
      { pointer: '/maxReceives', detail: 'must be a whole number from 1 to 1000000, or null for no limit' },
      { pointer: '/deadLetterQueue', detail: 'must not be empty' },
      { pointer: '/onAck', detail: 'must be one of remove, archive' },
      { pointer: '/retentionSeconds', detail },
      { pointer: '/paused', detail: expect.stringMatching(/`pause`.*`resume`/) },
    ])
  })

  test('of changes, two of which cannot be null', async () => {
    const json = { visibilityTimeoutSeconds: null, onAck: null, maxReceives: 0, paused: false, created: 1 }
    expect(await faults('PATCH', '/v1/queues/%00?x=1', json)).toEqual([
      { parameter: 'queue', detail: 'must not have control characters' },
      { parameter: 'x', detail: 'is not a known parameter' },
      ...faultsAt(UNKNOWN, '/created'),
      { pointer: '/visibilityTimeoutSeconds', detail: 'must be a whole number from 0 to 43200' },
      { pointer: '/maxReceives', detail: 'must be a whole number from 1 to 1000000, or null for no limit' },
      { pointer: '/onAck', detail: 'must be one of remove, archive' },
      { pointer: '/paused', detail: expect.stringMatching(/`pause`.*`resume`/) },
    ])
    expect(await faults('PUT', QUEUE, { paused: null, maxReceives: 0 })).toEqual([
      { pointer: '/maxReceives', detail: 'must be a whole number from 1 to 1000000, or null for no limit' },
      { pointer: '/paused', detail: expect.stringMatching(/`pause`.*`resume`/) },
    ])
    for (const action of ['pause', 'resume']) {
      expect(await faults('POST', `${QUEUE}/${action}`, { x: 1 })).toEqual(faultsAt(UNKNOWN, '/x'))
    }
  })

  const bad = {
    delaySeconds: -1,
    visibilityTimeoutSeconds: '30',
    maxReceives: -1,
    dedupId: '',
    priority: 1001,
    messageGroup: 7,
    attributes: { 'a b': 'x', n: 1 },
    receiveCount: 1,
  }
  const badAt = (at: string) => [
    { pointer: `${at}/receiveCount`, detail: 'is not a known field' },
    { pointer: `${at}/body`, detail: 'is required' },
    { pointer: `${at}/delaySeconds`, detail: 'must be a whole number from 0 to 315360000' },
    { pointer: `${at}/visibilityTimeoutSeconds`, detail: 'must be a whole number from 0 to 43200' },
    { pointer: `${at}/maxReceives`, detail: 'must be a whole number from 1 to 1000000, or null for no limit' },
    { pointer: `${at}/dedupId`, detail: 'must not be empty' },
    { pointer: `${at}/priority`, detail: 'must be a whole number from -1000 to 1000' },
    { pointer: `${at}/messageGroup`, detail: 'must be a string' },
    { pointer: `${at}/attributes`, detail: expect.stringMatching(/^the name "a b" must be .*; n must be a text/) },
  ]

  test('of one message', async () => {
    expect(await faults('POST', MESSAGES, bad)).toEqual(badAt(''))
    expect(await faults('POST', MESSAGES, {})).toEqual([{ pointer: '/body', detail: 'is required' }])
    expect(await faults('POST', MESSAGES, { body: 1, priority: -1001 })).toEqual([{ pointer: '/priority', detail }])
  })

  test('of many messages', async () => {
    const messages: unknown[] = [{ body: 1 }, bad, 7, null, [], { body: '\ud800' }, { body: 1, constructor: 1 }]
    expect(await faults('POST', `${MESSAGES}?x`, { messages, body: 1 })).toEqual([
      { parameter: 'x', detail },
      { pointer: '/body', detail: 'is not a known field' },
      ...badAt('/messages/1'),
      ...faultsAt(NO_OBJECT, '/messages/2', '/messages/3', '/messages/4'),
      { pointer: '/messages/5/body', detail: expect.stringContaining('lone surrogate') },
      { pointer: '/messages/6/constructor', detail: 'is not a known field' },
    ])
  })

  test.each([{ messages: null }, { messages: [] }, { messages: {} }, { messages: Array(1001).fill({ body: 1 }) }])(
    'of a list that is none, number %#',
    async (body) => {
      expect(await faults('POST', MESSAGES, body)).toEqual([{ pointer: '/messages', detail }])
    },
  )

  test('of a receive', async () => {
    const json = {
      limit: 1001,
      visibilityTimeoutSeconds: -1,
      waitSeconds: 20.5,
      signal: {},
      bodies: 'text',
    }
    expect(await faults('POST', `${QUEUE}/receive`, json)).toEqual([
      ...faultsAt(UNKNOWN, '/signal', '/bodies'),
      { pointer: '/limit', detail: 'must be a whole number from 1 to 1000' },
      { pointer: '/visibilityTimeoutSeconds', detail },
      { pointer: '/waitSeconds', detail: 'must be a whole number from 0 to 20' },
    ])
    expect(await faults('POST', `${QUEUE}/receive`, { waitSeconds: 21, limit: 0 })).toHaveLength(2)
  })

  test('of a cycle', async () => {
    expect(await faults('POST', `${QUEUE}/cycle`, { limit: 0, cursor: '..', waitSeconds: 1 })).toEqual([
      ...faultsAt(UNKNOWN, '/waitSeconds'),
      { pointer: '/limit', detail: 'must be a whole number from 1 to 1000' },
      { pointer: '/cursor', detail: 'must be neither "." nor ".."' },
    ])
  })

  test('of what settles', async () => {
    const handles = { receiptHandles: ['x', 7, null], other: 1 }
    const ofHandles = [
      { pointer: '/receiptHandles/1', detail: 'must be a string' },
      { pointer: '/receiptHandles/2', detail: 'must be a string' },
    ]
    const other = { pointer: '/other', detail: 'is not a known field' }
    expect(await faults('POST', `${QUEUE}/ack`, handles)).toEqual([other, ...ofHandles])
    const released = { ...handles, delaySeconds: 315_360_001, error: 7, dead: 1 }
    const found = await faults('POST', `${QUEUE}/nack`, released)
    expect(found).toHaveLength(6)
    expect(found).toEqual(
      expect.arrayContaining([
        other,
        { pointer: '/delaySeconds', detail },
        { pointer: '/error', detail: 'must be a string' },
        { pointer: '/dead', detail: 'must be true or false' },
        ...ofHandles,
      ]),
    )
    expect(await faults('POST', `${QUEUE}/extend`, handles)).toEqual([
      other,
      { pointer: '/visibilityTimeoutSeconds', detail: 'is required' },
      ...ofHandles,
    ])
  })

  test.each(['ack', 'nack', 'extend'])('of %s: 1 to 1,000 handles', async (what) => {
    const rest = what === 'extend' ? { visibilityTimeoutSeconds: 1 } : {}
    for (const receiptHandles of [null, [], 'x', {}, Array(1001).fill('x')]) {
      const errors = await faults('POST', `${QUEUE}/${what}`, { receiptHandles, ...rest })
      expect(errors).toEqual([{ pointer: '/receiptHandles', detail }])
    }
    for (const receiptHandle of [null, 7, ['x']]) {
      const errors = await faults('POST', `${QUEUE}/${what}`, { receiptHandle, ...rest })
      expect(errors).toEqual([{ pointer: '/receiptHandle', detail }])
    }
    for (const both of [{}, { receiptHandle: 'x', receiptHandles: ['x'] }]) {
      const errors = await faults('POST', `${QUEUE}/${what}`, { ...both, ...rest })
      expect(errors).toEqual([{ pointer: '', detail: 'must have exactly one of receiptHandle and receiptHandles' }])
    }
  })

  test.each(['redrive', 'promote'])('of a %s: 1 to 1,000 ids', async (what) => {
    for (const ids of [[], [1], ['x'], ['-1'], Array(1001).fill('1'), '1', {}]) {
      expect(await faults('POST', `${QUEUE}/${what}`, { ids })).toEqual([{ pointer: '/ids', detail }])
    }
  })

  test.each([{ limit: 0 }, { limit: '1' }, { limit: 1.5 }, { limit: 1e300 }])('of a redrive: %j', async (body) => {
    expect(await faults('POST', `${QUEUE}/redrive`, body)).toEqual([{ pointer: '/limit', detail }])
  })

  test('of a purge, which takes nothing to narrow it', async () => {
    for (const [body, names] of [
      ['{"state":"ready","dryRun":true,"a/b":1}', ['/state', '/a~1b']],
      ['{"__proto__":1,"x":2}', ['/__proto__', '/x']],
    ] as const) {
      const answer = await server.request('POST', `${QUEUE}/purge`, { body })
      const errors = names.map((pointer) => ({ pointer, detail: 'is not a known field' }))
      expect([answer.status, answer.json.errors]).toEqual([400, errors])
    }
    for (const body of ['[1]', 'null', '7']) {
      const answer = await server.request('POST', `${QUEUE}/purge`, { body })
      expect([answer.status, answer.json.errors]).toEqual([400, [{ pointer: '', detail: 'must be an object' }]])
    }
    expect((await server.request('POST', `${QUEUE}/purge?state=ready`)).json.errors).toEqual([
      { parameter: 'state', detail: 'is not a known parameter' },
    ])
  })
})

describe('a body', () => {
  test.each(['receive', 'redrive', 'purge', 'messages', 'ack'])('of %s is JSON', async (what) => {
    await expectJsonOnly(server, 'POST', `${QUEUE}/${what}`)
  })

  test('is required where something must be said', async () => {
    for (const what of ['messages', 'ack', 'nack', 'extend']) {
      expect(await faults('POST', `${QUEUE}/${what}`)).toEqual([{ pointer: '', detail: 'a JSON body is required' }])
    }
    expect(await faults('PUT', `${QUEUE}?x=1`)).toEqual([{ parameter: 'x', detail: 'is not a known parameter' }])
  })
})

describe('paths and queries', () => {
  test.each([
    ['/v1/queues?limit=0', 'limit'],
    ['/v1/queues?limit=1001', 'limit'],
    ['/v1/queues?prefix=%01', 'prefix'],
    ['/v1/queues?state=ready', 'state'],
    [`/v1/queues?after=${'x'.repeat(3000)}`, 'after'],
    [`${MESSAGES}?state=`, 'state'],
    [`${MESSAGES}?state=inFlight`, 'state'],
    [`${MESSAGES}?state=ready&state=dead`, 'state'],
    [`${MESSAGES}?limit=1001`, 'limit'],
    [`${MESSAGES}?after=nonsense`, 'after'],
    [`${MESSAGES}/x`, 'id'],
    [`${MESSAGES}/-1`, 'id'],
    [`${MESSAGES}/9223372036854775808`, 'id'],
    [`${QUEUE}?counts=1`, 'counts'],
    ['/v1/queues/%ff', 'queue'],
    [`/v1/queues/${'a'.repeat(192)}/messages`, 'queue'],
  ])('%s is refused', async (path, parameter) => {
    expect(await faults('GET', path)).toEqual([{ parameter, detail }])
  })

  test.each([
    ['/v1/queues', 'GET, HEAD, OPTIONS'],
    [QUEUE, 'GET, HEAD, PUT, DELETE, PATCH, OPTIONS'],
    [MESSAGES, 'POST, GET, HEAD, OPTIONS'],
    [`${MESSAGES}/1`, 'GET, HEAD, DELETE, OPTIONS'],
    ...['receive', 'ack', 'nack', 'extend', 'redrive', 'purge', 'pause', 'resume'].map((what) => [
      `${QUEUE}/${what}`,
      'POST, OPTIONS',
    ]),
  ] as [string, string][])('%s knows %s', async (path, allow) => {
    await expectAllowed(server, path, allow)
  })

  test.each(['/v1/queues/', `${QUEUE}/`, `${QUEUE}/nothing`, `${MESSAGES}/1/x`])('%s is unknown', async (path) => {
    expect((await server.get(path)).json).toMatchObject({ type: 'about:blank', status: 404 })
  })
})
