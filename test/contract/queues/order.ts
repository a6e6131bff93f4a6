/** Ids are numbers: nothing goes by their decimal text, which drivers get, and which sorts 10 before 9. */
import type { Context } from '../context'
import { bodiesOf, byNumber, handlesOf, messageIds, queueTools, range, STATES } from './tools'

export function describeQueueOrder(context: Context): void {
  const queues = () => context.store.queues
  const { made, filled, idsIn } = queueTools(context)

  /** The ids of the next messages begin so many before a power of ten. */
  async function nextIdsBefore(count: number): Promise<void> {
    const { id } = await queues().send(await made(), 'the last one')
    let power = 10n
    while (power <= id + BigInt(count)) power *= 10n
    const next = power - BigInt(count)
    if (context.engine !== 'sqlite') {
      await context.store.dataSource.query(`ALTER TABLE recentn_queue_messages AUTO_INCREMENT = ${next}`)
      return
    }
    await context.store.dataSource.query(
      `UPDATE sqlite_sequence SET seq = ${next - 1n} WHERE name = 'recentn_queue_messages'`,
    )
  }

  describe('queues: ids of more digits than those before', () => {
    it('come after them in an endless loop', async () => {
      const queue = await made({ visibilityTimeoutSeconds: 0 })
      await nextIdsBefore(9)
      const ids = await filled(queue, 20)
      expect(ids.map((id) => String(id).length)).toEqual(
        range(1, 20).map((n) => String(ids[0]).length + (n > 9 ? 1 : 0)),
      )
      const batches = []
      for (let n = 0; n < 4; n++) batches.push(bodiesOf(await queues().cycle(queue, { limit: 7 })))
      expect(batches).toEqual([range(1, 7), range(8, 14), [...range(15, 20), 1], range(2, 8)])
    })

    it('join an endless loop that begins later, all of them, whatever their turn', async () => {
      const queue = await made()
      await nextIdsBefore(700)
      // Many with the same virtual start, so that a page of them ends among such.
      const ids = await filled(queue, 1400, (body) => ({ messageGroup: `g${body % 300}` }))
      const seen: bigint[] = []
      for (let n = 0; n < 3; n++) {
        seen.push(...messageIds(await queues().cycle(queue, { limit: 700 })))
      }
      expect(seen).toEqual(ids)
    })

    it('are each on one page of a peek', async () => {
      const queue = await made({ onAck: 'archive' })
      const all: Record<string, bigint[]> = {}
      const claimed = async (state: string) => {
        await nextIdsBefore(60)
        all[state] = await filled(queue, 120)
        const received = await queues().receive(queue, { limit: 120, visibilityTimeoutSeconds: 1000 })
        return handlesOf(received)
      }
      await queues().ackMany(queue, await claimed('archived'))
      await queues().nackMany(queue, await claimed('dead'), { dead: true })
      await claimed('in-flight')
      await nextIdsBefore(60)
      all.delayed = await filled(queue, 120, () => ({ delaySeconds: 500 }))
      await nextIdsBefore(60)
      all.ready = await filled(queue, 120, (body) => ({ messageGroup: `g${body % 60}` }))
      for (const state of STATES) {
        const seen = await idsIn(queue, state, 17)
        expect([state, seen.length]).toEqual([state, 120])
        expect([state, seen.sort(byNumber)]).toEqual([state, all[state]])
      }
    })

    it('come after them among those of the same turn, and in a redrive', async () => {
      const queue = await made()
      await nextIdsBefore(10)
      const ids = await filled(queue, 20, (body) => ({ messageGroup: `g${body}` }))
      const received = await queues().receive(queue, { limit: 20 })
      expect(messageIds(received)).toEqual(ids)
      await queues().nackMany(queue, handlesOf(received), { dead: true })
      expect(await idsIn(queue, 'dead')).toEqual(ids)
      expect(await queues().redrive(queue, { limit: 5 })).toEqual({ moved: 5 })
      expect(await idsIn(queue, 'ready')).toEqual(ids.slice(0, 5))
    })
  })
}
