/** How a worker handles its messages, on every engine. Times are real: nothing here moves the clock. */

import { openStore, RecentnError, UnrecoverableError } from '../../src'
import type { Message } from '../../src/shared/queue-types'
import { innerOf } from '../../src/store/inner'
import type { WorkOptions } from '../../src/store/worker/types'
import type { EngineName } from '../support/engines'
import { withoutTimers } from '../support/timing'
import { describeWithWorkers, inState, isEmpty, numbers, sendNumbers, sleep, until, upTo } from './support'

const NOW = { minSeconds: 0, maxSeconds: 0 }

export function describeHandling(engine: EngineName, options: { memory?: boolean } = {}): void {
  describeWithWorkers(engine, 'a worker', options, (context) => {
    it('names every fault of its options at once, before it does anything', () => {
      const { store, work } = context
      const wrong = {
        concurrency: 0,
        batchSize: 1001,
        visibilityTimeoutSeconds: 1.5,
        backoff: { minSeconds: -1, max: 3 },
        onError: 'log',
        onDone: 1,
        onDead: null,
        auto: 1,
        retries: 3,
      } as unknown as WorkOptions
      let error: unknown
      try {
        work('no function' as never, wrong)
      } catch (thrown) {
        error = thrown
      }
      expect(error).toBeInstanceOf(RecentnError)
      const { code, faults } = error as RecentnError
      expect(code).toBe('invalid_input')
      expect(faults.map(({ pointer, parameter }) => pointer ?? parameter).sort()).toEqual([
        '/auto',
        '/backoff/max',
        '/backoff/minSeconds',
        '/batchSize',
        '/concurrency',
        '/onDead',
        '/onDone',
        '/onError',
        '/retries',
        '/visibilityTimeoutSeconds',
        'handler',
      ])
      expect(() => work(() => {}, { backoff: { minSeconds: 9, maxSeconds: 8 } })).toThrow(/maxSeconds/)
      expect(() => store.queues.work('', () => {})).toThrow(/queue/)
    })

    it('handles every message once, so many at once as it may, and removes them', async () => {
      const { store, queue, work } = context
      await sendNumbers(store, queue, 1500)
      const done: Message[] = []
      let running = 0
      let most = 0
      work(
        async (message) => {
          most = Math.max(most, ++running)
          await sleep(1)
          running--
          done.push(message)
        },
        { concurrency: 20, batchSize: 100 },
      )
      await until('all are done', () => done.length >= 1500)
      await until('the queue is empty', () => isEmpty(store, queue))
      expect(numbers(done)).toEqual(upTo(1500))
      expect(most).toBe(20)
    })

    it('starts a message that is sent while it waits by the send, and not by its next look', async () => {
      const { store, queue, work } = context
      let begun = 0
      work(() => void begun++)
      await until('it waits', () => innerOf(store).counts().receivesWaiting === 1)
      // From now on no look comes due: timers that are set do not run.
      const timers = withoutTimers()
      try {
        for (let n = 0; n < 15; n++) {
          await store.queues.send(queue, n)
          await until('it has begun', () => begun > n)
        }
      } finally {
        timers.mockRestore()
      }
    })

    it('releases a message that fails, with the error, and hands it out again; a handler may throw anything', async () => {
      const { store, queue, work } = context
      const thrown = [new Error('the first'), 'a text', Object.create(null), new TypeError('')]
      const seen: Message[] = []
      const told: [unknown, Message | undefined][] = []
      await store.queues.send(queue, 'once')
      work(
        (message) => {
          seen.push(message)
          if (seen.length === 1) throw thrown[0]
          if (seen.length <= thrown.length) return Promise.reject(thrown[seen.length - 1])
        },
        { backoff: NOW, onError: (error, message) => told.push([error, message]) },
      )
      await until('it went well', () => seen.length === 5)
      await until('the queue is empty', () => isEmpty(store, queue))
      expect(seen.map(({ receiveCount }) => receiveCount)).toEqual([1, 2, 3, 4, 5])
      expect(seen.map(({ lastError }) => lastError)).toEqual([null, 'the first', 'a text', '{}', 'TypeError'])
      expect(told).toEqual(thrown.map((error, n) => [error, seen[n]]))
    })

    it('backs off: the pauses grow, and nothing is in flight in between', async () => {
      const { store, queue, work } = context
      await store.queues.send(queue, 'fails')
      const begun: number[] = []
      work(
        () => {
          begun.push(performance.now())
          throw new Error('x'.repeat(2000))
        },
        { backoff: { minSeconds: 1, maxSeconds: 10 } },
      )
      const errors = new Set<string | null>()
      await until('it is released', async () => {
        const { messages } = await store.queues.peek(queue, { state: 'delayed' })
        return messages.some(({ lastError }) => errors.add(lastError))
      })
      expect([...errors]).toEqual(['x'.repeat(1000)])
      await until('it has failed three times', () => begun.length >= 3)
      const [first = 0, second = 0, third = 0] = begun
      expect(second - first).toBeGreaterThan(900)
      expect(third - second).toBeGreaterThan(1900)
    })

    it('makes a message dead that fails as often as it may', async () => {
      const { store, queue, work } = context
      await store.queues.put(`${queue}-dead`)
      await store.queues.put(queue, { maxReceives: 3, deadLetterQueue: `${queue}-dead` })
      await store.queues.send(queue, 'hopeless')
      let tries = 0
      work(() => Promise.reject(new Error(`try ${++tries}`)), { backoff: NOW })
      await until('it is dead', async () => (await inState(store, `${queue}-dead`, 'ready')) === 1)
      expect(tries).toBe(3)
      expect((await store.queues.peek(`${queue}-dead`)).messages[0]?.lastError).toBe('try 3')
    })

    it.each([true, false])('never tries again what a handler says is hopeless: dead-letter queue %s', async (named) => {
      const { store, queue, work } = context
      const letters = `${queue}-dead`
      await store.queues.put(letters)
      await store.queues.put(queue, { maxReceives: 9, deadLetterQueue: named ? letters : null })
      await sendNumbers(store, queue, 3)
      class NoSuchAddress extends UnrecoverableError {
        override readonly name = 'NoSuchAddress'
      }
      const ofAnotherCopy = Object.assign(new Error('no. 1'), { name: 'UnrecoverableError' })
      const thrown = [new UnrecoverableError('no. 0'), ofAnotherCopy, new NoSuchAddress('no. 2')]
      const told: unknown[] = []
      work(({ body }) => Promise.reject(thrown[body as number]), { backoff: NOW, onError: (e) => told.push(e) })
      const [where, state] = named ? ([letters, 'ready'] as const) : ([queue, 'dead'] as const)
      await until('they are dead', async () => (await inState(store, where, state)) === 3)
      const { messages } = await store.queues.peek(where, { state })
      expect(messages.map(({ lastError }) => lastError).sort()).toEqual([
        'NoSuchAddress: no. 2',
        'UnrecoverableError: no. 0',
        'UnrecoverableError: no. 1',
      ])
      expect(new Set(told)).toEqual(new Set(thrown))
      expect(told).toHaveLength(3)
    })

    it('continues when a handler never ends: that one only holds its place', async () => {
      const { store, queue, work } = context
      await sendNumbers(store, queue, 40)
      const done: number[] = []
      const worker = work(({ body }) => (body === 3 ? new Promise<void>(() => {}) : void done.push(body as number)), {
        concurrency: 2,
      })
      await until('the others are done', () => done.length === 39)
      await until('one is left', async () => (await inState(store, queue, 'in-flight')) === 1)
      await worker.stop({ timeoutSeconds: 0 })
      await sendNumbers(store, queue, 1, 3)
      expect(numbers(await store.queues.receive(queue, { limit: 10 }))).toEqual([3, 3])
    })

    it('waits while the queue is paused, and continues when it is not any more', async () => {
      const { store, queue, work } = context
      await store.queues.pause(queue)
      await store.queues.send(queue, 1)
      const done: Message[] = []
      work((message) => void done.push(message))
      await sleep(700)
      expect(done).toEqual([])
      await store.queues.resume(queue)
      await until('it is done', () => done.length === 1, 3000)
    })

    it('hands out nothing of what its handler holds, and gives the message back uncounted', async () => {
      const { store, queue, work } = context
      const sent = ['a', 'b', 'a', 'b', 'a'].map((messageGroup, body) => ({ body, messageGroup }))
      await store.queues.sendMany(queue, sent)
      const seen: [unknown, number][] = []
      work(async ({ body, receiveCount }, { hold }) => {
        seen.push([body, receiveCount])
        if (seen.length === 1) await hold('group', 1)
      })
      await until('all are done', () => isEmpty(store, queue))
      expect(seen.slice(0, 3).map(([body]) => body)).toEqual([0, 1, 3])
      expect(seen.slice(3).sort()).toEqual([
        [0, 1],
        [2, 1],
        [4, 1],
      ])
    })

    it('waits for a queue that does not exist yet, and says so once', async () => {
      const { store, queue, work } = context
      await store.queues.drop(queue)
      const errors: unknown[] = []
      const done: Message[] = []
      work((message) => void done.push(message), { onError: (error) => errors.push(error) })
      await until('it says so', () => errors.length > 0)
      await sleep(1000)
      expect(errors).toMatchObject([{ code: 'queue_not_found' }])
      await store.queues.put(queue)
      await store.queues.send(queue, 1)
      await until('it is done', () => done.length === 1)
      expect(errors.length).toBe(1)
    })

    it('without onError warns of each kind of error of a handler once, until one succeeds', async () => {
      const { store, queue, work } = context
      const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
      try {
        const texts = ['no', 'no', 'never', 'no', '', 'no', ...upTo(20).map((n) => `number ${n}`)]
        await store.queues.sendMany(
          queue,
          texts.map((body) => ({ body })),
        )
        work(
          ({ body }) => {
            if (body !== '') throw new Error(String(body))
          },
          { backoff: { minSeconds: 60, maxSeconds: 60 } },
        )
        await until('all are handled', async () => (await inState(store, queue, 'delayed')) === texts.length - 1)
        const warned = warnings.mock.calls.map(([text]) => String(text))
        const kinds = ['no', 'never', 'no', ...upTo(9).map((n) => `number ${n}`)]
        const begins = kinds.map((kind) => `recentn could not work on the queue ${queue}: ${kind} (without onError`)
        expect(warned).toEqual(begins.map((text) => expect.stringContaining(text)))
        expect(warnings).toHaveBeenLastCalledWith(expect.anything(), { code: 'RECENTN_WORKER' })
      } finally {
        warnings.mockRestore()
      }
    })

    it('without onError warns of a queue that does not exist, once', async () => {
      const { store, queue, work } = context
      await store.queues.drop(queue)
      const warnings = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
      try {
        const done: Message[] = []
        work((message) => void done.push(message))
        await until('it warns', () => warnings.mock.calls.length > 0)
        await sleep(500)
        await store.queues.put(queue)
        await store.queues.send(queue, 1)
        await until('it is done', () => done.length === 1)
        expect(warnings.mock.calls).toEqual([
          [expect.stringMatching(`${queue}: .*There is no queue`), { code: 'RECENTN_WORKER' }],
        ])
      } finally {
        warnings.mockRestore()
      }
    })

    it('continues whatever its onError does', async () => {
      const { store, queue, work } = context
      const warned: string[] = []
      const warnings = jest.spyOn(process, 'emitWarning').mockImplementation((text) => void warned.push(String(text)))
      await sendNumbers(store, queue, 2)
      let failed = 0
      work(() => Promise.reject(new Error('no')), {
        backoff: { minSeconds: 60, maxSeconds: 60 },
        onError: () => {
          if (++failed === 1) throw new Error('thrown by onError')
          return Promise.reject(new Error('rejected by onError')) as unknown as undefined
        },
      })
      await until('both are released', async () => (await inState(store, queue, 'delayed')) === 2)
      await until('both are warned of', () => warned.length >= 2)
      expect(warned.join()).toMatch(/thrown by onError.*rejected by onError/)
      warnings.mockRestore()
    })

    it('ends by itself when the store is closed', async () => {
      const { store, queue } = context
      if (options.memory) return // another store would be another database
      const other = await openStore({ url: context.url })
      await sendNumbers(store, queue, 3)
      const done: Message[] = []
      const worker = other.queues.work(queue, (message) => void done.push(message))
      await until('they are done', async () => done.length === 3 && (await isEmpty(store, queue)))
      await other.close()
      await worker.stop()
      await store.queues.send(queue, 'later')
      await sleep(200)
      expect(done.length).toBe(3)
    })
  })
}
