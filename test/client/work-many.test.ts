/** `workMany` of the client against a server process: what the library's promises, over REST. */
import { z } from 'zod'
import { type Message, type Running, UnrecoverableError, workMany } from '../../src/client'
import type { BatchHandler, ClientWorkManyOptions } from '../../src/client/loops'
import { eventually, moment, soonMs } from '../support/timing'
import { useServer } from './support/server'
import { AT_ONCE, LONG_MS, numbers, useQueue } from './support/worked-queue'

const server = useServer()
const used = useQueue(server, 'many')
const { workers, sendNumbers } = used
let queue: string

beforeEach(() => {
  queue = used.name
})

const queues = () => server.client.queues
const inState = async (state: 'ready' | 'in-flight' | 'delayed' | 'dead') =>
  (await queues().peek(queue, { state, limit: 1000 })).messages
const bodies = (messages: Message<number>[]) => messages.map(({ body }) => body)
const inOrder = (list: unknown[]) => [...list].sort((a, b) => Number(a) - Number(b))

/** A worker that is stopped when the test is over. */
function many(handler: BatchHandler<Message<number>>, options: ClientWorkManyOptions<number> = {}): Running {
  const worker = workMany<number>(server.client, queue, handler, options)
  workers.push(worker)
  return worker
}

test('gets up to batchSize at once, each message once, in at most `concurrency` calls', async () => {
  await sendNumbers(250)
  const [calls, done]: [number[][], number[]] = [[], []]
  let [running, most] = [0, 0]
  let begin: () => void
  const second = new Promise<void>((resolve) => {
    begin = resolve
  })
  const worker = many(
    async (messages) => {
      most = Math.max(most, ++running)
      calls.push(bodies(messages))
      if (running === 2) begin()
      // However slow the machine is, the first runs until there is another beside it.
      await second
      running--
    },
    { batchSize: 40, concurrency: 2, onDone: ({ body }) => done.push(body) },
  )
  await eventually(LONG_MS, 'all are done', () => done.length === 250)
  await worker.stop()
  expect(inOrder(calls.flat())).toEqual(numbers(250))
  expect([Math.max(...calls.map(({ length }) => length)), most]).toEqual([40, 2])
  expect(calls.length).toBeLessThan(20)
  expect([...(await inState('ready')), ...(await inState('in-flight'))]).toEqual([])
})

test('waits for more, up to waitSeconds, while the claims of those that are there are extended', async () => {
  const calls: [number, number][][] = []
  const worker = many((messages) => void calls.push(messages.map(({ body, receiveCount }) => [body, receiveCount])), {
    batchSize: 4,
    waitSeconds: 14,
    visibilityTimeoutSeconds: 6,
  })
  await sendNumbers(1)
  await eventually(LONG_MS, 'the first is claimed', async () => (await inState('in-flight')).length === 1)
  await sendNumbers(1, 1)
  await eventually(LONG_MS, 'the second is claimed', async () => (await inState('in-flight')).length === 2)
  expect(calls).toEqual([])
  await eventually(LONG_MS, 'they have waited', () => calls.length === 1)
  const sentAt = performance.now()
  await sendNumbers(4, 2)
  await eventually(LONG_MS, 'as many as go at once do not wait', () => calls.length === 2)
  expect(performance.now() - sentAt).toBeLessThan(soonMs(2500))
  await worker.stop()
  expect(calls).toEqual([
    [
      [0, 1],
      [1, 1],
    ],
    [2, 3, 4, 5].map((body) => [body, 1]),
  ])
})

test('some fail, each with its error; the others are acknowledged', async () => {
  await sendNumbers(6)
  const [done, dead, errors]: [number[], unknown[], unknown[]] = [[], [], []]
  const worker = many(
    (messages) => ({
      failed: messages.flatMap((message): [Message<number>, unknown][] => {
        if (message.body === 1 && message.receiveCount === 1) return [[message, new Error('not yet')]]
        return message.body === 4 ? [[message, new UnrecoverableError('never')]] : []
      }),
    }),
    {
      backoff: AT_ONCE,
      onDone: ({ body }) => done.push(body),
      onDead: ({ body }, error) => dead.push([body, (error as Error).message]),
      onError: (error, message) => errors.push([message?.body, (error as Error).message]),
    },
  )
  await eventually(LONG_MS, 'all have ended', () => done.length + dead.length === 6)
  await worker.stop()
  expect([inOrder(done), done.at(-1), dead]).toEqual([[0, 1, 2, 3, 5], 1, [[4, 'never']]])
  expect(errors).toEqual([
    [1, 'not yet'],
    [4, 'never'],
  ])
})

