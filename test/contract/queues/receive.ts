import type { ReceiveOptions } from '../../../src/shared/queue-types'
import { type Context, refusal } from '../context'
import { bodiesOf, byNumber, handlesOf, messageIds, queueTools, range } from './tools'

export function describeQueueReceives(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, one, pass, idsIn } = queueTools(context)
  const now = () => Date.now() + context.clock.offsetMs

  describe('queues: receive', () => {
    it('gives a message whole', async () => {
      const queue = await made()
      const begun = now()
      const sent = await queues().send(queue, { to: 'a' }, { priority: 5, messageGroup: 'g' })
      const message = await one(queue)
      expect(message).toEqual({
        id: sent.id,
        body: { to: 'a' },
        receiveCount: 1,
        receiptHandle: expect.stringMatching(/^[\w-]{38}$/),
        sentAt: expect.any(Date),
        visibleAt: expect.any(Date),
        lastError: null,
        messageGroup: 'g',
        priority: 5,
        attributes: {},
        maxReceives: 5,
        firstReceivedAt: message.receivedAt,
        receivedAt: expect.any(Date),
        deadAt: null,
        deadReceiveCount: null,
      })
      const claimed = message.visibleAt.getTime() - 30_000
      expect(claimed).toBeGreaterThanOrEqual(message.sentAt.getTime())
      // The clock of the database may be a little off.
      expect(message.sentAt.getTime()).toBeGreaterThan(begun - 5_000)
      expect(claimed).toBeLessThan(now() + 5_000)
      expect(message.receivedAt.getTime()).toBe(claimed)
      const peeked = await queues().message(queue, sent.id)
      expect(peeked).toMatchObject({ visibleAt: message.visibleAt, lastReceivedAt: new Date(claimed) })
    })

    it('gives one message unless asked for more, and at most that number', async () => {
      const queue = await madeOf(1200)
      expect(bodiesOf(await queues().receive(queue))).toEqual([1])
      expect(bodiesOf(await queues().receive(queue, { limit: 7 }))).toEqual(range(2, 8))
      expect(await queues().receive(queue, { limit: 1000 })).toHaveLength(1000)
      expect(bodiesOf(await queues().receive(queue, { limit: 1000 }))).toEqual(range(1009, 1200))
      expect(await queues().receive(queue, { limit: 1000 })).toEqual([])
    })

    it('names every fault', async () => {
      const queue = await made()
      const wrong = {
        limit: 0,
        visibilityTimeoutSeconds: 43_201,
        waitSeconds: 21,
        cursor: '.',
      } as unknown as ReceiveOptions
      const error = await refusal(queues().receive(queue, wrong))
      expect([error.code, error.faults.map(({ pointer }) => pointer).sort()]).toEqual([
        'invalid_input',
        Object.keys(wrong)
          .map((key) => `/${key}`)
          .sort(),
      ])
      for (const options of [
        { limit: 1001 },
        { waitSeconds: -1 },
        { waitSeconds: 0.5 },
        { visibilityTimeoutSeconds: -1 },
      ]) {
        expect((await refusal(queues().receive(queue, options))).code).toBe('invalid_input')
      }
    })

    it('holds a message for the time of the request, of the message or of the queue, in this order', async () => {
      const queue = await made({ visibilityTimeoutSeconds: 100 })
      await filled(queue, 4, (body) => (body % 2 ? { visibilityTimeoutSeconds: 1000 } : {}))
      const held = [
        ...(await queues().receive(queue, { limit: 2 })),
        ...(await queues().receive(queue, { limit: 2, visibilityTimeoutSeconds: 10_000 })),
      ]
      const seconds = held.map(({ visibleAt, receivedAt }) => (visibleAt.getTime() - receivedAt.getTime()) / 1000)
      expect(seconds).toEqual([1000, 100, 10_000, 10_000])
      const expected: [number, unknown[]][] = [
        [95, []],
        [6, [2]],
        [890, [2]],
        [15, [1]],
        [8_980, [1, 2]],
        [20, [3, 4]],
      ]
      for (const [seconds, bodies] of expected) {
        pass(seconds)
        const again = await queues().receive(queue, { limit: 10 })
        expect([seconds, bodiesOf(again).sort()]).toEqual([seconds, bodies])
      }
    })

    it('hands a message out again after its time, under another handle and a count more', async () => {
      const queue = await madeOf(1)
      const seen = []
      for (let count = 1; count <= 4; count++) {
        const message = await one(queue)
        expect(message.receiveCount).toBe(count)
        seen.push(message)
        pass(25)
        expect(await queues().receive(queue)).toEqual([])
        pass(6)
      }
      expect(new Set(messageIds(seen)).size).toBe(1)
      expect(new Set(seen.map(({ receiptHandle }) => receiptHandle)).size).toBe(4)
      expect(new Set(seen.map(({ sentAt }) => sentAt.getTime())).size).toBe(1)
      const received = (await queues().message(queue, seen[0]?.id ?? 0n))?.lastReceivedAt?.getTime() ?? 0
      expect(received).toBe((seen[3]?.visibleAt.getTime() ?? 0) - 30_000)
    })

    it('with a visibility timeout of 0 hands out again at once, never twice in one batch', async () => {
      const queue = await madeOf(3, { visibilityTimeoutSeconds: 0 })
      for (let count = 1; count <= 4; count++) {
        const batch = await queues().receive(queue, { limit: 10 })
        expect(bodiesOf(batch).sort()).toEqual([1, 2, 3])
        expect(batch.map(({ receiveCount }) => receiveCount)).toEqual([count, count, count])
      }
    })

    it('with a visibility timeout of 0 is not twice in a batch that is not full, when its process has just looked', async () => {
      const queue = await madeOf(2)
      await queues().peek(queue)
      const batch = await queues().receive(queue, { limit: 10, visibilityTimeoutSeconds: 0 })
      expect(batch.map(({ body, receiveCount }) => [body, receiveCount])).toEqual([
        [1, 1],
        [2, 1],
      ])
      expect((await queues().ackMany(queue, handlesOf(batch))).failed).toEqual([])
    })

    it('goes by priority, then oldest first', async () => {
      const queue = await made()
      const priorities = [0, 5, -3, 1000, 5, 0, -1000, -3, 7]
      await filled(queue, priorities.length, (body) => ({ priority: priorities[body - 1] as number }))
      const sorted = range(1, 9).sort((a, b) => (priorities[b - 1] as number) - (priorities[a - 1] as number) || a - b)
      const received = []
      for (let n = 0; n < 3; n++) received.push(...bodiesOf(await queues().receive(queue, { limit: 3 })))
      expect(received).toEqual(sorted)
    })

    it('respects a higher priority that comes while others are handed out', async () => {
      const queue = await madeOf(50)
      const other = await context.open()
      for (let n = 1; n <= 10; n++) {
        expect(bodiesOf(await queues().receive(queue, { limit: 2 }))).toEqual([2 * n - 1, 2 * n])
        await queues().send(queue, `own ${n}`, { priority: n })
        expect((await queues().receive(queue))[0]?.body).toBe(`own ${n}`)
        // Of another process a claim may learn a little later.
        await other.queues.send(queue, `other ${n}`, { priority: n })
        const [message] = await other.queues.receive(queue)
        expect(message?.body).toBe(`other ${n}`)
      }
    })
  })

  describe('queues: receivers at the same time', () => {
    it('get disjoint messages, each one of them once', async () => {
      const other = context.engine === 'sqlite' ? context.store : await context.open()
      const queue = await madeOf(500)
      const received: bigint[] = []
      await Promise.all(
        range(1, 20).map(async (n) => {
          const receiver = n % 2 ? context.store : other
          for (;;) {
            const batch = await receiver.queues.receive(queue, { limit: 7 })
            received.push(...messageIds(batch))
            if (batch.length === 0) return
          }
        }),
      )
      expect(received).toHaveLength(500)
      expect(new Set(received).size).toBe(500)
      expect(await idsIn(queue, 'in-flight')).toHaveLength(500)
      expect(received.sort(byNumber)).toEqual((await idsIn(queue, 'in-flight')).sort(byNumber))
    })

    it('all count, and no message is with two within its time', async () => {
      const other = await context.open()
      const queue = await madeOf(40)
      for (let count = 1; count <= 3; count++) {
        const batches = await Promise.all(
          range(1, 20).map((n) => (n % 2 ? context.store : other).queues.receive(queue, { limit: 5 })),
        )
        const messages = batches.flat()
        // A message that another receiver is just making ready may be passed over; none is passed over for good.
        messages.push(...(await queues().receive(queue, { limit: 40 })))
        expect(new Set(messageIds(messages)).size).toBe(messages.length)
        expect(messages).toHaveLength(40)
        expect(messages.every(({ receiveCount }) => receiveCount === count)).toBe(true)
        pass(31)
      }
    })
  })
}
