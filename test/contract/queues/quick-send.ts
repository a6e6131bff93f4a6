import type { Store } from '../../../src/index'
import type { Context } from '../context'
import { bodiesOf, messageIds, range } from './tools'

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
        await store.queues.ack(queue, message?.receiptHandle as string)
      }
      // A guess that was wrong stops further ones for 100 ms.
      const failed = performance.now()
      while (performance.now() - failed < 150) await store.queues.send(queue, 'more').then(() => drained(store, queue))
      return { queue, store, other }
    }

    async function drained(store: Store, queue: string): Promise<unknown[]> {
      const messages = await store.queues.receive(queue, { limit: 10 })
      await store.queues.ackMany(
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

    it('in bulks of several INSERTs keep their order', async () => {
      const { queue, store } = await known()
      const bulk = range(1, 1000).map((n) => ({ body: `${n} ${'x'.repeat(300)}`, maxReceives: n % 2 ? 7 : null }))
      const sent = await store.queues.sendMany(queue, bulk)
      await store.queues.send(queue, 'last')
      const messages = await store.queues.receive(queue, { limit: 1000 })
      expect(bodiesOf(messages)).toEqual(bulk.map(({ body }) => body))
      expect(messageIds(messages)).toEqual(messageIds(sent))
      expect(messages[0]?.maxReceives).toBe(7)
      expect(bodiesOf(await store.queues.receive(queue))).toEqual(['last'])
    })

    it('in bulks at the same moment, of two stores, are each in their order', async () => {
      const { queue, store, other } = await known()
      for (const each of [store, other]) await each.queues.send(queue, 0)
      const bulks = range(0, 7).map((bulk) => range(1, 150).map((n) => ({ body: bulk * 1000 + n })))
      await Promise.all(bulks.map((bulk, at) => (at % 2 ? store : other).queues.sendMany(queue, bulk)))
      await other.queues.send(queue, -1, { messageGroup: 'a' })
      const bodies: number[] = []
      while (bodies.length < 1203) {
        const received = await store.queues.receive(queue, { limit: 1000 })
        expect(received.length).toBeGreaterThan(0)
        bodies.push(...received.map(({ body }) => body as number))
      }
      for (const [at, bulk] of bulks.entries()) {
        expect(bodies.filter((body) => Math.floor(body / 1000) === at && body % 1000 > 0)).toEqual(
          bulk.map(({ body }) => body),
        )
      }
      const [starts] = await store.dataSource.query(
        'SELECT MAX(m.virtual_start) AS most, MIN(f.next_start) AS next, MIN(f.top) AS top FROM recentn_queue_flows f ' +
          'JOIN recentn_queues q ON q.id = f.queue_id JOIN recentn_queue_messages m ON m.queue_id = q.id ' +
          "WHERE q.queue = ? AND f.message_group = '' AND m.message_group IS NULL",
        [queue],
      )
      expect(Number(starts.next)).toBeGreaterThan(Number(starts.most))
      expect(Number(starts.top)).toBeGreaterThanOrEqual(Number(starts.next))
    })

    it.each([1, 300])('are there once when a group is ahead: %i', async (count) => {
      const { queue, store, other } = await known()
      const body = context.unique('ahead')
      for (let n = 0; n < 3; n++) await other.queues.send(queue, n, { messageGroup: 'a' })
      const sent = await store.queues.sendMany(queue, Array(count).fill({ body }))
      expect(await rowsOf(body)).toBe(count)
      const messages = await store.queues.receive(queue, { limit: 1000 })
      const own = messages.filter((message) => message.body === body)
      expect(messageIds(own)).toEqual(messageIds(sent))
      expect(messages).toHaveLength(count + 3)
    })

    it('go to the new queue of its name', async () => {
      const { queue, store, other } = await known()
      const body = context.unique('again')
      await other.queues.drop(queue)
      await other.queues.put(queue)
      await store.queues.send(queue, body)
      expect(await rowsOf(body)).toBe(1)
      expect(await drained(other, queue)).toEqual([body])
    })

    it('are refused when it is gone, and leave nothing', async () => {
      const { queue, store, other } = await known()
      const body = context.unique('gone')
      await other.queues.drop(queue)
      await expect(store.queues.send(queue, body)).rejects.toMatchObject({ code: 'queue_not_found' })
      expect(await rowsOf(body)).toBe(0)
    })

    it('are received in a cycle that another process has begun', async () => {
      const { queue, store, other } = await known()
      await other.queues.cycle(queue, { cursor: 'c' })
      await store.queues.send(queue, 'cycled')
      expect(bodiesOf(await other.queues.cycle(queue, { cursor: 'c' }))).toEqual(['cycled'])
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
