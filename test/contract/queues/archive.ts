import type { WholeMessage } from '../../../src/shared/queue-types'
import { openedOf } from '../../support/opened'
import type { Context } from '../context'
import { bodiesOf, handlesOf, queueTools } from './tools'

export function describeQueueArchives(context: Context): void {
  const queues = () => context.store.queues
  const { made, madeOf, filled, one, pass, idsIn } = queueTools(context)

  /** Receives and deletes all that the queue has ready. */
  async function done(queue: string): Promise<void> {
    await queues().ackMany(queue, handlesOf(await queues().receive(queue, { limit: 1000 })))
  }

  const isArchived = async (id: bigint) => {
    const rows: unknown[] = await context.store.dataSource.query('SELECT id FROM recentn_queue_archive WHERE id = ?', [
      String(id),
    ])
    return rows.length === 1
  }

  /** The first work of a store's sweeper, until nothing is left to do. */
  async function sweep(): Promise<void> {
    const { queues: swept } = openedOf(await context.open())
    while ((await swept.sweep({ all: true })).more) {}
  }

  describe('queues: the archive', () => {
    it('keeps what was deleted, with all that is known of it', async () => {
      const queue = await made({ onAck: 'archive', maxReceives: 5 })
      const { id } = await queues().send(queue, { a: 'x' }, { priority: 4, messageGroup: 'g' })
      await queues().nack(queue, (await one(queue)).receiptHandle, { error: 'at first' })
      const message = await one(queue)
      pass(10)
      const begin = Date.now() + context.clock.offsetMs
      await queues().ack(queue, message.receiptHandle)
      const { failures, ...archived } = (await queues().message(queue, id)) as WholeMessage
      expect(failures).toMatchObject([{ receiveCount: 1, error: 'at first' }])
      expect(archived).toMatchObject({
        ...{ id, state: 'archived', body: { a: 'x' }, receiveCount: 2, maxReceives: 5, sentAt: message.sentAt },
        ...{ lastError: 'at first', messageGroup: 'g', priority: 4 },
        lastReceivedAt: new Date(message.visibleAt.getTime() - 30_000),
      })
      expect(Math.abs((archived.archivedAt?.getTime() ?? 0) - begin)).toBeLessThan(5_000)
      expect((await queues().peek(queue, { state: 'archived' })).messages).toEqual([archived])
      for (const call of ['receive', 'cycle'] as const) {
        pass(1000)
        expect(await queues()[call](queue)).toEqual([])
      }
      expect(await queues().redrive(queue)).toEqual({ moved: 0 })
    })

    it('begins and ends with the attribute', async () => {
      const queue = await madeOf(1)
      await done(queue)
      await queues().put(queue, { onAck: 'archive' })
      const [kept] = await filled(queue, 1)
      await done(queue)
      await queues().put(queue, { onAck: 'remove' })
      await filled(queue, 1)
      await done(queue)
      expect(await idsIn(queue, 'archived')).toEqual([kept])
    })

    it('takes 1,000 at once, in the order of their ids or times', async () => {
      const queue = await made({ onAck: 'archive' })
      const ids = await filled(queue, 1000)
      await done(queue)
      expect((await idsIn(queue, 'archived', 300)).sort((a, b) => Number(a - b))).toEqual(ids)
    })

    it('removes a message when its retention has ended, and of none sooner', async () => {
      const queue = await madeOf(1, { onAck: 'archive', retentionSeconds: 100 })
      const forever = await madeOf(1, { onAck: 'archive' })
      const [old] = await idsIn(queue, 'ready')
      const [kept] = await idsIn(forever, 'ready')
      await done(queue)
      await done(forever)
      pass(60)
      const [newer] = await filled(queue, 1)
      await done(queue)
      pass(50)
      await sweep()
      expect(await isArchived(old ?? 0n)).toBe(false)
      expect(await idsIn(queue, 'archived')).toEqual([newer])
      expect(await queues().message(queue, old ?? 0n)).toBeNull()
      expect(await idsIn(forever, 'archived')).toEqual([kept])
      pass(60)
      await sweep()
      expect(await isArchived(newer ?? 0n)).toBe(false)
      expect(await idsIn(queue, 'archived')).toEqual([])
      expect(await idsIn(forever, 'archived')).toEqual([kept])
    })

    it('applies a retention that is set or changed later, which counts from archivedAt', async () => {
      const queue = await madeOf(1, { onAck: 'archive' })
      const [id] = await idsIn(queue, 'ready')
      await done(queue)
      pass(100)
      await queues().put(queue, { onAck: 'archive', retentionSeconds: 1000 })
      expect(await idsIn(queue, 'archived')).toEqual([id])
      await queues().put(queue, { onAck: 'remove', retentionSeconds: 50 })
      await sweep()
      expect(await isArchived(id ?? 0n)).toBe(false)
    })

    it('is left alone by purge', async () => {
      const queue = await madeOf(2, { onAck: 'archive' })
      await queues().ack(queue, (await queues().receive(queue))[0]?.receiptHandle ?? '')
      expect(await queues().purge(queue)).toEqual({ deleted: 1 })
      expect(bodiesOf((await queues().peek(queue, { state: 'archived' })).messages)).toEqual([1])
    })

    it('gets nothing by removeMessage, which removes from it too', async () => {
      const queue = await madeOf(2, { onAck: 'archive' })
      const [a, b] = (await idsIn(queue, 'ready')) as [bigint, bigint]
      expect(await queues().remove(queue, a)).toBe(true)
      await done(queue)
      expect(await idsIn(queue, 'archived')).toEqual([b])
      expect(await queues().remove(queue, b)).toBe(true)
      expect(await queues().remove(queue, b)).toBe(false)
      expect(await idsIn(queue, 'archived')).toEqual([])
      expect(await queues().message(queue, b)).toBeNull()
    })
  })
}
