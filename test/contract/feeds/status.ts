import { type Context, refusal } from '../context'
import { feedTools, sweptFeeds } from './tools'

export function describeFeedStatus(context: Context): void {
  const feeds = () => context.store.feeds
  const { named, filled, published, pass } = feedTools(context)

  /** Counts may be some seconds old, but not those that a store takes for the first time. */
  const fresh = async (feed: string) => (await context.open()).feeds.status(feed)

  describe('feeds: status', () => {
    it('counts entries without, and what is unpublished with tombstones', async () => {
      const feed = await filled(['a', 'b', 'c', 'd'])
      const clean = { feed, lastSyncId: 4n, entries: 4, unpublished: 0, oldestUnpublishedSeconds: null, consumers: [] }
      expect(await fresh(feed)).toEqual(clean)
      await feeds().put(feed, 'new', 1)
      await feeds().put(feed, 'a', 2)
      await feeds().delete(feed, 'b')
      expect(await fresh(feed)).toMatchObject({ lastSyncId: 4n, entries: 4, unpublished: 3 })
      await published(feed)
      expect(await fresh(feed)).toEqual({ ...clean, lastSyncId: 7n })
      await feeds().republish(feed, { prefix: '' })
      expect(await fresh(feed)).toMatchObject({ entries: 4, unpublished: 5 })
    })

    it('says since when the oldest waits to be published', async () => {
      const feed = await filled(['a', 'b'])
      await feeds().put(feed, 'b', 2)
      pass(30)
      await feeds().delete(feed, 'a')
      pass(10)
      const seconds = (await fresh(feed))?.oldestUnpublishedSeconds ?? 0
      expect(Number.isInteger(seconds)).toBe(true)
      expect(seconds).toBeGreaterThanOrEqual(40)
      expect(seconds).toBeLessThan(45)
      await published(feed)
      expect((await fresh(feed))?.oldestUnpublishedSeconds).toBeNull()
      pass(100)
      await feeds().republish(feed, { keys: ['b'] })
      expect((await fresh(feed))?.oldestUnpublishedSeconds).toBeLessThan(5)
    })

    it('knows the last sync id, and the consumers, as they are, however often it is asked', async () => {
      const feed = await filled(['a'])
      expect(await feeds().status(feed)).toMatchObject({ lastSyncId: 1n, consumers: [] })
      await feeds().put(feed, 'a', 2)
      await published(feed)
      await feeds().moveCursor(feed, 'c', 1n)
      const consumers = [{ consumer: 'c', cursor: 1n, lag: 1, movedAt: expect.any(Date) }]
      expect(await feeds().status(feed)).toMatchObject({ lastSyncId: 2n, consumers })
      expect((await feeds().list({ prefix: feed })).feeds).toMatchObject([{ feed, lastSyncId: 2n, consumers }])
    })

    it('lists feeds by name, in pages, for a prefix', async () => {
      const prefix = named()
      const names = ['b', 'a', 'A', 'ä', 'aa', 'a ', '😀', 'z', '%', '_'].map((end) => prefix + end)
      for (const [n, name] of names.entries()) if (n % 3) await feeds().put(name, 'k', n)
      for (const [n, name] of names.entries()) if (n % 3 === 0) await feeds().moveCursor(name, 'c', 0n)
      const sorted = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      const all = await feeds().list({ prefix })
      expect([all.feeds.map(({ feed }) => feed), all.nextAfter]).toEqual([sorted, null])
      for (const listed of all.feeds) expect(listed).toEqual(await feeds().status(listed.feed))
      const paged: string[] = []
      for (let after: string | null = null; ; ) {
        const page = await feeds().list({ prefix, limit: 3, ...(after === null ? {} : { after }) })
        expect(page.feeds.length).toBeLessThanOrEqual(3)
        paged.push(...page.feeds.map(({ feed }) => feed))
        after = page.nextAfter
        if (after === null) break
      }
      expect(paged).toEqual(sorted)
      const some = (await feeds().list({ prefix: `${prefix}a` })).feeds.map(({ feed }) => feed)
      expect(some).toEqual(sorted.filter((name) => name.startsWith(`${prefix}a`)))
      expect((await feeds().list({ prefix: `${prefix}%` })).feeds).toHaveLength(1)
      expect(await feeds().list({ prefix: named() })).toEqual({ feeds: [], nextAfter: null })
      expect((await feeds().list({ limit: 1 })).feeds).toHaveLength(1)
      for (const limit of [0, 1001, 1.5]) {
        expect((await refusal(feeds().list({ limit }))).code).toBe('invalid_input')
      }
    })
  })

  describe('feeds: drop', () => {
    it('empties the feed at once, forgets its consumers, and removes the rows in the background', async () => {
      const feed = await filled(Array.from({ length: 1200 }, (_, n) => `k${n}`))
      const other = await filled(['k0'])
      await feeds().put(feed, 'unpublished', 1)
      await feeds().delete(feed, 'k1')
      await feeds().moveCursor(feed, 'c', 7n)
      const { dataSource } = context.store
      const [{ id }] = await dataSource.query('SELECT id FROM recentn_feeds WHERE feed = ?', [feed])
      expect(await feeds().drop(feed)).toBe(true)
      expect(await feeds().drop(feed)).toBe(false)
      expect(await feeds().status(feed)).toBeNull()
      expect(await feeds().get(feed, 'k0')).toBeNull()
      expect(await published(feed)).toBe(0)
      expect((await feeds().list({ prefix: feed })).feeds).toEqual([])
      expect((await refusal(feeds().republish(feed, { prefix: '' }))).code).toBe('feed_not_found')

      expect(await feeds().put(feed, 'k0', 'anew')).toMatchObject({ version: 1, syncId: null })
      expect(await published(feed)).toBe(1)
      const { changes } = await feeds().changes(feed)
      expect(changes).toMatchObject([{ key: 'k0', value: 'anew', version: 1 }])
      expect(changes[0]?.syncId).toBeGreaterThan(1200n)
      expect(await feeds().cursor(feed, 'c')).toMatchObject({ cursor: 0n })
      expect(await fresh(feed)).toMatchObject({ entries: 1, unpublished: 0, consumers: [] })

      await sweptFeeds(await context.open())
      expect(await feeds().get(feed, 'k0')).not.toBeNull()
      pass(8 * 86_400)
      await sweptFeeds(context.store)
      for (const table of [
        'recentn_feed_entries',
        'recentn_feed_consumers',
        'recentn_feed_tombstones',
        'recentn_feed_drops',
      ]) {
        const [{ n }] = await dataSource.query(`SELECT COUNT(*) AS n FROM ${table} WHERE feed_id = ?`, [id])
        expect([table, Number(n)]).toEqual([table, 0])
      }
      expect(await feeds().get(feed, 'k0')).not.toBeNull()
      expect(await feeds().get(other, 'k0')).not.toBeNull()
    })
  })
}
