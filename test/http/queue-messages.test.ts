import { pause } from '../support/timing'
import { type Client, fresh, startApp } from './support/client'

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const ID = expect.stringMatching(/^[1-9]\d*$/)

let server: Client
beforeAll(async () => {
  server = await startApp()
})

async function made(settings: object = {}): Promise<string> {
  const path = `/v1/queues/${fresh('queue')}`
  expect((await server.put(path, settings)).status).toBe(201)
  return path
}

interface Peeked {
  id: string
  body: unknown
}

async function ready(path: string): Promise<Peeked[]> {
  return JSON.parse((await server.get(`${path}/messages`)).text).messages
}

test('GET …/messages gives the beginning of bodies where that is asked for', async () => {
  const path = await made()
  await server.post(`${path}/messages`, { body: { n: 12345678901234567890n.toString(), long: 'x'.repeat(100_000) } })
  const { text } = await server.get(`${path}/messages?bodies=preview`)
  const begin = JSON.stringify({ n: '12345678901234567890', long: 'x'.repeat(200) }).slice(0, 200)
  expect(JSON.parse(text).messages[0].body).toBe(`${begin}…`)
  expect(text.length).toBeLessThan(1000)
})

describe('POST …/messages', () => {
  test('sends one message: 201 with its id', async () => {
    const path = await made()
    const answer = await server.post(`${path}/messages`, { body: { to: 'a@example.org' } })
    expect([answer.status, answer.json]).toEqual([201, { id: ID, sent: true }])
    expect(answer.headers.location).toBe(`${path}/messages/${answer.json.id}`)
    expect((await server.get(String(answer.headers.location))).json).toMatchObject({ id: answer.json.id })
    expect(await ready(path)).toMatchObject([{ id: answer.json.id, body: { to: 'a@example.org' } }])
  })

  test('sends many: 201 with their ids in the order given', async () => {
    const path = await made()
    const answer = await server.post(`${path}/messages`, {
      messages: Array.from({ length: 1000 }, (_, body) => ({ body })),
    })
    expect(answer.status).toBe(201)
    const { messages } = JSON.parse(answer.text)
    expect(messages.every(({ sent }: { sent: boolean }) => sent)).toBe(true)
    const ids = messages.map(({ id }: { id: string }) => id)
    expect(new Set(ids).size).toBe(1000)
    for (const i of [0, 499, 999]) {
      expect((await server.get(`${path}/messages/${ids[i]}`)).json).toMatchObject({ id: ids[i], body: i })
    }
  })

  test('all that a message may say of itself is kept', async () => {
    const path = await made({ maxReceives: 9 })
    const own = {
      visibilityTimeoutSeconds: 120,
      maxReceives: 7,
      dedupId: 'd',
      priority: -1000,
      messageGroup: 'tenant / 3',
      attributes: { traceparent: '00-4bf9-00f0-01', 'x.y': '' },
    }
    const { id } = (await server.post(`${path}/messages`, { body: 1, delaySeconds: 0, ...own })).json
    const [message] = JSON.parse((await server.post(`${path}/receive`, {})).text).messages
    const { priority, messageGroup, attributes } = own
    expect(message).toMatchObject({ id, priority, messageGroup })
    expect(message.attributes).toEqual(attributes)
    const held = Date.parse(message.visibleAt) - Date.parse(message.sentAt)
    expect([Math.floor(held / 1000) >= 120, Math.floor(held / 1000) < 130]).toEqual([true, true])
    expect((await server.get(`${path}/messages/${id}`)).json).toMatchObject({ maxReceives: 7, priority, attributes })
  })

  test('null counts as left out, but of `maxReceives` it is no limit', async () => {
    const path = await made({ maxReceives: 9 })
    const nulls = {
      delaySeconds: null,
      visibilityTimeoutSeconds: null,
      dedupId: null,
      priority: null,
      messageGroup: null,
      attributes: null,
    }
    const one = await server.post(`${path}/messages`, { body: null, ...nulls })
    const many = await server.post(`${path}/messages`, { messages: [{ body: null, ...nulls }] })
    expect([one.status, many.status]).toEqual([201, 201])
    const unlimited = { body: null, maxReceives: null }
    await server.post(`${path}/messages`, unlimited)
    await server.post(`${path}/messages`, { messages: [unlimited, { ...unlimited, priority: null }] })
    const expected = { body: null, maxReceives: 9, messageGroup: null, priority: 0, state: 'ready' }
    const rest = [unlimited, unlimited, unlimited]
    expect(await ready(path)).toMatchObject([expected, expected, ...rest])
  })

  test('with a dedupId of the last 5 minutes sends nothing: 200 with the first id, even when that message is gone', async () => {
    const path = await made()
    const message = { body: 'first', dedupId: 'welcome' }
    const first = await server.post(`${path}/messages`, message)
    const again = await server.post(`${path}/messages`, { ...message, body: 'again' })
    const known = { ...first.json, sent: false }
    expect([first.status, again.status, again.json]).toEqual([201, 200, known])
    expect((await server.delete(`${path}/messages/${first.json.id}`)).status).toBe(204)
    expect((await server.post(`${path}/messages`, message)).json).toEqual(known)
    const many = await server.post(`${path}/messages`, {
      messages: [message, { body: 1 }, { body: 2, dedupId: 'x' }, { body: 3, dedupId: 'x' }],
    })
    const { messages } = JSON.parse(many.text)
    expect([many.status, messages[0], messages[3]]).toEqual([201, known, { ...messages[2], sent: false }])
    expect([messages[1].sent, messages[2].sent]).toEqual([true, true])
    const none = await server.post(`${path}/messages`, { messages: [message, { body: 4, dedupId: 'x' }] })
    expect([none.status, none.json]).toEqual([200, { messages: [known, messages[3]] }])
    expect((await ready(path)).map(({ body }) => body)).toEqual([1, 2])
  })
})

