import { createApp, messagesOf } from '../../src/http/process/app'
import { type Client, clientOf, fresh, memoryStore, serving } from './support/client'

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

let server: Client
/** How far the database's clock is ahead. */
let ahead = 0
beforeAll(async () => {
  const store = await memoryStore({ clockOffsetMs: () => ahead })
  const app = createApp(store, { allowAnonymous: false })
  server = clientOf(await serving(app, messagesOf(app)))
})

interface Received {
  id: string
  body: unknown
  receiveCount: number
  receiptHandle: string
  receivedAt: string
  visibleAt: string
  lastError: string | null
}

async function made(settings: object, ...bodies: unknown[]): Promise<string> {
  const path = `/v1/queues/${fresh('queue')}`
  expect((await server.put(path, settings)).status).toBe(201)
  const messages = bodies.map((body) => ({ body }))
  if (bodies.length > 0) expect((await server.post(`${path}/messages`, { messages })).status).toBe(201)
  return path
}

async function receive(path: string, options: object = {}): Promise<Received[]> {
  const answer = await server.post(`${path}/receive`, options)
  expect(answer.status).toBe(200)
  return JSON.parse(answer.text).messages
}

const bodiesOf = (messages: readonly Received[]) => messages.map(({ body }) => body)
const handlesOf = (messages: readonly Received[]) => messages.map(({ receiptHandle }) => receiptHandle)

describe('POST …/receive', () => {
  test('claims one message, or as many as asked: no other receiver gets them', async () => {
    const path = await made({}, 1, 2, 3, 4)
    const [message, ...others] = await receive(path)
    expect(others).toEqual([])
    expect(message).toEqual({
      id: expect.any(String),
      body: 1,
      receiveCount: 1,
      receiptHandle: expect.stringMatching(/^[\w-]{38}$/),
      sentAt: TIME,
      receivedAt: TIME,
      visibleAt: TIME,
      maxReceives: 5,
      firstReceivedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      deadAt: null,
      deadReceiveCount: null,
      lastError: null,
      messageGroup: null,
      attributes: {},
      priority: 0,
    })
    expect(bodiesOf(await receive(path, { limit: 2 }))).toEqual([2, 3])
    expect(bodiesOf(await receive(path, { limit: 1000 }))).toEqual([4])
    expect(await receive(path)).toEqual([])
  })

  test('without a body, and with nulls, asks for one', async () => {
    const path = await made({}, 1, 2)
    const answer = await server.request('POST', `${path}/receive`)
    expect(answer.json).toMatchObject({ messages: [{ body: 1 }] })
    const nulls = { limit: null, visibilityTimeoutSeconds: null, waitSeconds: null }
    expect(bodiesOf(await receive(path, nulls))).toEqual([2])
  })

  test('holds for the visibility timeout of the request, the message or the queue, in this order', async () => {
    const path = await made({ visibilityTimeoutSeconds: 100 }, 'queue', 'request')
    await server.post(`${path}/messages`, { body: 'message', visibilityTimeoutSeconds: 20 })
    const [ofQueue] = await receive(path)
    const [ofRequest] = await receive(path, { visibilityTimeoutSeconds: 50 })
    const [ofMessage] = await receive(path)
    const heldFor = (message?: Received) =>
      (Date.parse(message?.visibleAt ?? '') - Date.parse(message?.receivedAt ?? '')) / 1000
    expect([ofQueue, ofRequest, ofMessage].map(heldFor)).toEqual([100, 50, 20])
    ahead += 21_000
    expect(await receive(path, { limit: 10 })).toMatchObject([{ body: 'message', receiveCount: 2 }])
    ahead += 30_000
    expect(bodiesOf(await receive(path, { limit: 10 }))).toContain('request')
  })

  test('goes by priority, and in turns across message groups', async () => {
    const path = await made({})
    const of = (body: string, messageGroup: string | null, priority = 0) => ({ body, messageGroup, priority })
    const messages = [of('a1', 'a'), of('a2', 'a'), of('b1', 'b'), of('n1', null), of('urgent', 'a', 1000)]
    await server.post(`${path}/messages`, { messages })
    expect(bodiesOf(await receive(path, { limit: 10 }))).toEqual(['urgent', 'a1', 'b1', 'n1', 'a2'])
  })

  test('of a cycle goes round and round, each cursor for itself', async () => {
    const path = await made({ visibilityTimeoutSeconds: 0 }, 1, 2, 3, 4, 5)
    const next = async (limit: number, cursor?: string) =>
      bodiesOf((await server.post(`${path}/cycle`, { limit, cursor })).json.messages as unknown as Received[])
    expect(await next(3)).toEqual([1, 2, 3])
    expect(await next(3)).toEqual([4, 5, 1])
    expect(await next(2, 'other')).toEqual([1, 2])
    expect(await next(9, 'default')).toEqual([2, 3, 4, 5, 1])
  })
})

