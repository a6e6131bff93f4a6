/** `client.queues.work` against a server process: what the library's worker promises, over REST. */
import { z } from 'zod'
import { type ClientWorkOptions, type Handler, type Message, UnrecoverableError } from '../../src/client'
import { eventually, moment } from '../support/timing'
import { counted } from './support/counted'
import { useServer } from './support/server'
import { AT_ONCE, LONG_MS, numbers, useQueue } from './support/worked-queue'

const server = useServer()
const used = useQueue(server, 'work')
const { workers, sendNumbers } = used
let queue: string

beforeEach(() => {
  queue = used.name
})

const queues = () => server.client.queues
const inState = async (state: 'ready' | 'in-flight' | 'delayed' | 'dead') =>
  (await queues().peek(queue, { state, limit: 1000 })).messages
const inOrder = (list: unknown[]) => [...list].sort((a, b) => Number(a) - Number(b))

/** A worker that is stopped when the test is over. */
function work(handler: Handler<number>, options: ClientWorkOptions<number> = {}) {
  const { counting, most } = counted(handler)
  const worker = queues().work<number>(queue, counting, options)
  workers.push(worker)
  return { worker, most }
}

test('handles every message once, as many at a time as it may, and calls onDone when each is gone', async () => {
  await sendNumbers(200)
  const [done, seen, dead]: [number[], Promise<unknown>[], unknown[]] = [[], [], []]
  const onDone = ({ id, body }: Message<number>) => {
    done.push(body)
    if (done.length % 50 === 0) seen.push(queues().message(queue, id))
  }
  const { worker, most } = work((_) => new Promise(setImmediate), {
    concurrency: 8,
    onDone,
    onDead: (m) => dead.push(m),
  })
  await eventually(LONG_MS, 'all are done', () => done.length === 200)
  await worker.stop()
  expect(inOrder(done)).toEqual(numbers(200))
  expect(await Promise.all(seen)).toEqual([null, null, null, null])
  expect([most, dead]).toEqual([{ handlers: 8, ofOne: 1 }, []])
})

test('a message that fails comes back, until its last receive; an UnrecoverableError is the last one', async () => {
  await queues().update(queue, { maxReceives: 2 })
  await sendNumbers(3)
  const [dead, errors, done]: [unknown[], unknown[], number[]] = [[], [], []]
  const { worker } = work(
    ({ body, receiveCount, lastError }) => {
      if (body === 1) throw new UnrecoverableError('no such customer')
      if (body === 2 && receiveCount === 2) return expect(lastError).toBe('2 of 1')
      throw new Error(`${body} of ${receiveCount}`)
    },
    {
      backoff: AT_ONCE,
      onError: (error) => errors.push((error as Error).message),
      onDead: ({ body, receiveCount }, error) => dead.push([body, receiveCount, (error as Error).message]),
      onDone: ({ body }) => done.push(body),
    },
  )
  await eventually(LONG_MS, 'all are ended', () => dead.length + done.length === 3)
  await worker.stop()
  expect([dead.sort(), done]).toEqual([
    [
      [0, 2, '0 of 2'],
      [1, 1, 'no such customer'],
    ],
    [2],
  ])
  expect(errors.sort()).toEqual(['0 of 1', '0 of 2', '2 of 1', 'no such customer'])
  expect((await inState('dead')).map(({ lastError }) => lastError).sort()).toEqual([
    '0 of 2',
    'UnrecoverableError: no such customer',
  ])
})

test('a failed message waits for the backoff', async () => {
  await sendNumbers(1)
  const { worker } = work(
    () => {
      throw new Error('not yet')
    },
    { backoff: { minSeconds: 1000, maxSeconds: 1000 }, onError: () => {} },
  )
  await eventually(LONG_MS, 'it waits', async () => (await inState('delayed')).length === 1)
  await worker.stop()
  const [waiting] = await inState('delayed')
  expect(Number(waiting?.visibleAt) - Number(waiting?.lastReceivedAt)).toBeGreaterThan(900_000)
})

