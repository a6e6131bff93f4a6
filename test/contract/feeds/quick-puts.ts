import type { Context } from '../context'
import { feedTools } from './tools'

/** Puts that are written before it is known whether the feed is still as this store last saw it. */
export function describeFeedQuickPuts(context: Context): void {
  const { named, readOn } = feedTools(context)

  describe('feeds: puts to a feed that has changed', () => {
    /** A feed that this store has seen, and another store. */
    async function known() {
      const [store, other] = [await context.open(), await context.open()]
      const feed = named()
      for (const value of [1, 2]) await store.feeds.put(feed, 'before', value)
      return { feed, store, other }
    }

    const rowsOf = async (key: string) => {
      const sql = 'SELECT COUNT(*) AS n FROM recentn_feed_entries WHERE entry_key = ?'
      const [row] = await context.store.dataSource.query(sql, [key])
      return Number(row.n)
    }

    it('go to the new feed of its name', async () => {
      const { feed, store, other } = await known()
      const key = context.unique('again')
      await other.feeds.drop(feed)
      await other.feeds.put(feed, 'other', 1)
      expect(await store.feeds.put(feed, key, 'new')).toMatchObject({ version: 1, syncId: null })
      expect(await rowsOf(key)).toBe(1)
      expect(await store.feeds.put(feed, 'before', 3)).toMatchObject({ version: 1 })
      await other.feeds.publish(feed)
      const { changes } = await readOn(feed)
      expect(changes.map(({ value }) => value).sort()).toEqual([1, 3, 'new'])
    })

    it('begin it when it is gone', async () => {
      const { feed, store, other } = await known()
      const key = context.unique('gone')
      await other.feeds.drop(feed)
      expect(await store.feeds.put(feed, key, 1)).toMatchObject({ version: 1 })
      expect(await rowsOf(key)).toBe(1)
      expect(await other.feeds.get(feed, 'before')).toBeNull()
      expect(await other.feeds.get(feed, key)).toMatchObject({ value: 1, version: 1 })
    })

    it('are refused when it now has the rows of a table, and leave nothing', async () => {
      const { feed, store, other } = await known()
      const [key, free] = [context.unique('followed'), named()]
      await other.dataSource.query('UPDATE recentn_feeds SET followed_table = ? WHERE feed = ?', ['kv', feed])
      // In one transaction where they come together: the other one is not to be refused.
      const both = await Promise.allSettled([store.feeds.put(feed, key, 1), store.feeds.put(free, key, 1)])
      expect(both).toMatchObject([
        { status: 'rejected', reason: { code: 'invalid_input' } },
        { status: 'fulfilled', value: { version: 1 } },
      ])
      expect(await rowsOf(key)).toBe(1)
    })

    it('to several feeds and keys at once each get their versions', async () => {
      const { feed, store, other } = await known()
      const feeds = [feed, named(), named()]
      const puts = Array.from({ length: 60 }, (_, n) => {
        const [name, key] = [feeds[n % 3] as string, `k${n % 5}`]
        return (n % 2 ? store : other).feeds
          .put(name, key, n)
          .then(({ version }) => ({ at: `${name} ${key}`, version }))
      })
      const versions = new Map<string, number[]>()
      for (const { at, version } of await Promise.all(puts)) versions.set(at, [...(versions.get(at) ?? []), version])
      expect([...versions.values()].map((each) => each.sort((a, b) => a - b))).toEqual(Array(15).fill([1, 2, 3, 4]))
    })
  })
}