describe('GET …/messages', () => {
  test('shows what is in each state', async () => {
    const path = await made({ onAck: 'archive' })
    const messages = ['archived', 'dead', 'in-flight'].map((body) => ({ body }))
    const answer = await server.post(`${path}/messages`, { messages })
    const sent = JSON.parse(answer.text).messages.map(({ id }: { id: string }) => id)
    const received = JSON.parse((await server.post(`${path}/receive`, { limit: 3 })).text).messages
    const handles = received.map(({ receiptHandle }: { receiptHandle: string }) => receiptHandle)
    await server.post(`${path}/ack`, { receiptHandles: [handles[0]] })
    await server.post(`${path}/nack`, { receiptHandles: [handles[1]], dead: true, error: 'it failed' })
    await server.post(`${path}/messages`, { body: 'delayed', delaySeconds: 315_360_000 })
    await server.post(`${path}/messages`, { body: 'ready' })
    const common = {
      id: ID,
      maxReceives: 5,
      sentAt: TIME,
      visibleAt: TIME,
      messageGroup: null,
      key: null,
      receiver: null,
      priority: 0,
      attributes: {},
    }
    const receiver = { name: expect.any(String), lastSeenAt: TIME, gone: false }
    while (((await server.get(`${path}/receivers`)).json.receivers as unknown as unknown[]).length === 0)
      await pause(50)
    const alive = { archivedAt: null, deadLetterFrom: null, deadAt: null, deadReceiveCount: null, lastError: null }
    const once = { ...alive, receiveCount: 1, firstReceivedAt: TIME, lastReceivedAt: TIME }
    const never = { ...alive, receiveCount: 0, firstReceivedAt: null, lastReceivedAt: null }
    for (const [state, rest] of Object.entries({
      ready: never,
      'in-flight': { ...once, receiver },
      delayed: never,
      dead: { ...once, deadAt: TIME, deadReceiveCount: 1, lastError: 'it failed' },
      archived: { ...once, archivedAt: TIME },
    })) {
      const page = await server.get(`${path}/messages?state=${state}`)
      expect([page.status, page.json]).toEqual([
        200,
        { messages: [{ ...common, state, body: state, ...rest }], nextAfter: null },
      ])
      const { id } = JSON.parse(page.text).messages[0]
      const one = await server.get(`${path}/messages/${id}`)
      const failed = { receiveCount: 1, failedAt: TIME, error: 'it failed' }
      const failures = state === 'dead' ? [failed] : []
      expect([one.status, one.json]).toEqual([200, { ...JSON.parse(page.text).messages[0], failures }])
      if (['archived', 'dead', 'in-flight'].includes(state)) expect(sent).toContain(id)
    }
    expect((await server.get(`${path}/messages`)).json).toMatchObject({ messages: [{ state: 'ready' }] })
  })

  test('comes in pages of `limit`', async () => {
    const path = await made()
    await server.post(`${path}/messages`, { messages: Array.from({ length: 7 }, (_, body) => ({ body })) })
    const seen: unknown[] = []
    let after = ''
    do {
      const page = JSON.parse((await server.get(`${path}/messages?limit=3${after}`)).text)
      seen.push(page.messages.map(({ body }: Peeked) => body))
      after = page.nextAfter === null ? '' : `&after=${encodeURIComponent(page.nextAfter)}`
    } while (after !== '')
    expect(seen).toEqual([[0, 1, 2], [3, 4, 5], [6]])
  })

  test('stops a page at about 4 MiB', async () => {
    const path = await made()
    const body = 'x'.repeat(250_000)
    for (let n = 0; n < 10; n++) await server.post(`${path}/messages`, { messages: [{ body }, { body }] })
    const first = await server.get(`${path}/messages`)
    expect(first.text.length).toBeLessThan(4.3 * 1024 ** 2)
    const { messages, nextAfter } = JSON.parse(first.text)
    expect(messages).toHaveLength(16)
    const rest = JSON.parse((await server.get(`${path}/messages?after=${encodeURIComponent(nextAfter)}`)).text)
    expect([rest.messages.length, rest.nextAfter]).toEqual([4, null])
  })
})

test('…/messages/{id}: 404 for one that is not there, or is of another queue; DELETE removes', async () => {
  const [path, other] = [await made(), await made()]
  const { id } = (await server.post(`${path}/messages`, { body: 1 })).json
  for (const target of [`${other}/messages/${id}`, `${path}/messages/9223372036854775807`, `${path}/messages/0`]) {
    for (const method of ['GET', 'DELETE']) {
      const answer = await server.request(method, target)
      expect([answer.status, answer.json.code]).toEqual([404, 'message_not_found'])
    }
  }
  const received = JSON.parse((await server.post(`${path}/receive`, {})).text).messages
  const removed = await server.delete(`${path}/messages/${id}`)
  expect([removed.status, removed.text]).toEqual([204, ''])
  expect((await server.get(`${path}/messages/${id}`)).status).toBe(404)
  const { receiptHandle } = received[0]
  expect((await server.post(`${path}/ack`, { receiptHandles: [receiptHandle] })).json).toEqual({
    acked: [],
    failed: [{ receiptHandle, code: 'stale_receipt' }],
  })
})
