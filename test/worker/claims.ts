/** How a worker holds its claims, and releases them, on every engine. Times are real: nothing here moves the clock. */
import type { Message } from '../../src/shared/queue-types'
import type { EngineName } from '../support/engines'
import { soonMs } from '../support/timing'
import { Barrier, describeWithWorkers, inState, isEmpty, numbers, sendNumbers, sleep, until, upTo } from './support'

export function describeClaims(engine: EngineName, options: { memory?: boolean } = {}): void {
  describeWithWorkers(engine, 'the claims of a worker', options, (context) => {
    /** Resolves when the server hides so many messages longer than when they were first seen in flight. */
    const untilExtended = async (count: number) => {
      const { store, queue } = context
      const first = new Map<bigint, number>()
      await until(`${count} claims are extended`, async () => {
        const { messages } = await store.queues.peek(queue, { state: 'in-flight' })
        const times = messages.map(({ id, visibleAt }) => [id, visibleAt?.getTime() as number] as const)
        for (const [id, time] of times) if (!first.has(id)) first.set(id, time)
        return times.filter(([id, time]) => time > (first.get(id) as number)).length === count
      })
    }

    it('extends the visibility of what runs longer', async () => {
      const { store, queue, work } = context
      const claimed = { visibilityTimeoutSeconds: 6 }
      await sendNumbers(store, queue, 3)
      await store.queues.send(queue, 3, claimed)
      const begun: Message[] = []
      const aborted: unknown[] = []
      const extended = new Barrier()
      const handler = async (message: Message, { signal }: { signal: AbortSignal }) => {
        begun.push(message)
        signal.addEventListener('abort', () => aborted.push(signal.reason))
        await extended.opened
      }
      work(handler, { concurrency: 4, ...claimed })
      work(handler, { concurrency: 4, ...claimed })
      await untilExtended(4)
      extended.open()
      await until('the queue is empty', () => isEmpty(store, queue))
      expect(numbers(begun)).toEqual(upTo(4))
      expect(aborted).toEqual([])
    })

    it('counts a claim from its statement, however long the worker has waited before', async () => {
      const { store, queue, work } = context
      const ends: unknown[] = []
      work(
        async ({ id, visibleAt }) => {
          const now = await store.queues.message(queue, id)
          ends.push(Number(now?.visibleAt) - visibleAt.getTime())
        },
        { visibilityTimeoutSeconds: 6 },
      )
      // Half of a claim: then it is extended.
      await sleep(3300)
      await store.queues.send(queue, 1)
      await until('it is done', () => isEmpty(store, queue))
      expect(ends).toEqual([0])
    })

    it("extends by the messages' own visibility, or the queue's, where it has none of its own", async () => {
      const { store, queue, work } = context
      await store.queues.put(queue, { visibilityTimeoutSeconds: 8 })
      await store.queues.sendMany(queue, [{ body: 0, visibilityTimeoutSeconds: 6 }, { body: 1 }])
      await store.queues.send(queue, 2, { visibilityTimeoutSeconds: 0 })
      const begun: Message[] = []
      const extended = new Barrier()
      work(
        async (message) => {
          begun.push(message)
          await extended.opened
        },
        { concurrency: 3 },
      )
      await untilExtended(3)
      extended.open()
      await until('all are done', () => isEmpty(store, queue))
      expect(numbers(begun)).toEqual(upTo(3))
    })

    it('aborts the handler whose claim is lost, and does not settle by it', async () => {
      const { store, queue, work } = context
      await store.queues.send(queue, 'stolen')
      const begun: Message[] = []
      const reasons: unknown[] = []
      const second = new Barrier()
      const worker = work(
        async (message, { signal }) => {
          begun.push(message)
          if (message.receiveCount > 1) return second.opened
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
          reasons.push(signal.reason)
          throw signal.reason
        },
        { concurrency: 2, visibilityTimeoutSeconds: 6 },
      )
      await until('it has begun', () => begun.length === 1)
      await store.queues.nack(queue, (begun[0] as Message).receiptHandle)
      await until('it is reported', () => reasons.length === 1)
      await until('it was handed out again', () => begun.length === 2)
      expect(reasons[0]).toMatchObject({ name: 'AbortError' })
      // The failure of the first is not one of the second.
      await sleep(200)
      expect((await store.queues.peek(queue, { state: 'in-flight' })).messages).toMatchObject([
        { receiveCount: 2, lastError: null },
      ])
      second.open()
      await worker.stop()
      expect(await isEmpty(store, queue)).toBe(true)
    })

    it('runs by itself what may have killed its process, though it died of its timeout once and was redriven', async () => {
      const { store, queue, work } = context
      await store.queues.put(queue, { maxReceives: 2 })
      await store.queues.send(queue, 'killer')
      const over = async () => {
        const received = await store.queues.receive(queue, { visibilityTimeoutSeconds: 0 })
        expect(received).toMatchObject([{ body: 'killer' }])
        await until('it ran out', async () => (await inState(store, queue, 'in-flight')) === 0)
      }
      await over()
      await over()
      await until('it is dead', async () => (await inState(store, queue, 'dead')) === 1)
      expect(await store.queues.redrive(queue)).toEqual({ moved: 1 })
      await over()
      await sendNumbers(store, queue, 5)
      const running = new Set<unknown>()
      const beside: unknown[][] = []
      work(
        async ({ body, receiveCount, lastError }) => {
          if (body === 'killer') expect([receiveCount, lastError]).toEqual([2, expect.stringMatching(/ran out/)])
          beside.push([body, ...running])
          running.add(body)
          await sleep(300)
          running.delete(body)
        },
        { concurrency: 6, batchSize: 6 },
      )
      await until('all are done', () => isEmpty(store, queue))
      expect(beside).toHaveLength(6)
      expect(beside.filter((all) => all.includes('killer'))).toEqual([['killer']])
    })

    it('takes a message that its handler has settled itself, inside of a transaction', async () => {
      const { store, queue, work } = context
      await sendNumbers(store, queue, 5)
      const done: Message[] = []
      const errors: unknown[] = []
      work(
        async (message) => {
          await store.transaction(async (tx) => {
            await tx.groups.append(queue, { payload: message.body })
            await tx.queues.ack(queue, message.receiptHandle)
          })
          done.push(message)
        },
        { onError: (error) => errors.push(error) },
      )
      await until('all are done', () => done.length === 5)
      await until('the queue is empty', () => isEmpty(store, queue))
      expect((await store.groups.recent(queue)).totalAppended).toBe(5n)
      expect(errors).toEqual([])
    })

    it('may be started inside of a transaction, and belongs to none', async () => {
      const { store, queue, work } = context
      await sendNumbers(store, queue, 10)
      const done: Message[] = []
      await store.transaction(async () => {
        work(async (message) => {
          await store.queues.get(queue)
          done.push(message)
        })
      })
      await until('all are done', () => done.length === 10)
      await until('the queue is empty', () => isEmpty(store, queue))
    })

    it('stops: returns what has not begun at once and uncounted, lets end what runs, and claims no more', async () => {
      const { store, queue, work } = context
      await sendNumbers(store, queue, 400)
      const barrier = new Barrier()
      const done: Message[] = []
      let begun = 0
      const worker = work(
        async (message) => {
          if (++begun > 150) await barrier.opened
          done.push(message)
        },
        { concurrency: 5, batchSize: 50 },
      )
      await until('some wait', async () => begun === 155 && (await inState(store, queue, 'in-flight')) > 5)
      let stopped = false
      const stopping = worker.stop().then(() => {
        stopped = true
      })
      await until('they are back', async () => (await inState(store, queue, 'in-flight')) === 5)
      const back = (await store.queues.peek(queue, { limit: 1000 })).messages
      expect(back.length).toBe(400 - 155)
      expect(new Set(back.map(({ receiveCount }) => receiveCount))).toEqual(new Set([0]))
      await sleep(200)
      expect(stopped).toBe(false)
      barrier.open()
      await stopping
      await worker.stop()
      expect(done.length).toBe(155)
      expect(await inState(store, queue, 'in-flight')).toBe(0)
      expect(await inState(store, queue, 'ready')).toBe(400 - 155)
      await store.queues.send(queue, 'later')
      await sleep(200)
      expect(begun).toBe(155)
    })

    it('stops without a moment to end: aborts, waits a moment, and releases what does not end', async () => {
      const { store, queue, work } = context
      await sendNumbers(store, queue, 2)
      const reasons: unknown[] = []
      let begun = 0
      const worker = work(
        async ({ body }, { signal }) => {
          begun++
          if (body === 0) {
            await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
            reasons.push(signal.reason)
          } else await new Promise(() => {})
        },
        { concurrency: 2, visibilityTimeoutSeconds: 600 },
      )
      await until('both run', () => begun === 2)
      const stopping = worker.stop() // for ever
      const began = performance.now()
      await worker.stop({ timeoutSeconds: 0.2 })
      await stopping
      expect(performance.now() - began).toBeGreaterThan(150)
      expect(performance.now() - began).toBeLessThan(soonMs())
      expect(reasons).toMatchObject([{ name: 'AbortError' }])
      const left = await store.queues.receive(queue, { limit: 10 })
      expect(left).toMatchObject([{ body: 1, receiveCount: 2 }])
      expect(left[0]?.lastError).toMatch(/stopped/)
      await expect(worker.stop({ timeoutSeconds: -1 })).rejects.toMatchObject({ code: 'invalid_input' })
    })

    it('stops at once when it has nothing to do', async () => {
      const { work } = context
      const worker = work(() => {})
      await sleep(100)
      const began = performance.now()
      await worker.stop()
      expect(performance.now() - began).toBeLessThan(soonMs())
    })

    it('hands back what waits too long for its handlers, so that others get it', async () => {
      const { store, queue, work } = context
      await sendNumbers(store, queue, 300)
      const barrier = new Barrier()
      let begun = 0
      const slow = work(
        async () => {
          if (++begun > 100) await barrier.opened
        },
        { concurrency: 1, batchSize: 100, visibilityTimeoutSeconds: 6 },
      )
      await until('it is stuck', () => begun === 101)
      const done: Message[] = []
      const others = work((message) => void done.push(message), { concurrency: 1, visibilityTimeoutSeconds: 6 })
      await until('the others are done', () => done.length === 300 - 101)
      expect(new Set(done.map(({ receiveCount }) => receiveCount))).toEqual(new Set([1]))
      barrier.open()
      await Promise.all([slow.stop(), others.stop()])
      expect(await isEmpty(store, queue)).toBe(true)
    })
  })
}
