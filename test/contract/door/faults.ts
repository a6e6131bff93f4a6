import { openStore } from '../../../src/index'
import { CuttingProxy, type Moment } from '../../support/cutting-proxy'
import type { Context } from '../context'
import { statementsOf } from '../statements'
import { bodiesIn, doorTools, insert, insertSends, leftIn, move } from './tools'

/** Movers that end in the middle. */
export function describeDoorFaults(context: Context): void {
  const { madeQueue, emptied } = doorTools(context)

  describe('the door: a mover that ends', () => {
    beforeEach(emptied)

    async function rows(): Promise<{ queue: string; group: string }> {
      const [queue, group] = [await madeQueue(), context.unique()]
      await insertSends(context.store, queue, 1, 2)
      await insert(context.store, 'sends', { queue, body: 'no JSON' })
      await insert(context.store, 'sends', { queue, body: '3', dedup_id: 'one', message_group: 'a' })
      for (const member of ['ann', 'bob']) await insert(context.store, 'appends', { group_key: group, member })
      return { queue, group }
    }

    async function expectOnce({ queue, group }: { queue: string; group: string }): Promise<void> {
      expect((await bodiesIn(context.store, queue)).sort()).toEqual([1, 2, 3])
      expect((await bodiesIn(context.store, queue)).filter((body) => body !== 3)).toEqual([1, 2])
      expect((await context.store.groups.recent(group)).totalAppended).toBe(2n)
      expect(await leftIn(context.store, 'sends')).toMatchObject([{ stuck: 2 }])
      expect(await leftIn(context.store, 'appends')).toEqual([])
    }

    it('at any of its statements has moved all or nothing, and the next one moves the rest', async () => {
      let statement = 0
      for (let isCut = true; isCut; statement++) {
        const made = await rows()
        let left = statement
        const { store } = await statementsOf(context, async (sql) => {
          // It does nothing more but to lose what it has not committed.
          if (left-- <= 0 && sql !== 'ROLLBACK') throw new Error('it has ended')
        })
        await move(store).catch(() => {})
        isCut = left < 0
        await move(context.store)
        await expectOnce(made)
        await context.store.dataSource.query('DELETE FROM recentn_sends')
      }
      // It has looked, locked, moved and committed, for both tables.
      expect(statement).toBeGreaterThan(8)
    })

    if (context.engine === 'sqlite') return

    it.each<Moment>(['before', 'during', 'after'])(
      'because its connection is lost %s any of its packets has moved all or nothing, and continues by itself',
      async (moment) => {
        const proxy = await CuttingProxy.before(context.url)
        context.afterwards(() => proxy.close())
        const url = proxy.through(context.url)
        const store = await openStore({ url, sweep: false, publish: false, tick: false })
        context.afterwards(() => store.close())
        let packet = 0
        for (let isMet = true; isMet; packet++) {
          const made = await rows()
          let left = packet
          isMet = false
          void proxy.cutStatements(() => {
            isMet ||= left === 0
            return left-- === 0
          }, moment)
          await move(store).catch(() => {})
          await proxy.cutStatements(() => false)
          await move(store)
          await move(context.store)
          await expectOnce(made)
          await context.store.dataSource.query('DELETE FROM recentn_sends')
        }
        expect(packet).toBeGreaterThan(4)
      },
      120_000,
    )
  })
}
