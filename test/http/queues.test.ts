import express from 'express'
import { createRouter } from '../../src'
import { QUEUE_DEFAULTS } from '../support/queue-defaults'
import { type Client, clientOf, fresh, memoryStore, serving, startApp } from './support/client'

const TAG = expect.any(String)
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const NONE = { ready: 0, inFlight: 0, delayed: 0, blocked: 0, dead: 0, archived: 0 }

let server: Client
beforeAll(async () => {
  server = await startApp()
})

const pathOf = (queue: string) => `/v1/queues/${encodeURIComponent(queue)}`

/** A queue that no other test uses. */
async function made(settings: object = {}): Promise<{ queue: string; path: string }> {
  const queue = fresh('queue')
  expect((await server.put(pathOf(queue), settings)).status).toBe(201)
  return { queue, path: pathOf(queue) }
}

/** Sends so many messages and lets each become dead: received once, and nacked. */
async function makeDead(path: string, count: number): Promise<void> {
  const messages = Array.from({ length: count }, (_, i) => ({ body: i }))
  expect((await server.post(`${path}/messages`, { messages })).status).toBe(201)
  const received = JSON.parse((await server.post(`${path}/receive`, { limit: count })).text).messages
  const receiptHandles = received.map((message: { receiptHandle: string }) => message.receiptHandle)
  const nacked = await server.post(`${path}/nack`, { receiptHandles, dead: true })
  expect(nacked.json).toEqual({ nacked: receiptHandles, failed: [] })
  expect(receiptHandles).toHaveLength(count)
}

