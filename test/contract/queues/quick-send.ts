import type { Store } from '../../../src/index'
import type { Context } from '../context'
import { bodiesOf } from './tools'

/** Sends that are written before it is known whether the queue is still as this store last saw it. */
export function describeQueueQuickSends(context: Context): void {
  describe('queues: sends to a queue that has changed', () => {
    /** A queue to which this store sends without looking. */
    async function known(): Promise<{ queue: string; store: Store; other: Store }> {
      const [store, other] = [await context.open(), await context.open()]
      const queue = context.unique()
      await store.queues.put(queue)
      for (let n = 0; n < 2; n++) {
        await store.queues.send(queue, `before ${n}`)
        const [message] = await store.queues.receive(queue)
        await store.queues.delete(queue, message?.receiptHandle as string)
      }
      // A guess that was wrong stops further ones for 100 ms.
      const failed = performance.now()
      while (performance.now() - failed < 150) await store.queues.send(queue, 'more').then(() => drained(store, queue))
      return { queue, store, other }
    }

    async function drained(store: Store, queue: string): Promise<unknown[]> {
      const messages = await store.queues.receive(queue, { limit: 10 })
      await store.queues.delete(
        queue,
        messages.map(({ receiptHandle }) => receiptHandle),
      )
      return bodiesOf(messages)
    }

    const rowsOf = async (body: string) => {
      const sql = 'SELECT COUNT(*) AS n FROM recentn_queue_messages WHERE body = ?'
      const [row] = await context.store.dataSource.query(sql, [JSON.stringify(body)])
      return Number(row.n)
    }

    it('keep their order', async () => {
      const { queue, store } = await known()
      for (let n = 0; n < 5; n++) await store.queues.send(queue, n)
      const ids = await store.queues.sendMany(
        queue,
        [5, 6, 7].map((body) => ({ body })),
      )
      const messages = await store.queues.receive(queue, { limit: 10 })
      expect(bodiesOf(messages)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
      expect(messages.slice(5).map(({ id }) => id)).toEqual(ids.map(({ id }) => id))
    })

    it('are there once when a group is ahead', async () => {
      const { queue, store, other } = await known()
      const body = context.unique('ahead')
      for (let n = 0; n < 3; n++) await other.queues.send(queue, n, { messageGroup: 'a' })
      const { id } = await store.queues.send(queue, body)
      expect(await rowsOf(body)).toBe(1)
      const messages = await store.queues.receive(queue, { limit: 10 })
      expect(messages.find((message) => message.body === body)?.id).toBe(id)
      expect(messages).toHaveLength(4)
    })

    it('go to the new queue of its name', async () => {
      const { queue, store, other } = await known()
      const body = context.unique('again')
      await other.queues.deleteQueue(queue)
      await other.queues.put(queue)
      await store.queues.send(queue, body)
      expect(await rowsOf(body)).toBe(1)
      expect(await drained(other, queue)).toEqual([body])
    })

    it('are refused when it is gone, and leave nothing', async () => {
      const { queue, store, other } = await known()
      const body = context.unique('gone')
      await other.queues.deleteQueue(queue)
      await expect(store.queues.send(queue, body)).rejects.toMatchObject({ code: 'queue_not_found' })
      expect(await rowsOf(body)).toBe(0)
    })

    it('are received in a cycle that another process has begun', async () => {
      const { queue, store, other } = await known()
      await other.queues.receive(queue, { order: 'cycle', cursor: 'c' })
      await store.queues.send(queue, 'cycled')
      expect(bodiesOf(await other.queues.receive(queue, { order: 'cycle', cursor: 'c' }))).toEqual(['cycled'])
    })

    it('roll back with everything else', async () => {
      const { queue, store } = await known()
      const body = context.unique('rolled')
      const work = store.transaction(async (tx) => {
        await tx.queues.send(queue, body)
        throw new Error('mine')
      })
      await expect(work).rejects.toThrow('mine')
      expect(await rowsOf(body)).toBe(0)
    })
  })
}
