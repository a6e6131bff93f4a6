/** Events that must not stop publishers, writers, readers and the closing of a store. */
import { Publisher } from '../../../src/store/publisher/publisher'
import { sweepFeeds } from '../../support/opened'
import { stopwatch } from '../../support/timing'
import { type Context, eventually, sleep } from '../context'
import { range } from '../queues/tools'
import { afterFirst, watch } from '../statements'
import { whileOpen } from './tools'

export function describeFeedsPublishers(context: Context): void {
  const isSqlite = context.engine === 'sqlite'
  const feeds = () => context.store.feeds

  describe('feeds: publishers', () => {
    it('a look that had much to publish does not put off the next one', async () => {
      const looks: number[] = []
      const publisher = new Publisher({
        publish: async (only) => {
          if (only === null) looks.push(performance.now())
          if (looks.length === 1) await sleep(500)
          return { lookMs: 1, published: 0, again: [], isBusy: false }
        },
        leastMs: () => 150,
        onError: () => {},
      })
      await eventually(5000, 'it is looked again', async () => looks.length > 1)
      await publisher.stop()
    })

    it('a followed table that has lost its index stops no other feed', async () => {
      const store = await context.open({ publish: true })
      const { dataSource } = store
      const index = 'broken_sync'
      await dataSource.query('CREATE TABLE broken (id integer NOT NULL PRIMARY KEY, sync bigint NULL)')
      await dataSource.query(`CREATE INDEX ${index} ON broken (sync)`)
      await store.feeds.follow('broken', { syncColumn: 'sync', key: 'id' })
      await dataSource.query(`DROP INDEX ${index}${isSqlite ? '' : ' ON broken'}`)
      await sleep(1000)
      const [own, others] = [context.unique('f'), context.unique('f')]
      await store.feeds.put(own, 'k', 1)
      await feeds().put(others, 'k', 1)
      for (const feed of [own, others]) {
        await eventually(4000, `${feed} is published`, async () => (await feeds().get(feed, 'k'))?.syncId !== null)
      }
    })

    it('a reader that waits for a feed that was deleted asks no oftener than one that waits for another', async () => {
      const store = await context.open()
      const feed = context.unique('f')
      await store.feeds.put(feed, 'k', 1)
      await store.feeds.publish(feed)
      await store.feeds.drop(feed)
      let statements = 0
      watch(store, (_, run) => {
        statements++
        return run()
      })
      await store.feeds.changes(feed, { waitSeconds: 1 })
      expect(statements).toBeLessThan(60)
    })

    it('closing does not wait until all of a dropped feed is cleared', async () => {
      const store = await context.open()
      const feed = context.unique('f')
      for (const part of range(1, 9)) {
        const entries = range(1, 1000).map((n) => ({ key: `${part}-${n}`, value: 1 }))
        await store.feeds.putMany(feed, entries)
      }
      const left = async () => {
        const [row] = await store.dataSource.query(
          'SELECT COUNT(*) AS entries FROM recentn_feed_entries WHERE entry_key LIKE ?',
          ['%-%'],
        )
        return Number(row.entries)
      }
      await store.feeds.drop(feed)
      const sweeping = await context.open({ sweep: true })
      const closings: Promise<void>[] = []
      // Begun between two statements of the clearing, so that it can't be over by then.
      afterFirst(sweeping, /^DELETE FROM recentn_feed_entries/, async () => void closings.push(sweeping.close()))
      await eventually(15_000, 'the clearing has begun', async () => closings.length > 0)
      await closings[0]
      const rest = await left()
      await sweepFeeds(store)
      expect(rest).toBeGreaterThan(0)
    })

    if (!isSqlite) {
      it('an open transaction that has deleted a feed keeps no other from being published', async () => {
        const [dropped, other] = [context.unique('f'), context.unique('f')]
        for (const feed of [dropped, other]) await feeds().put(feed, 'k', 1)
        const isPublished = async () => (await feeds().get(other, 'k'))?.syncId !== null
        await whileOpen(
          context,
          (tx) => tx.feeds.drop(dropped),
          async () => {
            await context.open({ publish: true })
            await eventually(4000, 'the other is published', isPublished)
          },
        )
      })

      it('an entry that an open transaction has written keeps no other from being published, in a small table too', async () => {
        const url = await context.emptyDatabase()
        const store = await context.open({ url })
        for (const feed of ['a', 'b']) await store.feeds.put(feed, 'k', 1)
        await whileOpen(
          { ...context, store },
          (tx) => tx.feeds.put('a', 'k', 2),
          async () => {
            // If it waited, it would be refused: the transaction is open until then.
            expect(await store.feeds.publish()).toEqual({ published: 1 })
          },
        )
        expect(await store.feeds.publish()).toEqual({ published: 1 })
      })

      it('entries that an open transaction republishes keep no others from being published', async () => {
        const store = await context.open({ url: await context.emptyDatabase() })
        const put = (key: string) => store.feeds.put('a', key, 1)
        for (const key of ['k', 'l', 'm']) await put(key)
        await store.feeds.publish()
        for (const key of ['l', 'm']) await put(key)
        await whileOpen(
          { ...context, store },
          (tx) => tx.feeds.republish('a', { keys: ['k', 'k1'] }),
          async () => expect(await store.feeds.publish()).toEqual({ published: 2 }),
        )
      })

      it('an entry that an open transaction has written keeps no puts to other keys and feeds waiting', async () => {
        const store = await context.open()
        const names = range(1, 8).map(() => context.unique('f'))
        for (const feed of names) await store.feeds.put(feed, 'held', 1)
        let isLate = true
        const isHeld: Promise<unknown>[] = []
        await whileOpen(
          context,
          (tx) => tx.feeds.put(names[0] as string, 'held', 2),
          async () => {
            isHeld.push(store.feeds.put(names[0] as string, 'held', 3))
            const watch = stopwatch()
            await Promise.all(names.map((feed) => store.feeds.put(feed, 'other', 3)))
            isLate = watch.isBeyond(8000)
          },
        )
        await Promise.all(isHeld)
        // The first attempt may wait for the lock, which is a second or two.
        expect(isLate).toBe(false)
      })
    }
  })
}