test('extends the claim of a handler that takes longer, and the message stays its own', async () => {
  await sendNumbers(2)
  const goOn = moment()
  const done: number[] = []
  const options = {
    concurrency: 2,
    visibilityTimeoutSeconds: 6,
    onDone: ({ body }: Message<number>) => done.push(body),
  }
  const first = work(() => goOn.reached, options)
  await eventually(LONG_MS, 'they are taken', async () => (await inState('in-flight')).length === 2)
  const other = work(() => {}, options)
  const claimed = await inState('in-flight')
  // The second extension is made when the first claim would have run out.
  const until = Math.max(...claimed.map(({ visibleAt }) => Number(visibleAt))) + 4000
  await eventually(LONG_MS, 'the claims are extended twice', async () =>
    (await inState('in-flight')).every(({ visibleAt }) => Number(visibleAt) > until),
  )
  goOn.come()
  await eventually(LONG_MS, 'they are done', () => done.length === 2)
  expect([other.most.handlers, first.most.ofOne]).toEqual([0, 1])
})

test('a handler whose claim is lost learns it, and its result is not recorded', async () => {
  await sendNumbers(1)
  const [begun, lost] = [moment(), moment()]
  const done: unknown[] = []
  let reason: unknown
  const { worker } = work(
    async ({ id }, { signal }) => {
      signal.addEventListener('abort', () => lost.come())
      await queues().remove(queue, id)
      begun.come()
      await lost.reached
      reason = (signal.reason as Error).message
    },
    { visibilityTimeoutSeconds: 1, onDone: ({ body }) => done.push(body) },
  )
  await begun.reached
  await lost.reached
  await worker.stop()
  expect([reason, done]).toEqual(['The claim is lost', []])
})

test('stop waits for the handlers that run and for their deletion, and a second one for the same', async () => {
  await sendNumbers(2)
  const [begun, goOn] = [moment(), moment()]
  const { worker, most } = work(() => {
    begun.come()
    return goOn.reached
  })
  await begun.reached
  let isStopped = false
  const stopped = Promise.all([worker.stop(), worker.stop()]).then(() => {
    isStopped = true
  })
  expect(await inState('in-flight')).toHaveLength(1)
  expect(isStopped).toBe(false)
  goOn.come()
  await stopped
  expect([(await inState('in-flight')).length, (await inState('ready')).length, most.handlers]).toEqual([0, 1, 1])
})

test('stop with a short time limit aborts the handlers, and releases the messages of those that run on', async () => {
  await sendNumbers(2)
  const ends = moment()
  const begun: AbortSignal[] = []
  const { worker } = work(
    async ({ body }, { signal }) => {
      begun.push(signal)
      if (body === 0) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      else await ends.reached
    },
    { concurrency: 2 },
  )
  await eventually(LONG_MS, 'both run', () => begun.length === 2)
  await worker.stop({ timeoutSeconds: 0 })
  expect(begun.every(({ aborted }) => aborted)).toBe(true)
  const left = await inState('ready')
  expect(left.map(({ body, lastError }) => [body, lastError])).toEqual([
    [1, 'The worker was stopped before the handler ended'],
  ])
  ends.come()
})

test('a signal stops it, also one that was aborted before', async () => {
  // In the moment of a stop the server may still hand out a message, which comes back then.
  await queues().update(queue, { visibilityTimeoutSeconds: 1 })
  const stopping = new AbortController()
  const handled: unknown[] = []
  const first = work(({ body }) => handled.push(body), { signal: stopping.signal })
  const second = work(({ body }) => handled.push(body), { signal: AbortSignal.abort() })
  stopping.abort()
  await Promise.all([first.worker.stopped, second.worker.stopped])
  await sendNumbers(1)
  await eventually(LONG_MS, 'it is ready', async () => (await inState('ready')).length === 1)
  expect(handled).toEqual([])
})

