/** Which calls are attempted again, over connections that are cut and answers that come late or from a proxy. */
import { type Client, createClient } from '../../src/client'
import { createApp } from '../../src/http/process/app'
import type { Store } from '../../src/store/types'
import { fresh, memoryStore, serving } from '../http/support/client'
import { eventually, pause, SOON_MS, soonMs } from '../support/timing'
import { type Deed, type Flaky, flakyBefore } from './support/flaky'

let store: Store
let flaky: Flaky
let client: Client
let hasty: Client
/** Each test has its own queue, because claims of other tests expire in between. */
let queue: string

beforeAll(async () => {
  store = await memoryStore({ publish: false })
  const url = await serving(createApp(store, { allowAnonymous: false }))
  flaky = await flakyBefore(() => url)
  client = createClient({ baseUrl: flaky.url })
  hasty = createClient({ baseUrl: flaky.url, timeoutSeconds: 2 })
})

beforeEach(async () => {
  queue = fresh()
  await store.queues.put(queue)
})

const total = async (group: string) => (await store.groups.recent(group)).totalAppended
const unavailable: Deed = { status: 503, code: 'database_unavailable', retryAfter: '0' }
const unknown: Deed = { status: 503, code: 'outcome_unknown', retryAfter: '0' }
const gateway: Deed = { status: 502 }
const overloaded: Deed = { status: 429, code: 'overloaded', retryAfter: '0' }

/** No answer came, or one that proves nothing. */
const unclear: [string, Deed, string][] = [
  ['cut before', 'before', 'unreachable'],
  ['cut after', 'after', 'unreachable'],
  ['half an answer', 'half', 'unreachable'],
  ['no answer in time', 'silent', 'unreachable'],
  ['outcome_unknown', unknown, 'outcome_unknown'],
  ["a proxy's 502", gateway, 'unexpected_answer'],
  ["a proxy's 503", { status: 503 }, 'unexpected_answer'],
]

describe.each(unclear)('%s', (_, deed, code) => {
  // Only the test of a time limit has a short one: an answer that comes late is attempted again.
  let patient: Client
  beforeAll(() => {
    patient = client
    if (deed === 'silent') client = hasty
  })
  afterAll(() => {
    client = patient
  })

  test('an append with an event id is made again, and stored once', async () => {
    const group = fresh()
    flaky.will(deed, deed)
    const { id } = await client.groups.append(group, { eventId: 'e' })
    expect([id, flaky.came.length, await total(group)]).toEqual([0n, 3, 1n])
  })

  test('appends of which all have one, and sends with a dedup id', async () => {
    const group = fresh()
    flaky.will(deed)
    await client.groups.appendMany([
      { group, eventId: '1' },
      { group, eventId: '2' },
    ])
    expect([flaky.came.length, await total(group)]).toEqual([2, 2n])
    flaky.will(deed)
    const [first] = await client.queues.sendMany(queue, [{ body: 1, dedupId: group }])
    flaky.will(deed)
    expect(await client.queues.send(queue, 1, { dedupId: group })).toEqual({ id: first?.id, sent: false })
    expect((await client.queues.purge(queue)).deleted).toBe(1)
  })

  test.each<[string, (group: string) => Promise<unknown>]>([
    ['append', (group) => client.groups.append(group)],
    ['appendMany', (group) => client.groups.appendMany([{ group, eventId: 'e' }, { group }])],
    ['send', () => client.queues.send(queue, 1)],
    ['sendMany', () => client.queues.sendMany(queue, [{ body: 1, dedupId: 'd' }, { body: 2 }])],
    ['receive', () => client.queues.receive(queue)],
    ['delete', () => client.queues.ackMany(queue, ['none'])],
    ['release', () => client.queues.nackMany(queue, ['none'])],
    ['redrive', () => client.queues.redrive(queue)],
    ['purge', () => client.queues.purge(queue)],
    // If it arrived, the second try would find what the first one has done.
    ['a put with a version', (name) => client.feeds.put(name, 'k', 1, { ifVersion: 0 })],
    ['putMany with a version', (name) => client.feeds.putMany(name, [{ key: 'k', value: 1, ifVersion: 0 }])],
    ['update with a tag', () => client.queues.update(queue, {}, { ifTag: '*' })],
  ])('%s is not made again', async (__, call) => {
    const group = fresh()
    flaky.will(deed, deed)
    await expect(call(group)).rejects.toMatchObject({ code })
    expect(flaky.came).toHaveLength(1)
    const wasDone = deed === 'after' || deed === 'half'
    if ((await total(group)) > 0n) expect(wasDone).toBe(true)
  })

  test.each<[string, (name: string) => Promise<unknown>]>([
    ['recent', (name) => client.groups.recent(name)],
    ['put', (name) => client.groups.put(name)],
    ['delete', (name) => client.groups.drop(name)],
    ['putMany', (name) => client.feeds.putMany(name, [{ key: 'k', value: 1 }])],
    ['moveCursor', (name) => client.feeds.moveCursor(name, 'c', 0n)],
  ])('%s is made again', async (__, call) => {
    flaky.will(deed)
    await call(fresh())
    expect(flaky.came).toHaveLength(2)
  })
})

