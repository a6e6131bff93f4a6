import { openedOf } from '../../support/opened'
import { withoutTimers } from '../../support/timing'
import { type Context, refusal } from '../context'
import { transactionTools, type Work } from '../store/transaction-tools'
import { bodiesOf, handlesOf, queueTools } from './tools'

/** Receivers of this process are woken by whatever it commits, in whichever way, and by nothing that it takes back. */
export function describeQueuesWoken(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, one, pass } = queueTools(context)
  const { ALL_WAYS, rolledBack } = transactionTools(context, 'queue_woken_notes')

  /** The queues whose receivers were woken while `work` ran. */
  async function wokenBy(work: (woken: readonly string[]) => Promise<unknown>): Promise<string[]> {
    const woken: string[] = []
    const wake = jest
      .spyOn(openedOf(context.store).queues.waits, 'wake')
      .mockImplementation((queue) => woken.push(queue) > 0)
    try {
      await work(woken)
    } finally {
      wake.mockRestore()
    }
    return woken
  }

  describe('queues: receivers', () => {
    it('are woken by every operation that makes messages ready', async () => {
      const dead = await made()
      const queue = await made({ deadLetterQueue: dead, maxReceives: null })
      const held = async () => (await one(queue)).receiptHandle
      const changes: [() => Promise<unknown>, string[]][] = [
        [() => queues().send(queue, 1), [queue]],
        [() => queues().sendMany(dead, [{ body: 1 }, { body: 2, priority: 3 }]), [dead]],
        [() => queues().send(queue, 2, { delaySeconds: 100 }), []],
        [async () => queues().nackMany(queue, [await held()]), [queue]],
        [async () => queues().nackMany(queue, [await held()], { dead: true }), [dead]],
        [() => queues().redrive(dead), [queue]],
        [() => queues().pause(queue), []],
        [() => queues().resume(queue), [queue]],
        [async () => queues().ackMany(queue, [await held()]), []],
      ]
      for (const [change, names] of changes) expect(await wokenBy(change)).toEqual(names)
      pass(101)
      expect(await wokenBy(() => queues().peek(queue))).toEqual([queue])
    })

    it.each(ALL_WAYS)('are woken by what is sent in %s, and not before it is committed', async (_, run) => {
      const [queue, other] = [await made(), await madeOf(1)]
      const { receiptHandle } = await one(other)
      const woken = await wokenBy((heard) =>
        run(async (tx) => {
          await tx.queues.send(queue, 1)
          await tx.queues.nack(other, receiptHandle)
          expect(heard).toEqual([])
        }),
      )
      expect([...new Set(woken)].sort()).toEqual([queue, other].sort())
    })

    it.each(ALL_WAYS)('are not woken by what is rolled back in %s', async (_, run) => {
      const queue = await madeOf(1)
      const { receiptHandle } = await one(queue)
      const work: Work = async (tx) => {
        await tx.queues.send(queue, 1)
        await tx.queues.nack(queue, receiptHandle)
        await tx.queues.resume(queue)
      }
      expect(await wokenBy(() => rolledBack(run, work))).toEqual([])
    })

    it.each(ALL_WAYS)(
      'are not woken by an operation that was refused in %s, or taken back to a savepoint',
      async (_, run) => {
        const [gone, kept] = [await made(), await made()]
        const woken = await wokenBy(() =>
          run(async (tx) => {
            expect((await refusal(tx.queues.send(context.unique('no'), 1))).code).toBe('queue_not_found')
            await tx.queues.send(kept, 1)
            const nested = tx.manager.transaction(async (inner) => {
              await context.store.within(inner).queues.send(gone, 1)
              throw new Error('back')
            })
            await expect(nested).rejects.toThrow('back')
          }),
        )
        expect(woken).toEqual([kept])
      },
    )

    it.each(ALL_WAYS)('that wait are answered by the commit of %s alone: no timer runs', async (_, run) => {
      const queue = await made()
      const timers = withoutTimers()
      try {
        const received = queues().receive(queue, { limit: 10, waitSeconds: 20 })
        await run((tx) => tx.queues.sendMany(queue, [{ body: 1 }, { body: 2 }]))
        expect(bodiesOf(await received)).toEqual([1, 2])
      } finally {
        timers.mockRestore()
      }
    })

    it('claim what a transaction makes ready before the place that claims had come to', async () => {
      const queue = await madeOf(100)
      expect(handlesOf(await queues().receive(queue, { limit: 50 }))).toHaveLength(50)
      await context.store.transaction((tx) => tx.queues.send(queue, 'urgent', { priority: 5 }))
      expect(bodiesOf(await queues().receive(queue))).toEqual(['urgent'])
    })
  })
}
