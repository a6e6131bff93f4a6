import type { Store } from '../../../src/index'
import type { Message, QueueSettings, SendOptions } from '../../../src/shared/queue-types'
import { type Context, refusal, sleep } from '../context'
import { transactionTools } from '../store/transaction-tools'
import { expectPlaces } from './group-places'
import { bodiesOf, byNumber, handlesOf, queueTools, range } from './tools'

/** At most `groupConcurrency` messages of a group are ready or in flight at once, and they are handled in the order sent. */
export function describeGroupConcurrency(context: Context): void {
  const queues = () => context.store.queues
  const { made, filled, one, pass, idsIn } = queueTools(context)
  const { WAYS, rolledBack } = transactionTools(context, 'queue_group_notes')

  const limited = (groupConcurrency: number, settings: QueueSettings = {}) => made({ groupConcurrency, ...settings })
  /** Messages of one group, with the bodies 1, 2, 3 … */
  const sendTo = (queue: string, messageGroup: string, count: number, options: SendOptions = {}) =>
    filled(queue, count, () => ({ messageGroup, ...options }))
  const receive = (queue: string) => queues().receive(queue, { limit: 100 })
  const done = (queue: string, messages: readonly Message[]) => queues().ackMany(queue, handlesOf(messages))
  const blocked = async (queue: string) => bodiesOf((await queues().peek(queue, { state: 'blocked' })).messages)

  /** The messages that are handed out until nothing is left, a round each, all of them deleted. */
  async function rounds(queue: string): Promise<unknown[][]> {
    const all: unknown[][] = []
    for (;;) {
      const messages = await receive(queue)
      if (messages.length === 0) return all
      all.push(bodiesOf(messages).sort())
      await done(queue, messages)
      await expectPlaces(context, queue)
    }
  }

  describe('queues: groupConcurrency', () => {
    it('hands out one message of a group at a time, in the order sent, whatever the priorities', async () => {
      const queue = await limited(1)
      for (const body of range(1, 4)) await queues().send(queue, body, { messageGroup: 'a', priority: body })
      await filled(queue, 3, (body) => ({ messageGroup: body === 2 ? 'c' : 'b' }))
      await queues().sendMany(queue, [{ body: 8 }, { body: 9 }])
      await expectPlaces(context, queue)
      expect(await queues().get(queue)).toMatchObject({ counts: { ready: 5, blocked: 4 }, groupConcurrency: 1 })
      expect(await blocked(queue)).toHaveLength(4)
      expect(await rounds(queue)).toEqual([[1, 1, 2, 8, 9], [2, 3], [3], [4]])
    })

    it('hands out three at a time, and the next one as soon as one of them is done', async () => {
      const queue = await limited(3)
      await sendTo(queue, 'a', 6)
      const first = await receive(queue)
      expect(bodiesOf(first)).toEqual([1, 2, 3])
      expect(await receive(queue)).toEqual([])
      await done(queue, first.slice(1, 2))
      expect(bodiesOf(await receive(queue))).toEqual([4])
      await done(queue, first)
      expect(bodiesOf(await receive(queue))).toEqual([5, 6])
      await expectPlaces(context, queue)
    })

    it('keeps a failed message before its followers: released, with a delay, timed out, given a new timeout', async () => {
      const queue = await limited(1)
      await sendTo(queue, 'a', 2)
      await queues().nack(queue, (await one(queue)).receiptHandle)
      await queues().nack(queue, (await one(queue)).receiptHandle, { delaySeconds: 100 })
      expect(await receive(queue)).toEqual([])
      pass(101)
      const late = await one(queue)
      expect(late).toMatchObject({ body: 1, receiveCount: 3 })
      await queues().extend(queue, late.receiptHandle, { visibilityTimeoutSeconds: 60 })
      pass(61)
      expect(await blocked(queue)).toEqual([2])
      await expectPlaces(context, queue)
      expect((await done(queue, [late])).acked).toHaveLength(1)
      expect(bodiesOf(await receive(queue))).toEqual([2])
    })

    it.each([false, true])(
      'lets the next one go when one is dead; redriven, it comes first: with another queue, %s',
      async (other) => {
        const dead = await limited(1)
        const queue = await limited(1, { maxReceives: 1, deadLetterQueue: other ? dead : null })
        await sendTo(queue, 'a', 5)
        const [first] = await receive(queue)
        await queues().nack(queue, first?.receiptHandle ?? '', { delaySeconds: 50 })
        expect(bodiesOf(await receive(queue))).toEqual([2])
        pass(31)
        const third = await one(queue)
        expect(third.body).toBe(3)
        for (const each of [queue, dead]) await expectPlaces(context, each)
        if (other) expect(await queues().get(dead)).toMatchObject({ counts: { ready: 1, blocked: 1 } })
        expect(await queues().redrive(other ? dead : queue)).toEqual({ moved: 2 })
        for (const each of [queue, dead]) await expectPlaces(context, each)
        expect(await receive(queue)).toEqual([])
        await done(queue, [third])
        expect(await rounds(queue)).toEqual([[1], [2], [4], [5]])
      },
    )

    it('waits for no message that was sent with a delay; once it is due, it goes before what was sent after it', async () => {
      const queue = await limited(1)
      await sendTo(queue, 'a', 1, { delaySeconds: 100 })
      await filled(queue, 3, (body) => ({ messageGroup: 'a', ...(body === 3 ? { dedupId: 'd' } : {}) }))
      expect((await queues().send(queue, 9, { messageGroup: 'a', dedupId: 'd' })).sent).toBe(false)
      const ids = await idsIn(queue, 'blocked')
      const first = await one(queue)
      expect(await queues().get(queue)).toMatchObject({ counts: { delayed: 1, blocked: 2, inFlight: 1 } })
      pass(25)
      await queues().extend(queue, first.receiptHandle, { visibilityTimeoutSeconds: 1000 })
      pass(80)
      expect(await idsIn(queue, 'blocked')).toHaveLength(ids.length + 1)
      await done(queue, [first])
      const next = await one(queue)
      expect(next.id).toBeLessThan(first.id)
      await done(queue, [next])
      expect(await rounds(queue)).toEqual([[2], [3]])
    })

    it('lets the next one go when a message is removed by its id, and purges what is blocked', async () => {
      const queue = await limited(2)
      const ids = await sendTo(queue, 'a', 6)
      for (const index of [0, 3]) expect(await queues().remove(queue, ids[index] ?? 0n)).toBe(true)
      await expectPlaces(context, queue)
      expect(bodiesOf(await receive(queue))).toEqual([2, 3])
      await sendTo(queue, 'b', 3)
      expect(await queues().purge(queue, { dryRun: true })).toEqual({ deleted: 5 })
      expect(await queues().purge(queue)).toEqual({ deleted: 5 })
      await expectPlaces(context, queue)
      await sendTo(queue, 'b', 3)
      expect(bodiesOf(await receive(queue))).toEqual([1, 2])
      expect(await queues().drop(queue)).toBe(true)
    })

    it('archives, and lets the next one go', async () => {
      const queue = await limited(1, { onAck: 'archive' })
      await sendTo(queue, 'a', 3)
      expect(await rounds(queue)).toEqual([[1], [2], [3]])
      expect(bodiesOf((await queues().peek(queue, { state: 'archived' })).messages)).toEqual([1, 2, 3])
    })

    it('can be set, changed and removed while messages are there, some of them in flight', async () => {
      const queue = await made({ maxReceives: null })
      await sendTo(queue, 'a', 450)
      await sendTo(queue, 'b', 2)
      await filled(queue, 3)
      const [held] = await queues().receive(queue, { limit: 1 })
      const change = async (groupConcurrency: number | null) => {
        expect(await queues().update(queue, { groupConcurrency })).toMatchObject({ groupConcurrency })
        await expectPlaces(context, queue, { most: 3 })
      }
      await change(1)
      expect(await queues().get(queue)).toMatchObject({ counts: { inFlight: 1, ready: 4, blocked: 450 } })
      const ready = await receive(queue)
      expect(ready.map(({ messageGroup }) => messageGroup).sort()).toEqual(['b', null, null, null])
      await queues().nack(queue, held?.receiptHandle ?? '', { delaySeconds: 100 })
      await change(3)
      const [second, third] = (await receive(queue)).filter(({ messageGroup }) => messageGroup === 'a')
      expect([second?.body, third?.body]).toEqual([2, 3])
      await change(1)
      await done(queue, [second as Message])
      expect(await receive(queue)).toEqual([])
      await done(queue, [third as Message])
      expect(await receive(queue)).toEqual([])
      pass(20)
      await queues().put(queue, { groupConcurrency: 2, maxReceives: null })
      await expectPlaces(context, queue)
      expect(bodiesOf(await receive(queue))).toEqual([4])
      await change(null)
      expect(await blocked(queue)).toEqual([])
      expect(await queues().ensure(queue, { groupConcurrency: 7 })).toMatchObject({ groupConcurrency: null })
      expect(await receive(queue)).toHaveLength(100)
    })

    it('ends, when it is changed, the handles of messages of groups that are ready again, and of no others', async () => {
      const queue = await made({ maxReceives: null })
      await sendTo(queue, 'a', 2)
      await filled(queue, 1)
      const messages = await receive(queue)
      expect(messages).toHaveLength(3)
      pass(31)
      expect((await queues().peek(queue)).messages).toHaveLength(3)
      await queues().update(queue, { groupConcurrency: 1 })
      const { acked: deleted, failed } = await done(queue, messages)
      expect(deleted).toHaveLength(1)
      expect(failed.map(({ code }) => code)).toEqual(['stale_receipt', 'stale_receipt'])
      await expectPlaces(context, queue)
    })

    it.each(WAYS)('changed in a transaction is applied by a receive or a sweeper afterwards: %s', async (_, run) => {
      const queue = await made()
      await sendTo(queue, 'a', 3)
      await run((tx) => tx.queues.update(queue, { groupConcurrency: 1 }))
      expect(bodiesOf(await receive(queue))).toEqual([1])
      await run((tx) => tx.queues.update(queue, { groupConcurrency: 2 }))
      const sweeping = await context.open({ sweep: true })
      await expectPlaces(context, queue, { withinMs: 20_000 })
      expect(bodiesOf(await sweeping.queues.receive(queue, { limit: 10 }))).toEqual([2])
    })

    it.each(WAYS)('holds in a transaction, and what is rolled back has changed nothing: %s', async (_, run) => {
      const queue = await limited(1)
      await sendTo(queue, 'a', 2)
      const [first] = await receive(queue)
      const work = async (tx: Parameters<Parameters<typeof run>[0]>[0]) => {
        await tx.queues.sendMany(queue, [
          { body: 3, messageGroup: 'a' },
          { body: 4, messageGroup: 'b' },
        ])
        expect((await tx.queues.ackMany(queue, [first?.receiptHandle ?? ''])).acked).toHaveLength(1)
        expect(bodiesOf(await tx.queues.receive(queue, { limit: 10 })).sort()).toEqual([2, 4])
      }
      await rolledBack(run, work)
      await expectPlaces(context, queue)
      expect(await blocked(queue)).toEqual([2])
      await run(work)
      await expectPlaces(context, queue)
      expect(await blocked(queue)).toEqual([3])
    })

    it('keeps the first message of a group in an endless loop until it is deleted', async () => {
      const queue = await limited(1, { maxReceives: null })
      await sendTo(queue, 'a', 2)
      const cycle = async () => (await queues().cycle(queue, { limit: 10 }))[0] as Message
      await queues().nack(queue, (await cycle()).receiptHandle)
      const again = await cycle()
      expect(again.body).toBe(1)
      await done(queue, [again])
      expect((await cycle()).body).toBe(2)
    })

    it.each([1, 3])('holds for receivers on several connections while others send: %i at once', async (most) => {
      const queue = await limited(most, { maxReceives: null, visibilityTimeoutSeconds: 43_200 })
      const stores = [context.store, await context.open()]
      const count = 120
      const open = new Map<string, Set<bigint>>()
      const ended = new Map<string, bigint[]>()
      const faults: string[] = []
      let left = count
      const handle = async (store: Store, message: Message) => {
        const group = message.messageGroup as string
        const others = open.get(group) ?? new Set()
        open.set(group, others.add(message.id))
        if (others.size > most) faults.push(`${group}: ${[...others]} at once`)
        await sleep(Math.random() * 4)
        const fails = message.receiveCount === 1 && message.id % 7n === 0n
        others.delete(message.id)
        if (fails) return store.queues.nackMany(queue, [message.receiptHandle])
        left--
        ended.set(group, [...(ended.get(group) ?? []), message.id])
        return store.queues.ackMany(queue, [message.receiptHandle])
      }
      const receiver = async (store: Store) => {
        while (left > 0) {
          const messages = await store.queues.receive(queue, { limit: 5, waitSeconds: 1 })
          await Promise.all(messages.map((message) => handle(store, message)))
        }
      }
      const sender = async (store: Store) => {
        for (let n = 0; n < count / 40; n++) {
          const some = range(1, 9).map((body) => ({ body, messageGroup: `g${(body + n) % 5}` }))
          await Promise.all([store.queues.sendMany(queue, some), store.queues.send(queue, 0, { messageGroup: 'g0' })])
        }
      }
      const twice = [...stores, ...stores]
      await Promise.all([...twice.map(sender), ...twice.map(receiver)])
      expect(faults).toEqual([])
      expect([...ended.values()].flat()).toHaveLength(count)
      if (most === 1) for (const ids of ended.values()) expect(ids).toEqual([...ids].sort(byNumber))
      await expectPlaces(context, queue)
    })

    it('is 1 to 1,000, or null', async () => {
      const queue = await limited(1000)
      for (const groupConcurrency of [0, 1001, 1.5, '1']) {
        const { faults } = await refusal(queues().put(queue, { groupConcurrency } as QueueSettings))
        expect(faults.map(({ pointer }) => pointer)).toEqual(['/groupConcurrency'])
      }
      expect(await queues().put(queue)).toMatchObject({ groupConcurrency: null })
    })
  })
}
