import type { Transaction } from '../../../src/index'
import { type Context, refusal } from '../context'
import { handlesOf, queueTools } from './tools'

/** Queues that hold a maximum of messages. */
export function describeFullQueues(context: Context): void {
  const queues = () => context.store.queues
  const { made, filled, pass } = queueTools(context)
  const code = async (call: Promise<unknown>) => (await refusal(call)).code
  const amount = async (queue: string) => {
    const { counts } = (await queues().get(queue)) as NonNullable<Awaited<ReturnType<Transaction['queues']['get']>>>
    return Object.values(counts).reduce((sum, count) => sum + count, 0)
  }

  describe('queues: maxMessages', () => {
    it('refuses what would bring more, in whatever state the messages are, and nothing else', async () => {
      const queue = await made({ maxMessages: 4 })
      await filled(queue, 3, (body) => (body === 1 ? { delaySeconds: 60 } : {}))
      const refused = await refusal(queues().sendMany(queue, [{ body: 4 }, { body: 5 }]))
      expect(refused).toMatchObject({ code: 'queue_full', status: 429, retryAfterSeconds: expect.any(Number) })
      expect(refused.message).toContain('maxMessages allows: 4')
      await queues().send(queue, 4)
      expect(await code(queues().send(queue, 5))).toBe('queue_full')
      const [first, second] = handlesOf(await queues().receive(queue, { limit: 2 })) as [string, string]
      await queues().nack(queue, first, { dead: true })
      expect(await code(queues().send(queue, 5))).toBe('queue_full')
      await queues().ack(queue, second)
      await queues().send(queue, 5)
      expect(await code(queues().send(queue, 6))).toBe('queue_full')
      await queues().update(queue, { maxMessages: 5 })
      await queues().send(queue, 6)
      await queues().update(queue, { maxMessages: null })
      await filled(queue, 10)
    })

    it('admits of a batch what there is room for, and holds a duplicate to be none', async () => {
      const [queue, other] = [await made({ maxMessages: 5 }), await made()]
      const sends = Array.from({ length: 40 }, (_, n) => queues().send(n % 4 ? queue : other, n))
      const outcomes = await Promise.allSettled(sends)
      const failed = outcomes.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
      expect(failed.map(({ reason }) => reason.code)).toEqual(Array(25).fill('queue_full'))
      expect([await amount(queue), await amount(other)]).toEqual([5, 10])
      const dedup = await made({ maxMessages: 1 })
      const { id } = await queues().send(dedup, 1, { dedupId: 'd' })
      expect(await queues().send(dedup, 1, { dedupId: 'd' })).toEqual({ id, sent: false })
      // A duplicate of a message that is refused is none.
      const fresh = await made({ maxMessages: 1 })
      const batch = [
        queues().sendMany(fresh, [{ body: 1, dedupId: 'e' }, { body: 2 }]),
        queues().send(fresh, 3, { dedupId: 'e' }),
      ]
      const [refused, sent] = await Promise.allSettled(batch)
      expect(refused).toMatchObject({ reason: { code: 'queue_full' } })
      expect(sent).toMatchObject({ value: { sent: true } })
    })

    it('applies at once to a store that has seen the queue without it, and in a transaction', async () => {
      const queue = await made()
      const other = await context.open()
      for (const body of [1, 2]) await other.queues.send(queue, body)
      await queues().update(queue, { maxMessages: 2 })
      expect(await code(other.queues.send(queue, 3))).toBe('queue_full')
      await queues().purge(queue)
      await context.store.transaction(async (tx) => {
        await tx.queues.send(queue, 1)
        await tx.queues.send(queue, 2)
        expect(await code(tx.queues.send(queue, 3))).toBe('queue_full')
      })
      expect(await amount(queue)).toBe(2)
    })

    it('of a dead-letter queue loses no dead letter, and refuses sends', async () => {
      const letters = await made({ maxMessages: 1 })
      const queue = await made({
        deadLetterQueue: letters,
        maxMessages: 3,
        visibilityTimeoutSeconds: 1,
        maxReceives: 1,
      })
      await filled(queue, 3)
      const handles = handlesOf(await queues().receive(queue, { limit: 3 }))
      await queues().nackMany(queue, handles.slice(0, 2), { dead: true })
      pass(2)
      expect(await queues().receive(queue)).toEqual([])
      expect(await amount(letters)).toBe(3)
      expect(await code(queues().send(letters, 1))).toBe('queue_full')
      await filled(queue, 2)
      expect(await queues().redrive(letters)).toEqual({ moved: 3 })
      expect(await amount(queue)).toBe(5)
    })

    it('has the tick of a schedule wait until there is room', async () => {
      const queue = await made({ maxMessages: 1 })
      const store = await context.open({ onBackgroundError: () => {} })
      const name = context.unique('s')
      await store.schedules.put(name, { queue, everySeconds: 86_400, body: 'tick' })
      await store.queues.send(queue, 'first')
      pass(86_400)
      expect(await store.schedules.tick()).toEqual({ sent: 0, failed: 1 })
      expect((await store.schedules.get(name))?.lastError).toContain('maxMessages allows: 1')
      await store.queues.purge(queue)
      pass(61)
      expect(await store.schedules.tick()).toEqual({ sent: 1, failed: 0 })
      expect((await store.queues.receive(queue))[0]?.body).toBe('tick')
      await store.schedules.drop(name)
    })
  })
}