describe('POST …/ack', () => {
  test('is done with messages, and says which handles did nothing and why', async () => {
    const path = await made({}, 1, 2)
    const other = await made({}, 3)
    const [one, two] = handlesOf(await receive(path, { limit: 2 })) as [string, string]
    const [foreign] = handlesOf(await receive(other)) as [string]
    const forged = `${one.slice(0, -1)}${one.endsWith('A') ? 'B' : 'A'}`
    const acked = await server.post(`${path}/ack`, { receiptHandles: [one, '', 'é\u0000', foreign, forged] })
    expect([acked.status, acked.json]).toEqual([
      200,
      {
        acked: [one],
        failed: ['', 'é\u0000', foreign, forged].map((receiptHandle) => ({ receiptHandle, code: 'invalid_receipt' })),
      },
    ])
    const again = await server.post(`${path}/ack`, { receiptHandles: [one, two] })
    expect(again.json).toEqual({ acked: [two], failed: [{ receiptHandle: one, code: 'stale_receipt' }] })
  })

  test.each(['ack', 'nack', 'extend'])('…/%s of one handle: 204, or why it did nothing', async (what) => {
    const path = await made({}, 1)
    const [receiptHandle] = handlesOf(await receive(path)) as [string]
    const ask = (handle: string) =>
      server.post(`${path}/${what}`, {
        receiptHandle: handle,
        ...(what === 'extend' && { visibilityTimeoutSeconds: 60 }),
      })
    const { status, text } = await ask(receiptHandle)
    expect([status, text]).toEqual([204, ''])
    await server.post(`${path}/ack`, { receiptHandles: [receiptHandle] })
    const stale = await ask(receiptHandle)
    expect([stale.status, stale.json]).toMatchObject([409, { code: 'stale_receipt', status: 409 }])
    const invalid = await ask('none')
    expect([invalid.status, invalid.json]).toMatchObject([400, { code: 'invalid_receipt', status: 400 }])
  })

  test('takes 1,000 handles', async () => {
    const path = await made({}, ...Array.from({ length: 1000 }, (_, i) => i))
    const receiptHandles = handlesOf(await receive(path, { limit: 1000 }))
    const { acked, failed } = JSON.parse((await server.post(`${path}/ack`, { receiptHandles })).text)
    expect([acked.sort(), failed]).toEqual([receiptHandles.sort(), []])
    for (const state of ['ready', 'in-flight']) {
      expect((await server.get(`${path}/messages?state=${state}`)).json.messages).toEqual([])
    }
  })

  test('by a late receiver does nothing: the message was claimed again', async () => {
    const path = await made({ visibilityTimeoutSeconds: 60 }, 1)
    const [late] = handlesOf(await receive(path)) as [string]
    ahead += 61_000
    const [again] = handlesOf(await receive(path)) as [string]
    const failed = [{ receiptHandle: late, code: 'stale_receipt' }]
    const receiptHandles = [late]
    expect((await server.post(`${path}/ack`, { receiptHandles })).json).toEqual({ acked: [], failed })
    expect((await server.post(`${path}/nack`, { receiptHandles })).json).toEqual({ nacked: [], failed })
    const held = await server.post(`${path}/extend`, { receiptHandles, visibilityTimeoutSeconds: 5 })
    expect(held.json).toEqual({ extended: [], failed })
    expect((await server.post(`${path}/ack`, { receiptHandles: [again] })).json).toMatchObject({ acked: [again] })
  })
})

describe('POST …/nack', () => {
  test('hands out again at once, with what went wrong', async () => {
    const path = await made({}, 1)
    const receiptHandles = handlesOf(await receive(path))
    const error = `${'😀'.repeat(1000)} and more`
    const nacked = await server.post(`${path}/nack`, { receiptHandles, error })
    expect([nacked.status, nacked.json]).toEqual([200, { nacked: receiptHandles, failed: [] }])
    expect(await receive(path)).toMatchObject([{ body: 1, receiveCount: 2, lastError: '😀'.repeat(1000) }])
  })

  test('after a delay, when asked', async () => {
    const path = await made({}, 1)
    const receiptHandles = handlesOf(await receive(path))
    await server.post(`${path}/nack`, { receiptHandles, delaySeconds: 40, error: null, dead: null })
    expect(await receive(path)).toEqual([])
    expect((await server.get(`${path}/messages?state=delayed`)).json).toMatchObject({ messages: [{ body: 1 }] })
    ahead += 41_000
    expect(bodiesOf(await receive(path))).toEqual([1])
  })

  test('never again, when told so or after `maxReceives`', async () => {
    const path = await made({ maxReceives: 1 }, 'told')
    await server.post(`${path}/messages`, { body: 'spent', maxReceives: 2 })
    const messages = await receive(path, { limit: 2 })
    const handleOf = (body: string) => messages.find((message) => message.body === body)?.receiptHandle
    await server.post(`${path}/nack`, { receiptHandles: [handleOf('spent')] })
    await server.post(`${path}/nack`, { receiptHandles: [handleOf('told')], dead: true, delaySeconds: 5 })
    const again = await receive(path, { limit: 2 })
    expect(bodiesOf(again)).toEqual(['spent'])
    await server.post(`${path}/nack`, { receiptHandles: handlesOf(again), error: 'twice' })
    expect(await receive(path)).toEqual([])
    const dead = JSON.parse((await server.get(`${path}/messages?state=dead`)).text).messages
    expect(bodiesOf(dead).sort()).toEqual(['spent', 'told'])
  })
})

test('POST …/extend holds messages for that time, counted from now', async () => {
  const path = await made({ visibilityTimeoutSeconds: 100 }, 1, 2)
  const [one, two] = handlesOf(await receive(path, { limit: 2 })) as [string, string]
  ahead += 50_000
  const receiptHandles = [one, 'nonsense']
  const extended = await server.post(`${path}/extend`, { receiptHandles, visibilityTimeoutSeconds: 80 })
  expect([extended.status, extended.json]).toEqual([
    200,
    { extended: [one], failed: [{ receiptHandle: 'nonsense', code: 'invalid_receipt' }] },
  ])
  ahead += 60_000
  expect(bodiesOf(await receive(path, { limit: 2 }))).toEqual([2])
  expect((await server.post(`${path}/ack`, { receiptHandles: [one, two] })).json).toEqual({
    acked: [one],
    failed: [{ receiptHandle: two, code: 'stale_receipt' }],
  })
})