test.each<[string, BatchHandler<Message<number>>, string]>([
  ['throws', () => Promise.reject(new Error('all of it')), 'all of it'],
  ['gives a message that it did not get', ([one]) => ({ failed: [[{ ...one } as Message<number>, 'no']] }), '/failed'],
  ['gives no list of what failed', (() => ({ failed: 7 })) as never, '/failed'],
])('all fail if the handler %s', async (_, handler, error) => {
  await sendNumbers(3)
  const failed: unknown[] = []
  many(handler, {
    backoff: { minSeconds: 600 },
    onError: (_error, message) => failed.push(message?.body),
  })
  await eventually(LONG_MS, 'all are nacked', async () => (await inState('delayed')).length === 3)
  expect(failed).toEqual([0, 1, 2])
  for (const { lastError } of await inState('delayed')) expect(lastError).toContain(error)
})

test('a schema fails what does not fit, and the handler gets the others; a hook is around the call', async () => {
  await queues().sendMany(queue, [{ body: 1 }, { body: 'two' }, { body: 3 }])
  const [seen, dead]: [unknown[], unknown[]] = [[], []]
  const worker = workMany<string>(
    server.client,
    queue,
    (messages) => void seen.push(messages.map(({ body }) => body)),
    {
      schema: z.number().transform(String),
      around: async (messages, next) => {
        seen.push(messages.length)
        await next()
        seen.push('after')
      },
      onError: () => {},
      onDead: ({ body }) => dead.push(body),
    },
  )
  workers.push(worker)
  await eventually(LONG_MS, 'the call has ended', () => seen.includes('after') && dead.length === 1)
  expect([seen, dead]).toEqual([[2, ['1', '3'], 'after'], ['two']])
})

test('a hold gives back all messages of the call, uncounted; one without a group fails alone', async () => {
  const groups = ['a', undefined, 'b', 'a']
  await queues().sendMany(
    queue,
    groups.map((messageGroup, body) => ({ body, messageGroup })),
  )
  const calls: [number, number][][] = []
  const [done, errors]: [number[], unknown[]] = [[], []]
  many(
    async (messages, { hold }) => {
      calls.push(messages.map(({ body, receiveCount }) => [body, receiveCount]))
      if (calls.length === 1) await hold('group', 1)
    },
    {
      backoff: AT_ONCE,
      onDone: ({ body }) => done.push(body),
      onError: (error, message) => errors.push([message?.body, (error as { code?: unknown }).code]),
    },
  )
  await eventually(LONG_MS, 'all are done', () => done.length === 4)
  expect(calls[0]?.length).toBe(4)
  expect(new Map(calls.slice(1).flat())).toEqual(new Map([0, 1, 2, 3].map((body) => [body, body === 1 ? 2 : 1])))
  expect(errors).toContainEqual([1, 'invalid_input'])
})

test('one whose claim is lost while it waits is not given to the handler; a stop handles what waits at once', async () => {
  const calls: number[][] = []
  const worker = many((messages) => void calls.push(bodies(messages)), {
    batchSize: 4,
    waitSeconds: 600,
    visibilityTimeoutSeconds: 6,
  })
  await sendNumbers(2)
  await eventually(LONG_MS, 'they are claimed', async () => (await inState('in-flight')).length === 2)
  const [lost] = await inState('in-flight')
  await queues().remove(queue, lost?.id as bigint)
  // The next extension finds that the claim is lost.
  const before = Number((await inState('in-flight'))[0]?.visibleAt)
  await eventually(
    LONG_MS,
    'the other is extended twice',
    async () => Number((await inState('in-flight'))[0]?.visibleAt) > before + 4000,
  )
  expect(calls).toEqual([])
  await worker.stop()
  expect(calls).toEqual([[1 - Number(lost?.body)]])
  expect([...(await inState('ready')), ...(await inState('in-flight'))]).toEqual([])
})

test('a stop without a moment to end aborts the signal, and returns all of the call', async () => {
  await sendNumbers(3)
  const begun = moment()
  let reason: unknown
  const worker = many((_, { signal }) => {
    signal.addEventListener('abort', () => {
      reason = signal.reason
    })
    begun.come()
    return new Promise(() => {})
  })
  await begun.reached
  await worker.stop({ timeoutSeconds: 0 })
  expect(String(reason)).toContain('stopped')
  expect(await inState('ready')).toHaveLength(3)
})

test('a message that may have killed a process is in a call alone on its last receive', async () => {
  await queues().update(queue, { maxReceives: 2 })
  await sendNumbers(3)
  expect(await queues().receive(queue, { limit: 3, visibilityTimeoutSeconds: 0 })).toHaveLength(3)
  const calls: number[][] = []
  many((messages) => void calls.push(bodies(messages)), { waitSeconds: 600 })
  await eventually(LONG_MS, 'all are done', () => calls.length === 3)
  expect(calls.map(({ length }) => length)).toEqual([1, 1, 1])
})

test('refuses what is no option, with every fault', () => {
  const options = { batchSize: 1001, waitSeconds: 3601, auto: true }
  expect(() => many('no handler' as never, options as never)).toThrow(
    expect.objectContaining({
      code: 'invalid_input',
      faults: [
        expect.objectContaining({ parameter: 'handler' }),
        ...['/batchSize', '/waitSeconds', '/auto'].map((pointer) => expect.objectContaining({ pointer })),
      ],
    }),
  )
})