describe('/v1/queues/{queue}', () => {
  test('PUT creates with 201 and replaces with 200; what is left out takes its default', async () => {
    const dead = await made()
    const queue = fresh('a queue / of äöü ')
    const settings = {
      visibilityTimeoutSeconds: 0,
      maxReceives: 5,
      deadLetterQueue: dead.queue,
      onAck: 'archive',
      retentionSeconds: 3600,
      groupConcurrency: 2,
      ...{ maxMessages: 9, rateLimit: { messages: 8, perSeconds: 7 }, groupRateLimit: { messages: 6, perSeconds: 5 } },
    }
    const created = await server.put(pathOf(queue), settings)
    expect([created.status, created.json]).toEqual([
      201,
      { queue, ...settings, paused: false, holdEndsAt: null, createdAt: TIME, tag: TAG },
    ])
    expect(created.headers.location).toBe(pathOf(queue))
    const got = await server.get(pathOf(queue))
    const status = { isDeadLetterQueue: false, counts: NONE, oldestAgeSeconds: null, died: 0, growthPerMinute: null }
    expect([got.status, got.json]).toEqual([200, { ...created.json, ...status, limited: 0 }])

    const defaults = {
      queue,
      ...QUEUE_DEFAULTS,
      tag: TAG,
      createdAt: created.json.createdAt,
    }
    const nulls = Object.fromEntries(Object.keys(settings).map((name) => [name, null]))
    const bodies: [object | undefined, object][] = [
      [undefined, defaults],
      [{}, defaults],
      [nulls, { ...defaults, maxReceives: null }],
    ]
    for (const [json, expected] of bodies) {
      await server.put(pathOf(queue), settings)
      const replaced = await server.request('PUT', pathOf(queue), { json })
      expect([replaced.status, replaced.json]).toEqual([200, expected])
    }
  })

  test('of an unknown one, everything but PUT is 404', async () => {
    const path = pathOf(fresh('nowhere'))
    const receiptHandles = ['x']
    const calls: [string, string, unknown?][] = [
      ['GET', path],
      ['DELETE', path],
      ['POST', `${path}/messages`, { body: 1 }],
      ['POST', `${path}/messages`, { messages: [{ body: 1 }] }],
      ['POST', `${path}/receive`, {}],
      ['POST', `${path}/receive`, { waitSeconds: 5 }],
      ['POST', `${path}/cycle`, {}],
      ['POST', `${path}/ack`, { receiptHandles }],
      ['POST', `${path}/nack`, { receiptHandles }],
      ['POST', `${path}/extend`, { receiptHandles, visibilityTimeoutSeconds: 1 }],
      ['GET', `${path}/messages`],
      ['GET', `${path}/messages/1`],
      ['DELETE', `${path}/messages/1`],
      ['POST', `${path}/redrive`, {}],
      ['POST', `${path}/purge`],
      ['PATCH', path, {}],
      ['POST', `${path}/pause`],
      ['POST', `${path}/resume`, {}],
    ]
    for (const [method, target, json] of calls) {
      const answer = await server.request(method, target, { json })
      expect([method, target, answer.status, answer.json.code]).toEqual([method, target, 404, 'queue_not_found'])
    }
  })

  test('a dead-letter queue must exist and close no cycle: 400, naming the field', async () => {
    const a = await made()
    const b = await made({ deadLetterQueue: a.queue })
    const errors = [{ pointer: '/deadLetterQueue', detail: expect.any(String) }]
    const unknown = await server.put(b.path, { deadLetterQueue: fresh('nowhere') })
    expect([unknown.status, unknown.json]).toMatchObject([400, { code: 'dead_letter_queue_not_found', errors }])
    for (const name of [a.queue, b.queue]) {
      const circle = await server.put(a.path, { deadLetterQueue: name })
      expect([circle.status, circle.json]).toMatchObject([400, { code: 'dead_letter_cycle', errors }])
    }
    expect((await server.get(b.path)).json.deadLetterQueue).toBe(a.queue)
    expect((await server.get(a.path)).json.deadLetterQueue).toBeNull()
  })

  test('DELETE drops it with its messages, and is 409 while another one names it', async () => {
    const { path, queue } = await made()
    const other = await made({ deadLetterQueue: queue })
    await server.post(`${path}/messages`, { body: 1 })
    const inUse = await server.delete(path)
    expect([inUse.status, inUse.json.code]).toEqual([409, 'queue_in_use'])
    expect((await server.get(path)).json).toMatchObject({ counts: { ...NONE, ready: 1 } })
    expect((await server.put(other.path, {})).status).toBe(200)
    const dropped = await server.delete(path)
    expect([dropped.status, dropped.text]).toEqual([204, ''])
    expect((await server.delete(path)).status).toBe(404)
    expect((await server.put(path, {})).status).toBe(201)
    expect((await server.get(`${path}/messages`)).json).toEqual({ messages: [], nextAfter: null })
  })

  test('GET counts the messages of each state and says how old the oldest is', async () => {
    const begun = performance.now()
    const { path } = await made({ onAck: 'archive' })
    await makeDead(path, 1)
    const messages = [1, 2, 3, 4].map((body) => ({ body }))
    await server.post(`${path}/messages`, { messages: [...messages, { body: 5, delaySeconds: 60 }] })
    const received = (await server.post(`${path}/receive`, { limit: 2 })).json
    const receiptHandle = received.messages?.[0]?.receiptHandle
    await server.post(`${path}/ack`, { receiptHandles: [receiptHandle] })
    const { counts, oldestAgeSeconds } = JSON.parse((await server.get(path)).text)
    expect(counts).toEqual({ ready: 2, inFlight: 1, delayed: 1, blocked: 0, dead: 1, archived: 1 })
    expect(oldestAgeSeconds).toBeGreaterThanOrEqual(0)
    expect(oldestAgeSeconds).toBeLessThanOrEqual(Math.ceil((performance.now() - begun) / 1000))
  })

  test('POST …/pause and …/resume: sends are taken, receives get nothing, and no PUT or PATCH ends it', async () => {
    const { path, queue } = await made({ maxReceives: 7 })
    const expected = { queue, ...QUEUE_DEFAULTS, maxReceives: 7, createdAt: TIME, tag: TAG }
    const paused = await server.request('POST', `${path}/pause`)
    expect([paused.status, paused.json]).toEqual([200, { ...expected, paused: true }])
    expect((await server.post(`${path}/messages`, { body: 1 })).status).toBe(201)
    expect((await server.put(path, {})).json).toMatchObject({ paused: true })
    expect((await server.request('PATCH', path, { json: { maxReceives: 7 } })).json).toMatchObject({ paused: true })
    expect((await server.ensure(path)).json.existing).toMatchObject({ paused: true })
    expect((await server.post(`${path}/pause`, {})).json).toMatchObject({ paused: true })
    expect((await server.post(`${path}/receive`, {})).json).toEqual({ messages: [] })
    const resumed = await server.post(`${path}/resume`, {})
    expect([resumed.status, resumed.json]).toEqual([200, expected])
    expect((await server.post(`${path}/receive`, {})).json).toMatchObject({ messages: [{ body: 1 }] })
  })

  test('PATCH changes what the body has, where null is a value, and leaves the rest', async () => {
    const dead = await made()
    const settings = {
      visibilityTimeoutSeconds: 3,
      maxReceives: 4,
      deadLetterQueue: dead.queue,
      retentionSeconds: 5,
      groupConcurrency: 6,
      maxMessages: 7,
    }
    const { path, queue } = await made({ ...settings, onAck: 'archive' })
    const before = { ...QUEUE_DEFAULTS, queue, ...settings, onAck: 'archive', createdAt: TIME, tag: TAG }
    const patched = async (json: object) => {
      const { status, json: answer } = await server.request('PATCH', path, { json })
      return [status, answer]
    }
    expect(await patched({})).toEqual([200, before])
    expect(await patched({ visibilityTimeoutSeconds: 0 })).toEqual([200, { ...before, visibilityTimeoutSeconds: 0 }])
    const nulls = { maxReceives: null, deadLetterQueue: null, retentionSeconds: null, groupConcurrency: null }
    expect(await patched(nulls)).toEqual([200, { ...before, ...nulls, visibilityTimeoutSeconds: 0 }])
    const nowhere = { deadLetterQueue: fresh('nowhere') }
    expect(await patched(nowhere)).toMatchObject([400, { code: 'dead_letter_queue_not_found' }])
    expect(await patched({ deadLetterQueue: queue })).toMatchObject([400, { code: 'dead_letter_cycle' }])
    expect((await server.get(path)).json).toMatchObject({ ...nulls, onAck: 'archive' })
  })

  test('PUT with If-None-Match: * creates with 201, and is refused with 412 and what is there', async () => {
    const path = pathOf(fresh('ensured'))
    const made = await server.ensure(path, { maxReceives: 7 })
    expect([made.status, made.json]).toMatchObject([201, { ...QUEUE_DEFAULTS, maxReceives: 7 }])
    const again = await server.ensure(path, { maxReceives: 8, deadLetterQueue: fresh('nowhere') })
    expect([again.status, again.json.code, again.json.existing]).toEqual([412, 'already_exists', made.json])
    expect((await server.ensure(path)).status).toBe(412)
    expect((await server.ensure(pathOf(fresh('ensured')))).status).toBe(201)
  })

  test('a key with a prefix sees no dead-letter queue outside of it', async () => {
    const store = await memoryStore()
    const [letters, queue] = [fresh('queue'), fresh('queue')]
    await store.queues.put(letters)
    await store.queues.put(queue, { deadLetterQueue: letters })
    const { key } = await store.keys.create({ label: 'k', scopes: ['admin'], prefix: queue })
    const headers = { Authorization: `Bearer ${key}` }
    const client = clientOf(await serving(express().use(createRouter(store, { access: 'keys' }))))
    const calls: [string, string, object][] = [
      ['PATCH', '', { maxReceives: 3 }],
      ['POST', '/pause', {}],
      ['POST', '/resume', {}],
    ]
    for (const [method, action, json] of calls) {
      const answer = await client.request(method, pathOf(queue) + action, { json, headers })
      expect([method, action, answer.status, answer.json.deadLetterQueue]).toEqual([method, action, 200, null])
      const other = await client.request(method, pathOf(letters) + action, { json, headers })
      expect([method, action, other.status]).toEqual([method, action, 403])
    }
    const ensuring = { headers: { ...headers, 'If-None-Match': '*' } }
    const { existing } = (await client.request('PUT', pathOf(queue), ensuring)).json
    expect(existing).toMatchObject({ queue, deadLetterQueue: null })
    expect((await client.request('PUT', pathOf(letters), ensuring)).status).toBe(403)
    expect(await store.queues.get(queue)).toMatchObject({ deadLetterQueue: letters, maxReceives: 3 })
  })
})

