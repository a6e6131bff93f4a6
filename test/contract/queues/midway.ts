import type { Store } from '../../../src/index'
import type { Context } from '../context'
import { statementsOf } from '../statements'
import { handlesOf, queueTools } from './tools'

/** The effects of time on a queue while an operation of several transactions is under way there. */
export function describeQueuesMidway(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, pass, idsIn } = queueTools(context)

  /** A store before whose transaction of this number, counted from 1, a delay of 100 s is over in the queue. */
  async function overBefore(transaction: number, queue: string): Promise<Store> {
    let begun = 0
    const { store } = await statementsOf(context, async (sql) => {
      if (!/^(BEGIN|START) TRANSACTION/.test(sql) || ++begun !== transaction) return
      pass(101)
      await queues().peek(queue)
    })
    return store
  }

  describe('queues: a delay that is over midway', () => {
    it.each([1, 2, 3, 4])('hides no message from a purge: transaction %i', async (transaction) => {
      const queue = await madeOf(600)
      await queues().send(queue, 'urgent', { delaySeconds: 100, priority: 9 })
      const store = await overBefore(transaction, queue)
      expect(await store.queues.purge(queue)).toEqual({ deleted: 601 })
      expect([await idsIn(queue, 'ready'), await idsIn(queue, 'delayed')]).toEqual([[], []])
    })

    it.each([1, 2, 3, 4])('hides no dead letter from a redrive: transaction %i', async (transaction) => {
      const dead = await made()
      const queue = await made({ deadLetterQueue: dead })
      await filled(queue, 250, (body) => ({ priority: body === 1 ? 9 : 0 }))
      await queues().nackMany(queue, handlesOf(await queues().receive(queue, { limit: 250 })), { dead: true })
      const [urgent] = await queues().receive(dead)
      await queues().nack(dead, urgent?.receiptHandle ?? '', { delaySeconds: 100 })
      const store = await overBefore(transaction, dead)
      expect(await store.queues.redrive(dead)).toEqual({ moved: 250 })
      expect([await idsIn(dead, 'ready'), await idsIn(dead, 'delayed')]).toEqual([[], []])
    })
  })
}
