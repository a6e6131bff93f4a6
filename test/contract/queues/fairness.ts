import type { Message } from '../../../src/shared/queue-types'
import type { Context } from '../context'
import { bodiesOf, handlesOf, queueTools, range } from './tools'

export function describeQueueFairness(context: Context): void {
  const queues = () => context.store.queues
  const { made, filled, pass } = queueTools(context)

  const send = (queue: string, messageGroup: string | null, count: number, more: object = {}) =>
    filled(queue, count, () => ({ messageGroup, ...more }))

  /** How many messages of each group there are. */
  function shares(messages: readonly Message[]): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { messageGroup } of messages) counts[messageGroup ?? ''] = (counts[messageGroup ?? ''] ?? 0) + 1
    return counts
  }

  const small = range(0, 9).map((n) => `small${n}`)
  const each = (count: number) => Object.fromEntries(['big', ...small].map((group) => [group, count]))

  describe('queues: message groups', () => {
    it('take turns: one of 2,000 and ten of 10, all eleven', async () => {
      const queue = await made()
      await send(queue, 'big', 2000)
      for (const group of small) await send(queue, group, 10)
      for (let turn = 0; turn < 10; turn++) {
        expect(shares(await queues().receive(queue, { limit: 11 }))).toEqual(each(1))
      }
      expect(shares(await queues().receive(queue, { limit: 100 }))).toEqual({ big: 100 })
    })

    it('take turns at once when they come after half of the backlog is done', async () => {
      const queue = await made()
      await send(queue, 'big', 2000)
      await queues().receive(queue, { limit: 1000 })
      const other = await context.open()
      await other.queues.sendMany(
        queue,
        small.flatMap((messageGroup) => range(1, 10).map((body) => ({ body, messageGroup }))),
      )
      expect(shares(await queues().receive(queue, { limit: 110 }))).toEqual(each(10))
      for (const group of small) await send(queue, group, 5)
      expect(shares(await queues().receive(queue, { limit: 55 }))).toEqual(each(5))
    })

    it('are in order within themselves', async () => {
      const queue = await made()
      await queues().sendMany(
        queue,
        range(1, 60).map((body) => ({ body, messageGroup: `g${body % 3 === 0 ? 'a' : body % 7 === 0 ? 'b' : 'c'}` })),
      )
      const last: Record<string, number> = {}
      for (let n = 0; n < 12; n++) {
        for (const { messageGroup, body } of await queues().receive(queue, { limit: 5 })) {
          expect(body).toBeGreaterThan(last[messageGroup ?? ''] ?? 0)
          last[messageGroup ?? ''] = body as number
        }
      }
      expect(Object.keys(last)).toHaveLength(3)
    })

    it('that were idle have saved up nothing, and those that were busy owe nothing', async () => {
      const queue = await made()
      await send(queue, 'busy', 200)
      await queues().ackMany(queue, handlesOf(await queues().receive(queue, { limit: 200 })))
      await send(queue, 'idle', 20)
      await send(queue, 'busy', 20)
      for (let turn = 0; turn < 4; turn++) {
        const got = shares(await queues().receive(queue, { limit: 10 }))
        expect(Math.abs((got.busy ?? 0) - (got.idle ?? 0))).toBeLessThanOrEqual(2)
      }
    })

    it('get no turn more by a message that is released', async () => {
      const queue = await made()
      await send(queue, 'a', 10)
      await send(queue, 'b', 10)
      const turns: string[] = []
      while (turns.filter((group) => group === 'b').length < 10) {
        const [message] = await queues().receive(queue)
        if (!message) break
        turns.push(message.messageGroup ?? '')
        if (message.messageGroup === 'a') await queues().nack(queue, message.receiptHandle)
        else await queues().ack(queue, message.receiptHandle)
      }
      expect(turns.length).toBeGreaterThanOrEqual(19)
      expect(turns.length).toBeLessThanOrEqual(21)
    })

    it('get no turn more by messages that were delayed, or timed out', async () => {
      for (const way of ['delayed', 'timed out']) {
        const queue = await made()
        await send(queue, 'late', 30, way === 'delayed' ? { delaySeconds: 20 } : {})
        if (way === 'timed out') await queues().receive(queue, { limit: 30 })
        await send(queue, 'steady', 100)
        expect(shares(await queues().receive(queue, { limit: 40 }))).toEqual({ steady: 40 })
        pass(31)
        // Ready now: 30 that were late, and 60 that were ready all the time (and 40 that timed out, behind them).
        for (let turn = 0; turn < 5; turn++) {
          const got = shares(await queues().receive(queue, { limit: 10 }))
          expect([way, turn, got.late]).toEqual([way, turn, expect.any(Number)])
          expect(Math.abs((got.late ?? 0) - (got.steady ?? 0))).toBeLessThanOrEqual(2)
        }
      }
    })

    it('come back from the dead without an advantage', async () => {
      const queue = await made()
      await send(queue, 'dead', 20)
      await queues().nackMany(queue, handlesOf(await queues().receive(queue, { limit: 20 })), { dead: true })
      await send(queue, 'steady', 40)
      await queues().receive(queue, { limit: 10 })
      await queues().redrive(queue)
      for (let turn = 0; turn < 3; turn++) {
        const got = shares(await queues().receive(queue, { limit: 10 }))
        expect(Math.abs((got.dead ?? 0) - (got.steady ?? 0))).toBeLessThanOrEqual(2)
      }
    })

    it('of messages without one are one', async () => {
      const queue = await made()
      await send(queue, null, 50)
      await send(queue, 'a', 10)
      await send(queue, 'b', 10)
      expect(shares(await queues().receive(queue, { limit: 30 }))).toEqual({ '': 10, a: 10, b: 10 })
    })

    it('take turns after the priority, within each', async () => {
      const queue = await made()
      await send(queue, 'a', 10)
      await send(queue, 'a', 20, { priority: 5 })
      await send(queue, 'b', 10, { priority: 5 })
      await send(queue, 'b', 10)
      const first = await queues().receive(queue, { limit: 20 })
      expect([shares(first), new Set(first.map(({ priority }) => priority))]).toEqual([{ a: 10, b: 10 }, new Set([5])])
      const second = await queues().receive(queue, { limit: 10 })
      expect([shares(second), second[0]?.priority]).toEqual([{ a: 10 }, 5])
      expect(shares(await queues().receive(queue, { limit: 10 }))).toEqual({ a: 5, b: 5 })
    })

    it('stay fair with many senders and receivers at work', async () => {
      const other = await context.open()
      const queue = await made()
      await send(queue, 'big', 1000)
      await Promise.all(
        small.map((messageGroup, n) =>
          (n % 2 ? other : context.store).queues.sendMany(
            queue,
            range(1, 20).map((body) => ({ body, messageGroup })),
          ),
        ),
      )
      const batches = await Promise.all(
        range(1, 10).map((n) => (n % 2 ? other : context.store).queues.receive(queue, { limit: 11 })),
      )
      const got = shares(batches.flat())
      expect(batches.flat()).toHaveLength(110)
      for (const group of ['big', ...small]) expect(Math.abs((got[group] ?? 0) - 10)).toBeLessThanOrEqual(2)
      expect(bodiesOf(batches.flat()).length).toBe(110)
    })
  })
}