test('GET /v1/queues lists by name, in pages', async () => {
  const prefix = fresh('list')
  for (const name of ['c', 'a', 'b']) await server.put(pathOf(`${prefix}:${name}`), {})
  const first = await server.get(`/v1/queues?prefix=${prefix}:&limit=2`)
  expect(first.json).toMatchObject({
    queues: [{ queue: `${prefix}:a`, counts: NONE }, { queue: `${prefix}:b` }],
  })
  const after = encodeURIComponent(String(first.json.nextAfter))
  const second = await server.get(`/v1/queues?prefix=${prefix}:&limit=2&after=${after}`)
  expect(second.json).toEqual({
    queues: [(await server.get(pathOf(`${prefix}:c`))).json],
    nextAfter: null,
    states: null,
  })
  const dead = await server.get(`/v1/queues?prefix=${prefix}:&state=dead&sort=ready`)
  expect(dead.json).toEqual({
    queues: [],
    nextAfter: null,
    states: { all: 3, main: 3, dead: 0, growing: 0, stuck: 0, blocked: 0, paused: 0 },
  })
  expect((await server.get('/v1/queues?state=broken')).status).toBe(400)
  expect(JSON.parse((await server.get('/v1/queues?prefix=')).text).queues.length).toBeGreaterThan(2)
})