test('`around` is around each handler, also for a body that does not fit, and `await using` stops', async () => {
  const told: unknown[] = []
  const around = async ({ body }: Message, next: () => Promise<unknown>) => {
    told.push(body)
    await next().finally(() => told.push('after'))
  }
  await queues().send(queue, 'text')
  await sendNumbers(1)
  const done: unknown[] = []
  const end = (message: Message) => done.push(message.body)
  const { worker } = work(({ body }) => told.push(body + 10), {
    ...{ around, schema: z.number(), onDone: end, onDead: end, onError: () => {} },
  })
  await eventually(LONG_MS, 'both have ended', () => done.length === 2)
  await worker[Symbol.asyncDispose]()
  await worker.stopped
  expect(told).toEqual(['text', 'after', 0, 10, 'after'])
})

test('messages that may have killed a process run alone on their last receive', async () => {
  await queues().update(queue, { maxReceives: 2 })
  await sendNumbers(6)
  expect(await queues().receive(queue, { limit: 6, visibilityTimeoutSeconds: 0 })).toHaveLength(6)
  const done: number[] = []
  const { most } = work(() => new Promise((resolve) => setTimeout(resolve, 5)), {
    concurrency: 6,
    onDone: ({ body }) => done.push(body),
  })
  await eventually(LONG_MS, 'all are done', () => done.length === 6)
  expect(most).toEqual({ handlers: 1, ofOne: 1 })
})

test('a body that does not fit the schema is a dead letter at once, and the handler gets the output', async () => {
  const mail = server.client.queue<{ at: Date }>(queue)
  await queues().sendMany(queue, [{ body: { at: '2026-11-21T10:00:00.000Z' } }, { body: { at: 'never' } }])
  const [seen, dead]: [unknown[], unknown[]] = [[], []]
  const worker = mail.work(({ body }) => seen.push(body.at.getUTCFullYear()), {
    schema: z.object({ at: z.coerce.date() }),
    onError: () => {},
    onDead: ({ body }) => dead.push(body),
  })
  workers.push(worker)
  await eventually(LONG_MS, 'both are ended', () => seen.length + dead.length === 2)
  await worker.stop()
  expect([seen, dead]).toEqual([[2026], [{ at: 'never' }]])
  const [letter] = await inState('dead')
  expect([letter?.receiveCount, letter?.lastError]).toEqual([
    1,
    expect.stringContaining('The body does not fit the schema: at: '),
  ])
})

test('a hook that throws is reported to onError with its message', async () => {
  await sendNumbers(1)
  const errors: unknown[] = []
  work(() => {}, {
    onDone: () => {
      throw new Error('from the hook')
    },
    onError: (error, message) => errors.push([(error as Error).message, message?.body]),
  })
  await eventually(LONG_MS, 'it is reported', () => errors.length > 0)
  expect(errors).toEqual([['from the hook', 0]])
})

test('a queue that is not there yet is an error, once, until it is there', async () => {
  const later = `later-${queue}`
  const errors: unknown[] = []
  const seen: unknown[] = []
  const onError = (error: unknown) => errors.push((error as { code?: unknown }).code)
  workers.push(queues().work(later, ({ body }) => seen.push(body), { onError }))
  await eventually(LONG_MS, 'it is reported', () => errors.length > 0)
  await queues().put(later)
  await queues().send(later, 'here')
  await eventually(LONG_MS, 'it works', () => seen.length === 1)
  expect(errors).toEqual(['queue_not_found'])
})

test('refuses what is no option, with every fault', () => {
  const options = { concurrency: 0, backoff: { minSeconds: 5, maxSeconds: 1 }, schema: {}, signal: 1, batchSize: 3 }
  const start = () => queues().work(queue, 'no handler' as never, options as never)
  expect(start).toThrow(expect.objectContaining({ code: 'invalid_input' }))
  const pointers = (() => {
    try {
      return start()
    } catch (error) {
      return (error as { faults: { pointer?: string; parameter?: string }[] }).faults
    }
  })() as { pointer?: string; parameter?: string }[]
  expect(pointers.map(({ pointer, parameter }) => pointer ?? parameter)).toEqual([
    'handler',
    '/concurrency',
    '/backoff',
    '/schema',
    '/signal',
    '/batchSize',
  ])
})
