import { createConnection } from 'mysql2/promise'
import { sessionOf } from '../../../src/database/attached/attach'
import { answersTo } from '../../../src/repositories/reminders'
import { openedOf } from '../../support/opened'
import { soonMs, timed } from '../../support/timing'
import { type Context, eventually } from '../context'
import { bodiesIn, doorTools, insert, insertSends, leftIn, move } from './tools'

/** Writers and several movers at the same time. */
export function describeMovers(context: Context): void {
  const { madeQueue, emptied } = doorTools(context)

  describe('the door: movers', () => {
    beforeEach(emptied)

    it('at the same time move each row once, and keep the order of each writer', async () => {
      const stores = await Promise.all([1, 2, 3].map(() => context.open({ sweep: true })))
      const queue = await madeQueue()
      const writers = Array.from({ length: 4 }, async (_, writer) => {
        const { dataSource } = stores[writer % stores.length] as (typeof stores)[number]
        for (let n = 0; n < 60; n++) {
          // Three rows in a transaction, or one.
          await dataSource.transaction(async (manager) => {
            for (let row = 0; row < (n % 3 === 0 ? 3 : 1); row++) {
              const body = JSON.stringify([writer, n, row])
              await manager.query('INSERT INTO recentn_sends (queue, body) VALUES (?, ?)', [queue, body])
            }
          })
        }
      })
      await Promise.all(writers)
      await eventually(30_000, 'all are moved', async () => (await leftIn(context.store, 'sends')).length === 0)
      const bodies = (await bodiesIn(context.store, queue)) as [number, number, number][]
      expect(bodies).toHaveLength(4 * (60 + 2 * 20))
      for (let writer = 0; writer < 4; writer++) {
        const own = bodies.filter(([by]) => by === writer)
        expect(own).toEqual([...own].sort((a, b) => a[1] - b[1] || a[2] - b[2]))
        expect(own).toHaveLength(100)
      }
    })

    it('move nothing of a writer that rolls back', async () => {
      const { store } = context
      const queue = await madeQueue()
      const undone = store.dataSource.transaction(async (manager) => {
        await manager.query('INSERT INTO recentn_sends (queue, body) VALUES (?, ?)', [queue, '1'])
        throw new Error('rolled back')
      })
      await expect(undone).rejects.toThrow('rolled back')
      await insertSends(store, queue, 2)
      expect(await move(store)).toBe(1)
      expect(await bodiesIn(store, queue)).toEqual([2])
    })

    if (context.engine === 'sqlite') return

    /** A connection as another program has one, closed after the test. */
    async function connection() {
      const other = await createConnection(context.url.replace(/^mariadb:/, 'mysql:'))
      context.afterwards(async () => other.destroy())
      return other
    }

    it('wait for no writer whose transaction is open, and take its rows when it ends', async () => {
      const { store } = context
      const [queue, writer] = [await madeQueue(), await connection()]
      await writer.beginTransaction()
      await writer.query('INSERT INTO recentn_sends (queue, body) VALUES (?, ?)', [queue, '"slow"'])
      await insertSends(store, queue, 1, 2)
      const { answer, ms } = await timed(move(store))
      expect(answer).toBe(2)
      expect(ms).toBeLessThan(soonMs())
      expect(await bodiesIn(store, queue)).toEqual([1, 2])
      await writer.commit()
      expect(await move(store)).toBe(1)
      expect(await bodiesIn(store, queue)).toEqual([1, 2, 'slow'])
    })

    it('look at one entry of an index where there is nothing to move, however many rows are stuck', async () => {
      const url = await context.emptyDatabase()
      const store = await context.open({ url, poolSize: 1 })
      const rows = Array.from({ length: 400 }, () => ({ queue: 'q', body: 'no JSON' }))
      await insert(store, 'sends', ...rows)
      await store.queues.put('q')
      expect(await move(store)).toBe(0)
      expect((await leftIn(store, 'sends')).filter(({ stuck }) => stuck === 2)).toHaveLength(400)
      const { question } = openedOf(store).door.sends.due
      const counted = async () => {
        const read: { Value: string }[] = await store.dataSource.query("SHOW SESSION STATUS LIKE 'Handler_read%'")
        return read.reduce((all, { Value }) => all + Number(Value), 0)
      }
      const session = sessionOf(store.dataSource)
      // The first read looks at the settings of its connection.
      await session.read((reader) => answersTo(reader, [question]))
      const first = await counted()
      const before = await counted()
      const [answer] = await session.read((reader) => answersTo(reader, [question]))
      expect(Number(answer)).toBe(0)
      expect((await counted()) - before - (before - first)).toBeLessThanOrEqual(2)
    })

    it('leave a row that a transaction is changing, and those of its queue behind it, until that ends', async () => {
      const { store } = context
      const [queue, other, writer] = [await madeQueue(), await madeQueue(), await connection()]
      await insertSends(store, queue, 1, 2)
      await insertSends(store, other, 1)
      await writer.beginTransaction()
      const [first] = await leftIn(store, 'sends')
      await writer.query("UPDATE recentn_sends SET body = '10' WHERE id = ?", [first?.id])
      expect(await move(store)).toBe(1)
      await writer.commit()
      expect(await move(store)).toBe(2)
      expect(await bodiesIn(store, queue)).toEqual([10, 2])
    })

    it('do not wait for long for a group or a queue that a transaction has locked: the others continue', async () => {
      const { store } = context
      const holder = await context.open()
      const [held, group, locked, queue] = [context.unique(), context.unique(), await madeQueue(), await madeQueue()]
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      let isHeld = false
      const holding = holder.transaction(async (tx) => {
        await tx.groups.append(held)
        await tx.queues.put(locked, { maxReceives: 7 })
        isHeld = true
        await released
      })
      await eventually(10_000, 'they are locked', async () => isHeld)
      for (const group_key of [held, group]) await insert(store, 'appends', { group_key, member: 'ann' })
      for (const name of [locked, queue]) await insertSends(store, name, 1)
      try {
        const { answer, ms } = await timed(move(store))
        expect(answer).toBe(2)
        expect(ms).toBeLessThan(2 * soonMs())
        expect(await bodiesIn(store, queue)).toEqual([1])
        expect((await store.groups.recent(group)).totalAppended).toBe(1n)
        await insertSends(store, queue, 2)
        expect(await move(store)).toBe(1)
      } finally {
        release()
        await holding
      }
      expect(await move(store)).toBe(2)
      expect(await bodiesIn(store, locked)).toEqual([1])
      expect((await store.groups.recent(held)).totalAppended).toBe(2n)
    })
  })
}
