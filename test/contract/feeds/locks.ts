import { moment, soonMs, timed } from '../../support/timing'
import { type Context, sleep } from '../context'
import { watch } from '../statements'
import { expectGrowing, feedTools, keysOf, syncIdsOf, whileOpen } from './tools'

export function describeFeedLocks(context: Context): void {
  // In SQLite a transaction has the only write lock: everybody waits for everybody.
  if (context.engine === 'sqlite') return
  const { filled, named, readOn, lastOf } = feedTools(context)
  const feeds = () => context.store.feeds

  /** A store whose next commit waits until it is let go: a publisher in the middle of its transaction. */
  async function pausedStore() {
    const store = await context.open()
    const [atCommit, gate] = [moment(), moment()]
    watch(store, async (sql, run) => {
      if (sql !== 'COMMIT') return run()
      atCommit.come()
      await gate.reached
      return run()
    })
    context.afterwards(async () => gate.come())
    return { store, reached: atCommit.reached, go: gate.come }
  }

  const isOpen = async (call: Promise<unknown>, ms = 250) =>
    Promise.race([call.then(() => false), sleep(ms).then(() => true)])

  describe('feeds: which calls wait for which', () => {
    it('a transaction that is open keeps neither publishers nor writers waiting, and is published after it', async () => {
      const feed = await filled(['old', 'held'])
      const last = await lastOf(feed)
      const other = await context.open()
      await whileOpen(
        context,
        async (tx) => {
          await tx.feeds.put(feed, 'new', 'in a transaction')
          await tx.feeds.put(feed, 'held', 'in a transaction')
          await tx.feeds.delete(feed, 'nothing')
        },
        async () => {
          const written = (async () => {
            await other.feeds.putMany(feed, [
              { key: 'a', value: 1 },
              { key: 'z', value: 1 },
            ])
            await feeds().put(feed, 'old', 2)
            return other.feeds.publish(feed)
          })()
          const { answer, ms } = await timed(written)
          expect(answer).toEqual({ published: 3 })
          expect(ms).toBeLessThan(soonMs())
          expect(keysOf((await readOn(feed, last)).changes).sort()).toEqual(['a', 'old', 'z'])
          expect((await timed(other.feeds.publish(feed))).ms).toBeLessThan(soonMs())
        },
      )
      const before = await lastOf(feed)
      expect(await other.feeds.publish(feed)).toEqual({ published: 2 })
      const { changes } = await readOn(feed, before)
      expect(keysOf(changes).sort()).toEqual(['held', 'new'])
      expectGrowing(syncIdsOf(changes), before)
    })

    it('a backlog of thousands is numbered past an entry that a transaction holds', async () => {
      const feed = named()
      for (const from of [0, 1000, 2000]) {
        const entries = Array.from({ length: from === 2000 ? 500 : 1000 }, (_, n) => ({
          key: `k${from + n}`,
          value: n,
        }))
        await feeds().putMany(feed, entries)
      }
      const other = await context.open()
      await whileOpen(
        context,
        async (tx) => void (await tx.feeds.put(feed, 'k1500', 'held')),
        async () => {
          const { answer, ms } = await timed(other.feeds.publish(feed))
          expect(answer).toEqual({ published: 2499 })
          expect(ms).toBeLessThan(soonMs())
        },
      )
      expect(await other.feeds.publish(feed)).toEqual({ published: 1 })
      const { changes } = await readOn(feed)
      expect(syncIdsOf(changes)).toEqual(Array.from({ length: 2500 }, (_, n) => BigInt(n + 1)))
      expect(changes.at(-1)).toMatchObject({ key: 'k1500', value: 'held' })
      expect(new Set(keysOf(changes)).size).toBe(2500)
    })

    it('a writer waits for a publisher only for the very entry that it numbers, and another publisher for all', async () => {
      const feed = await filled(['published', 'gone'])
      await feeds().put(feed, 'numbered', 1)
      const last = await lastOf(feed)
      const { store, reached, go } = await pausedStore()
      const publishing = store.feeds.publish(feed)
      await reached
      const other = await context.open()
      const free = await timed(
        (async () => {
          await feeds().put(feed, 'new', 2)
          await feeds().put(feed, 'published', 2)
          await feeds().delete(feed, 'gone')
          await other.transaction((tx) =>
            tx.feeds.putMany(feed, [
              { key: 'a', value: 2 },
              { key: 'z', value: 2 },
            ]),
          )
          return readOn(feed, last)
        })(),
      )
      expect(free.ms).toBeLessThan(soonMs())
      expect(free.answer.changes).toEqual([]) // not before its commit
      const very = feeds().put(feed, 'numbered', 2)
      const next = other.feeds.publish(feed)
      expect([await isOpen(very), await isOpen(next, 0), await isOpen(publishing, 0)]).toEqual([true, true, true])
      go()
      expect(await publishing).toMatchObject({ published: expect.any(Number) })
      expect(await very).toMatchObject({ version: 2, syncId: null })
      await next
      await other.feeds.publish(feed)
      const { changes } = await readOn(feed, last)
      expect(keysOf(changes).sort()).toEqual(['a', 'gone', 'new', 'numbered', 'published', 'z'])
      expect(changes.find(({ key }) => key === 'numbered')).toMatchObject({ value: 2 })
      expectGrowing(syncIdsOf(changes), last)
    })
  })
}