describe('an answer that proves that nothing was stored', () => {
  test.each([
    ['overloaded', overloaded],
    ['database_unavailable', unavailable],
    ['conflict', { status: 503, code: 'conflict' }],
  ] as [string, Deed][])('%s: an append without an event id is made again', async (_, deed) => {
    const group = fresh()
    flaky.will(deed, deed)
    await client.groups.append(group)
    expect([flaky.came.length, await total(group)]).toEqual([3, 1n])
  })

  test('of receives only 429: a claim may be there without its answer', async () => {
    flaky.will(overloaded)
    expect(await client.queues.receive(queue)).toEqual([])
    flaky.will(unavailable)
    await expect(client.queues.receive(queue)).rejects.toMatchObject({ code: 'database_unavailable' })
  })
})

describe('an extended claim', () => {
  test('is the same when it is extended twice', async () => {
    await store.queues.send(queue, 'held')
    const [message] = await client.queues.receive(queue)
    const handle = message?.receiptHandle as string
    flaky.will('after')
    const held = await client.queues.extendMany(queue, [handle], { visibilityTimeoutSeconds: 60 })
    expect([held.extended, flaky.came.length]).toEqual([[handle], 2])
    expect((await client.queues.ackMany(queue, [handle])).acked).toEqual([handle])
  })
})

describe('attempts', () => {
  test('are as many as was said, and what they met last is thrown', async () => {
    const { groups } = createClient({ baseUrl: flaky.url, retries: 1 })
    flaky.will(unavailable, unavailable, unavailable)
    await expect(groups.get('g')).rejects.toMatchObject({
      code: 'database_unavailable',
      status: 503,
      retryAfterSeconds: 0,
    })
    expect(flaky.came).toHaveLength(2)
    const never = createClient({ baseUrl: flaky.url, retries: 0 })
    flaky.will(overloaded)
    await expect(never.groups.get('g')).rejects.toMatchObject({ code: 'overloaded', status: 429 })
    expect(flaky.came).toHaveLength(1)
  })

  test('come no sooner than Retry-After says, and not at all where that is long', async () => {
    flaky.will({ status: 503, code: 'database_unavailable', retryAfter: '1' })
    const start = Date.now()
    expect(await client.groups.get(fresh())).toBeNull()
    expect(Date.now() - start).toBeGreaterThanOrEqual(990)
    flaky.will({ status: 429, code: 'overloaded', retryAfter: '3600' })
    await expect(client.groups.get('g')).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 300 })
    flaky.will({ status: 503, code: 'closed', retryAfter: new Date(Date.now() + 3_600_000).toUTCString() })
    await expect(client.groups.get('g')).rejects.toMatchObject({ code: 'closed' })
    expect(flaky.came).toHaveLength(1)
  })

  test('of a loop come no more often where Retry-After is longer than any timer', async () => {
    flaky.will(...Array<Deed>(1000).fill({ status: 429, code: 'overloaded', retryAfter: '99999999999' }))
    const loop = client.feeds.consume('f', 'c', () => {}, { onError: () => {} })
    await eventually(SOON_MS, 'it has asked', () => flaky.came.length > 0)
    await pause(500)
    await loop.stop()
    expect(flaky.came).toHaveLength(1)
  })

  test('end with the signal of the caller, by its reason: before, in an attempt, and between two', async () => {
    const why = new Error('enough')
    flaky.will()
    await expect(client.groups.get('g', { signal: AbortSignal.abort(why) })).rejects.toBe(why)
    expect(flaky.came).toEqual([])
    for (const deed of ['silent', { status: 429, code: 'overloaded', retryAfter: '20' }] as Deed[]) {
      const ending = new AbortController()
      flaky.will(deed)
      setTimeout(() => ending.abort(why), 100)
      const start = Date.now()
      await expect(client.groups.get('g', { signal: ending.signal })).rejects.toBe(why)
      expect(Date.now() - start).toBeLessThan(soonMs())
    }
  })

  test('are no more where the answer is a refusal', async () => {
    flaky.will()
    await expect(client.groups.recent('g', { limit: 0 })).rejects.toMatchObject({ status: 400 })
    await expect(client.queues.peek('nobody')).rejects.toMatchObject({ code: 'queue_not_found' })
    flaky.will({ status: 500, code: 'internal' })
    await expect(client.groups.get('g')).rejects.toMatchObject({ code: 'internal', status: 500 })
    expect(flaky.came).toHaveLength(1)
  })

  test('find no server: unreachable', async () => {
    const { groups } = createClient({ baseUrl: 'http://127.0.0.1:1', retries: 0 })
    const refused = groups.get('g')
    await expect(refused).rejects.toMatchObject({ code: 'unreachable', status: 503 })
    await expect(refused).rejects.not.toThrow('fetch failed') // it says why
  })
})
