/** Workers whose handlers get many messages at once. */
import { z } from 'zod'
import { UnrecoverableError } from '../../src'
import type { BatchHandler } from '../../src/shared/handler-types'
import type { Message } from '../../src/shared/queue-types'
import type { WorkManyOptions } from '../../src/store/worker/types'
import type { EngineName } from '../support/engines'
import { Barrier, describeWithWorkers, inState, isEmpty, numbers, sendNumbers, sleep, until, upTo } from './support'

const AT_ONCE = { minSeconds: 0, maxSeconds: 0 }

export function describeMany(engine: EngineName): void {
  describeWithWorkers(engine, 'a worker of many', {}, (context) => {
    const workMany = (handler: BatchHandler<Message>, options: WorkManyOptions = {}) =>
      context.runs(context.store.queues.workMany(context.queue, handler, options))

    it('gets up to batchSize at once, and each message once', async () => {
      const { store, queue } = context
      await sendNumbers(store, queue, 250)
      const calls: Message[][] = []
      let [running, most] = [0, 0]
      const worker = workMany(
        async (messages) => {
          most = Math.max(most, ++running)
          calls.push(messages)
          await sleep(100)
          running--
        },
        { batchSize: 40, concurrency: 2 },
      )
      await until('all are done', () => isEmpty(store, queue))
      await worker.stop()
      expect(numbers(calls.flat())).toEqual(upTo(250))
      expect(Math.max(...calls.map(({ length }) => length))).toBe(40)
      expect(calls.length).toBeLessThan(60)
      expect(most).toBe(2)
    })

    it('waits for more, up to waitSeconds, while the claims of those that are there are extended', async () => {
      const { store, queue } = context
      const calls: number[][] = []
      const receives: number[] = []
      const worker = workMany(
        (messages) => {
          calls.push(numbers(messages))
          for (const { receiveCount } of messages) receives.push(receiveCount)
        },
        { batchSize: 4, waitSeconds: 12, visibilityTimeoutSeconds: 6 },
      )
      for (const n of [0, 1, 2]) {
        await store.queues.send(queue, n)
        await sleep(300)
      }
      expect(calls).toEqual([])
      await until('they have waited', () => calls.length === 1)
      await sendNumbers(store, queue, 4, 3)
      await until('as many as go at once do not wait', () => calls.length === 2, 9000)
      await worker.stop()
      expect(calls).toEqual([
        [0, 1, 2],
        [3, 4, 5, 6],
      ])
      expect(new Set(receives)).toEqual(new Set([1]))
      expect(await isEmpty(store, queue)).toBe(true)
    })

    it('some fail, each with its error; the others are acknowledged', async () => {
      const { store, queue } = context
      await sendNumbers(store, queue, 6)
      const [done, dead, errors]: [number[], unknown[], unknown[]] = [[], [], []]
      const worker = workMany(
        (messages) => ({
          failed: messages.flatMap((message): [Message, unknown][] => {
            if (message.body === 1 && message.receiveCount === 1) return [[message, new Error('not yet')]]
            return message.body === 4 ? [[message, new UnrecoverableError('never')]] : []
          }),
        }),
        {
          backoff: AT_ONCE,
          onDone: ({ body }) => done.push(body as number),
          onDead: ({ body }, error) => dead.push([body, (error as Error).message]),
          onError: (error, message) => errors.push([message?.body, (error as Error).message]),
        },
      )
      await until('all have ended', () => done.length + dead.length === 6)
      await worker.stop()
      expect(done.slice(0, -1)).toEqual([0, 2, 3, 5])
      expect(done.at(-1)).toBe(1)
      expect(dead).toEqual([[4, 'never']])
      expect(errors).toEqual([
        [1, 'not yet'],
        [4, 'never'],
      ])
      expect((await store.queues.peek(queue, { state: 'dead' })).messages).toMatchObject([
        { body: 4, lastError: 'UnrecoverableError: never' },
      ])
    })

    it.each<[string, BatchHandler<Message>, string]>([
      ['throws', () => Promise.reject(new Error('all of it')), 'all of it'],
      ['gives a message that it did not get', ([one]) => ({ failed: [[{ ...one } as Message, 'no']] }), '/failed'],
      ['gives no list of what failed', (() => ({ failed: 7 })) as never, '/failed'],
    ])('all fail if the handler %s', async (_, handler, error) => {
      const { store, queue } = context
      await sendNumbers(store, queue, 3)
      const failed: unknown[] = []
      const worker = workMany(handler, {
        backoff: { minSeconds: 600 },
        onError: (_error, message) => failed.push(message?.body),
      })
      await until('all are nacked', async () => (await inState(store, queue, 'delayed')) === 3)
      await worker.stop()
      expect(failed).toEqual([0, 1, 2])
      for (const { lastError } of (await store.queues.peek(queue, { state: 'delayed' })).messages) {
        expect(lastError).toContain(error)
      }
    })

    it('a schema fails what does not fit, and the handler gets the others; a hook is around the call', async () => {
      const { store, queue } = context
      await store.queues.sendMany(queue, [{ body: 1 }, { body: 'two' }, { body: 3 }])
      const [seen, hooked, dead]: [unknown[], unknown[], unknown[]] = [[], [], []]
      const handle = store.queue<number, string>(queue, { schema: z.number().transform(String) })
      const worker = context.runs(
        handle.workMany(
          (messages) => {
            seen.push(messages.map(({ body }) => body))
            return { failed: messages.slice(1).map((message) => [message, new UnrecoverableError('never')] as const) }
          },
          {
            around: async (messages, next) => {
              hooked.push(messages.map(({ body }) => body))
              await next()
            },
            onError: () => {},
            onDead: ({ body }) => dead.push(body),
          },
        ),
      )
      await until('two are dead', () => dead.length === 2)
      await until('one is done', () => isEmpty(store, queue))
      await worker.stop()
      expect(hooked).toEqual([[1, 'two', 3]])
      expect(seen).toEqual([['1', '3']])
      expect(new Set(dead)).toEqual(new Set(['two', '3']))
    })

    it('its claims are extended while it runs; the signal is aborted when the first is lost, and the others count', async () => {
      const { store, queue } = context
      await sendNumbers(store, queue, 3)
      const barrier = new Barrier()
      const [calls, done]: [Message[][], unknown[]] = [[], []]
      let aborted = false
      const worker = workMany(
        async (messages, { signal }) => {
          calls.push(messages)
          signal.addEventListener('abort', () => {
            aborted = true
          })
          await barrier.opened
        },
        { visibilityTimeoutSeconds: 6, onDone: ({ body }) => done.push(body) },
      )
      await until('it runs', () => calls.length === 1)
      const [[first, second] = []] = calls
      const visibleAt = async () => (await store.queues.message(queue, (first as Message).id))?.visibleAt ?? 0
      await until('they are extended', async () => (await visibleAt()) > (first as Message).visibleAt)
      expect(aborted).toBe(false)
      await store.queues.remove(queue, (second as Message).id)
      await until('it is aborted', () => aborted)
      barrier.open()
      await until('the others are done', () => isEmpty(store, queue))
      await worker.stop()
      expect(done).toEqual([0, 2])
      expect(calls).toHaveLength(1)
    })

    it('a hold gives back all messages of the call, uncounted, and what waits; one without a group fails alone', async () => {
      const { store, queue } = context
      const groups = ['a', undefined, 'b', 'a', 'a', 'b']
      await store.queues.sendMany(
        queue,
        groups.map((messageGroup, body) => ({ body, messageGroup })),
      )
      const calls: [number, number][][] = []
      const errors: unknown[] = []
      const worker = workMany(
        async (messages, { hold }) => {
          calls.push(messages.map(({ body, receiveCount }) => [body as number, receiveCount]))
          if (calls.length === 1) await hold('group', 1)
        },
        { batchSize: 4, backoff: AT_ONCE, onError: (error, message) => errors.push([message?.body, error]) },
      )
      await until('all are done', () => isEmpty(store, queue))
      await worker.stop()
      const held = calls[0]?.map(([body]) => body)
      expect(held).toContain(1)
      const [first, ...others] = [calls[0], ...calls.slice(1)]
      expect(first?.every(([, count]) => count === 1)).toBe(true)
      // A message that was held comes with the receive count that it had; the one without a group has failed.
      expect(new Map(others.flatMap((call) => call ?? []))).toEqual(
        new Map([0, 2, 3, 4, 5, 1].map((body) => [body, body === 1 ? 2 : 1])),
      )
      expect(errors).toContainEqual([1, expect.objectContaining({ code: 'invalid_input' })])
    })

    it('a hold of the queue hands out nothing until it ends, and gives back all', async () => {
      const { store, queue } = context
      await sendNumbers(store, queue, 3)
      const calls: [number, number[]][] = []
      const worker = workMany(async (messages, { hold }) => {
        calls.push([Date.now(), messages.map(({ receiveCount }) => receiveCount)])
        if (calls.length === 1) await hold('queue', 1)
      })
      await until('all are done', () => isEmpty(store, queue))
      await worker.stop()
      const [[heldAt, held] = [0, []], ...others] = calls
      expect(held).toEqual([1, 1, 1])
      expect(others.flatMap(([, counts]) => counts)).toEqual([1, 1, 1])
      for (const [at] of others) expect(at - heldAt).toBeGreaterThanOrEqual(900)
    })

    it('a stop in the middle lets the call end, and gives back what waits, uncounted', async () => {
      const { store, queue } = context
      const barrier = new Barrier()
      const calls: number[][] = []
      const worker = workMany(
        async (messages) => {
          calls.push(numbers(messages))
          await barrier.opened
        },
        { batchSize: 3, waitSeconds: 60, concurrency: 2 },
      )
      await sendNumbers(store, queue, 5)
      await until('one call runs, and two messages wait', async () => (await inState(store, queue, 'in-flight')) === 5)
      const stopped = worker.stop()
      await until('two are given back', async () => (await inState(store, queue, 'ready')) === 2)
      barrier.open()
      await stopped
      expect(calls).toHaveLength(1)
      const { messages } = await store.queues.peek(queue)
      expect(messages.map(({ receiveCount }) => receiveCount)).toEqual([0, 0])
      expect(await inState(store, queue, 'in-flight')).toBe(0)
    })

    it('a stop without a moment to end aborts the signal, and returns all of the call', async () => {
      const { store, queue } = context
      await sendNumbers(store, queue, 3)
      let reason: unknown
      let begun = 0
      const worker = workMany(
        (messages, { signal }) => {
          begun = messages.length
          signal.addEventListener('abort', () => {
            reason = signal.reason
          })
          return new Promise(() => {})
        },
        { onError: () => {} },
      )
      await until('it runs', () => begun === 3)
      await worker.stop({ timeoutSeconds: 0 })
      expect(String(reason)).toContain('stopped')
      expect(await inState(store, queue, 'ready')).toBe(3)
    })

    it('once, it takes what is there and does not wait', async () => {
      const { store, queue } = context
      await sendNumbers(store, queue, 25)
      const sizes: number[] = []
      const worker = workMany((messages) => void sizes.push(messages.length), {
        auto: false,
        batchSize: 10,
        waitSeconds: 600,
      })
      expect(await worker.once()).toEqual({ done: 25, failed: 0 })
      expect(sizes).toEqual([10, 10, 5])
    })
  })
}