describe('POST …/redrive', () => {
  test('sends dead messages back, at most `limit` of them, with receive count 0', async () => {
    const { path } = await made()
    await makeDead(path, 3)
    expect((await server.get(`${path}/messages?state=dead`)).json).toMatchObject({ messages: [{}, {}, {}] })
    const { messages } = JSON.parse((await server.get(`${path}/messages?state=dead`)).text)
    expect((await server.post(`${path}/redrive`, { ids: [messages[1]?.id, '7777777'] })).json).toEqual({ moved: 1 })
    expect((await server.post(`${path}/redrive`, { limit: 1 })).json).toEqual({ moved: 1 })
    // No body, null and an empty one are the same: all that is left.
    expect((await server.request('POST', `${path}/redrive`)).json).toEqual({ moved: 1 })
    expect((await server.post(`${path}/redrive`, { limit: null })).json).toEqual({ moved: 0 })
    const received = JSON.parse((await server.post(`${path}/receive`, { limit: 10 })).text).messages
    expect(received.map(({ receiveCount }: { receiveCount: number }) => receiveCount)).toEqual([1, 1, 1])
  })

  test('called on the dead-letter queue, moves them to the queue they came from', async () => {
    const dead = await made()
    const source = await made({ deadLetterQueue: dead.queue })
    await makeDead(source.path, 2)
    expect((await server.get(`${source.path}/messages?state=dead`)).json).toMatchObject({ messages: [] })
    expect((await server.get(`${dead.path}/messages`)).json).toMatchObject({
      messages: [{ receiveCount: 0 }, { receiveCount: 0 }],
    })
    expect((await server.post(`${dead.path}/redrive`, {})).json).toEqual({ moved: 2 })
    expect((await server.get(`${source.path}/messages`)).json).toMatchObject({ messages: [{}, {}] })
  })
})

test('a send to a full queue is 429, with a Retry-After', async () => {
  const { path } = await made({ maxMessages: 1 })
  expect((await server.post(`${path}/messages`, { body: 1 })).status).toBe(201)
  const refused = await server.post(`${path}/messages`, { body: 2 })
  expect([refused.status, refused.json.code, refused.headers['retry-after']]).toEqual([429, 'queue_full', '5'])
})

test('POST …/promote makes delayed messages due', async () => {
  const { path } = await made()
  const { id } = (await server.post(`${path}/messages`, { body: 1, delaySeconds: 60 })).json
  expect((await server.post(`${path}/promote`, { ids: [id] })).json).toEqual({ promoted: 1 })
  expect((await server.post(`${path}/receive`, {})).json).toMatchObject({ messages: [{ id, body: 1 }] })
})

test('POST …/promote with inFlight ends claims', async () => {
  const { path } = await made()
  const { id } = (await server.post(`${path}/messages`, { body: 1 })).json
  const { receiptHandle } = JSON.parse((await server.post(`${path}/receive`, {})).text).messages[0]
  const before = { ids: [id], inFlight: true, lastReceivedAt: '2020-01-01T00:00:00Z' }
  expect((await server.post(`${path}/promote`, before)).json).toEqual({ promoted: 0 })
  const alone = await server.post(`${path}/promote`, { ...before, inFlight: false })
  expect(alone.json).toMatchObject({
    errors: [{ pointer: '/lastReceivedAt', detail: 'must not be given without inFlight' }],
  })
  expect((await server.post(`${path}/promote`, { ids: [id], inFlight: true })).json).toEqual({ promoted: 1 })
  expect((await server.post(`${path}/ack`, { receiptHandle })).json).toMatchObject({ code: 'stale_receipt' })
  expect((await server.post(`${path}/receive`, {})).json.messages).toMatchObject([{ id, receiveCount: 2 }])
})

test('POST …/purge drops what is ready and delayed, and nothing else', async () => {
  const { path } = await made()
  await makeDead(path, 1)
  const messages = [{ body: 1 }, { body: 2 }, { body: 3, delaySeconds: 60 }]
  await server.post(`${path}/messages`, { messages })
  await server.post(`${path}/receive`, {})
  expect((await server.post(`${path}/purge`, { dryRun: true })).json).toEqual({ deleted: 2 })
  expect((await server.post(`${path}/redrive`, { dryRun: true })).json).toEqual({ moved: 1 })
  const purged = await server.request('POST', `${path}/purge`)
  expect([purged.status, purged.json]).toEqual([200, { deleted: 2 }])
  expect((await server.post(`${path}/purge`, {})).json).toEqual({ deleted: 0 })
  for (const [state, left] of Object.entries({ ready: 0, delayed: 0, 'in-flight': 1, dead: 1 })) {
    const page = JSON.parse((await server.get(`${path}/messages?state=${state}`)).text)
    expect([state, page.messages.length]).toEqual([state, left])
  }
})
