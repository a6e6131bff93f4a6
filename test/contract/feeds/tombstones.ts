import type { Store } from '../../../src/index'
import { real } from '../../../src/shared/platform'
import { type Context, eventually, refusal } from '../context'
import { range } from '../queues/tools'
import { feedTools, keysOf, knowledgeOf, sweptFeeds, useForgetting } from './tools'

/** How long tombstones are kept here. */
const KEPT_SECONDS = 100

export function describeFeedTombstones(context: Context): void {
  const { filled, published, readOn, known, lastOf, pass } = feedTools(context)
  let store: Store
  const feeds = () => store.feeds

  /** A feed in which the keys were put and then deleted again, and the tombstones published. */
  async function buried(feed: string, keys: readonly string[]): Promise<void> {
    await feeds().putMany(
      feed,
      keys.map((key) => ({ key, value: 1 })),
    )
    await published(feed)
    for (const key of keys) await feeds().delete(feed, key)
    await published(feed)
  }

  /** The tombstones are over their time, and gone. */
  async function removed(seconds = KEPT_SECONDS + 1): Promise<void> {
    pass(seconds)
    await sweptFeeds(store)
  }

  const deletedIn = async (feed: string) => keysOf((await readOn(feed)).changes.filter(({ deleted }) => deleted)).sort()

  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => 'done',
      (error) => error.code,
    )

  describe('feeds: tombstones', () => {
    useForgetting(context, KEPT_SECONDS, (opened) => {
      store = opened
    })

    it('are kept for their time, then removed', async () => {
      const feed = await filled(['live'])
      await buried(feed, ['a', 'b'])
      await removed(KEPT_SECONDS - 10)
      expect(await deletedIn(feed)).toEqual(['a', 'b'])
      await removed(11)
      expect(keysOf((await readOn(feed)).changes)).toEqual(['live'])
      const { dataSource } = context.store
      const rows =
        'SELECT COUNT(*) AS n FROM recentn_feed_entries WHERE feed_id = (SELECT id FROM recentn_feeds WHERE feed = ?)'
      expect(Number((await dataSource.query(rows, [feed]))[0].n)).toBe(1)
      expect(await feeds().status(feed)).toMatchObject({ entries: 1, lastSyncId: 5n })
      expect(await feeds().put(feed, 'a', 2)).toMatchObject({ version: 1 })
    })

    it('are kept for seven days by default', async () => {
      const feed = await filled(['a'])
      await context.store.feeds.delete(feed, 'a')
      await published(feed)
      for (const [seconds, left] of [
        [7 * 86_400 - 60, ['a']],
        [61, []],
      ] as const) {
        pass(seconds)
        await sweptFeeds(context.store)
        expect(await deletedIn(feed)).toEqual(left)
      }
    })

    it('are removed by the background sweep', async () => {
      const feed = await filled(['live'])
      await buried(feed, ['a'])
      pass(KEPT_SECONDS + 1)
      // The pause between two rounds is seconds, of which there is nothing to see.
      const wait = real.setTimeout
      const hasty = ((work: () => void, ms = 0) => wait(work, ms < 1000 ? ms : ms / 20)) as typeof setTimeout
      const spy = jest.spyOn(real, 'setTimeout').mockImplementation(hasty)
      context.afterwards(async () => spy.mockRestore())
      await context.open({ sweep: true, feeds: { tombstoneSeconds: KEPT_SECONDS } })
      await eventually(10_000, 'the tombstone is removed', async () => (await deletedIn(feed)).length === 0)
      expect(keysOf((await readOn(feed)).changes)).toEqual(['live'])
    })

    it('are not noticed by a consumer that keeps up', async () => {
      const feed = await filled(['a', 'b', 'c'])
      let cursor = 0n
      const knows: Record<string, unknown>[] = []
      let log = (await feeds().changes(feed)).changes
      for (const key of ['a', 'b', 'c']) {
        const page = await feeds().changes(feed, { after: cursor })
        ;({ cursor } = page)
        log = [...log, ...page.changes]
        await feeds().moveCursor(feed, 'keeps up', cursor)
        await feeds().delete(feed, key)
        await published(feed)
        const next = await feeds().changes(feed, { consumer: 'keeps up' })
        log = [...log, ...next.changes]
        ;({ cursor } = next)
        await feeds().moveCursor(feed, 'keeps up', cursor)
        await removed()
        expect((await feeds().changes(feed, { after: cursor })).cursor).toBe(cursor)
        expect(await feeds().changes(feed, { consumer: 'keeps up' })).toEqual({ changes: [], cursor, hasMore: false })
        knows.push(knowledgeOf(log))
      }
      expect(knows).toEqual([{ b: 1, c: 1 }, { c: 1 }, {}])
    })

    it('that were removed expire the cursor of a consumer that fell behind, stored or not, and no other', async () => {
      const feed = await filled(['a', 'b', 'live'])
      const behind = await lastOf(feed)
      for (const consumer of ['behind', 'forced', 'at 0']) await feeds().moveCursor(feed, consumer, behind)
      await feeds().moveCursor(feed, 'at 0', 0n, { force: true })
      await buried(feed, ['a', 'b'])
      const last = await lastOf(feed)
      await removed()
      for (const after of [1n, behind, last - 1n]) {
        expect((await refusal(feeds().changes(feed, { after }))).code).toBe('cursor_expired')
      }
      expect((await refusal(feeds().changes(feed, { after: 1n, waitSeconds: 5 }))).code).toBe('cursor_expired')
      expect((await refusal(feeds().changes(feed, { consumer: 'behind' }))).code).toBe('cursor_expired')
      expect(await feeds().changes(feed, { after: last })).toEqual({ changes: [], cursor: last, hasMore: false })
      for (const options of [{}, { after: 0n }, { consumer: 'at 0' }, { consumer: 'unknown' }]) {
        expect(keysOf((await feeds().changes(feed, options)).changes)).toEqual(['live'])
      }
      await feeds().moveCursor(feed, 'forced', 0n, { force: true })
      expect(keysOf((await feeds().changes(feed, { consumer: 'forced' })).changes)).toEqual(['live'])
    })

    it('that were removed expire a cursor that is forced back: what it has read may be lost', async () => {
      const feed = await filled(['a', 'b', 'live'])
      await buried(feed, ['a'])
      await feeds().moveCursor(feed, 'restored', await lastOf(feed))
      await removed()
      expect((await feeds().changes(feed, { consumer: 'restored' })).changes).toEqual([])
      expect(await feeds().moveCursor(feed, 'restored', 2n, { force: true })).toMatchObject({ cursor: 2n })
      expect(await codeOf(feeds().changes(feed, { consumer: 'restored' }))).toBe('cursor_expired')
    })

    it('that were removed do not stop a consumer that starts over, page by page, with its own cursors', async () => {
      const feed = await filled(range(1, 11).map((n) => `k${n}`))
      await buried(feed, ['k3', 'x', 'y'])
      await removed()
      let cursor = 0n
      const seen: string[] = []
      for (let hasMore = true; hasMore; ) {
        const page = await feeds().changes(feed, { after: cursor, limit: 2 })
        expect(page.cursor).not.toBe(cursor)
        seen.push(...keysOf(page.changes))
        ;({ cursor, hasMore } = page)
      }
      expect(seen.sort()).toEqual(keysOf((await readOn(feed)).changes).sort())
      expect(seen).toHaveLength(10)
      // Its next cursor is good, too, after everything that comes.
      expect((await feeds().changes(feed, { after: cursor })).changes).toEqual([])
      await feeds().put(feed, 'new', 1)
      await feeds().put(feed, 'k1', 2)
      await published(feed)
      const next = await feeds().changes(feed, { after: cursor })
      expect(keysOf(next.changes).sort()).toEqual(['k1', 'new'])
      expect(next.cursor).toBe(next.changes.at(-1)?.syncId)
    })

    it('nor who starts over with a stored consumer', async () => {
      const feed = await filled(range(1, 11).map((n) => `k${n}`))
      await feeds().moveCursor(feed, 'c', 2n)
      await buried(feed, ['k3', 'x', 'y'])
      await removed()
      expect(await codeOf(feeds().changes(feed, { consumer: 'c' }))).toBe('cursor_expired')
      await feeds().moveCursor(feed, 'c', 0n, { force: true })
      const seen: string[] = []
      const lags: number[] = []
      for (let hasMore = true; hasMore; ) {
        const page = await feeds().changes(feed, { consumer: 'c', limit: 3 })
        seen.push(...keysOf(page.changes))
        hasMore = page.hasMore
        const stored = await feeds().moveCursor(feed, 'c', page.cursor)
        expect(stored).toEqual(await feeds().cursor(feed, 'c'))
        lags.push(stored.lag)
      }
      expect(seen).toHaveLength(10)
      expect(new Set(seen).size).toBe(10)
      expect(lags).toEqual([...new Set(lags)].sort((a, b) => b - a))
      expect(Math.max(...lags)).toBeLessThanOrEqual(17)
      await feeds().put(feed, 'new', 1)
      await published(feed)
      const last = await feeds().changes(feed, { consumer: 'c' })
      expect(keysOf(last.changes)).toEqual(['new'])
      expect(await feeds().moveCursor(feed, 'c', last.cursor)).toMatchObject({ cursor: last.cursor, lag: 0 })
    })

    it('that are removed while a consumer starts over expire its cursor too', async () => {
      const feed = await filled(['a', 'b', 'c', 'd'])
      await buried(feed, ['x'])
      await removed()
      const first = await feeds().changes(feed, { limit: 2 })
      const [seen] = keysOf(first.changes)
      const resumed = await feeds().changes(feed, { after: first.cursor, limit: 1 })
      expect(resumed.changes).toHaveLength(1)
      await feeds().delete(feed, seen as string)
      await published(feed)
      await removed()
      // It has the deleted key, and would keep it.
      expect(await codeOf(feeds().changes(feed, { after: first.cursor }))).toBe('cursor_expired')
      expect(await codeOf(feeds().changes(feed, { after: resumed.cursor }))).toBe('cursor_expired')
      expect(Object.keys(await known(feed))).toHaveLength(3)
    })

    it('a put after the delete keeps the entry, published or not', async () => {
      const feed = await filled(['a', 'b', 'live'])
      await feeds().delete(feed, 'a')
      await feeds().delete(feed, 'b')
      await published(feed)
      const after = await lastOf(feed)
      await feeds().put(feed, 'a', 'again')
      await published(feed)
      await feeds().put(feed, 'b', 'again')
      await removed()
      await published(feed)
      expect(await known(feed)).toEqual({ a: 'again', b: 'again', live: 1 })
      expect((await feeds().changes(feed, { after })).changes).toHaveLength(2)
      expect(await feeds().get(feed, 'a')).toMatchObject({ version: 3 })
    })

    it('are not removed before they are published', async () => {
      const feed = await filled(['a', 'live'])
      const after = await lastOf(feed)
      await feeds().delete(feed, 'a')
      await removed()
      await removed()
      expect(await published(feed)).toBe(1)
      expect((await feeds().changes(feed, { after })).changes).toMatchObject([{ key: 'a', deleted: true }])
    })

    it('that are published again, or made again, have all of their time again', async () => {
      const feed = await filled(['live'])
      await buried(feed, ['republished', 'again', 'once'])
      pass(KEPT_SECONDS - 10)
      await feeds().republish(feed, { keys: ['republished'] })
      await feeds().put(feed, 'again', 1)
      await feeds().delete(feed, 'again')
      await published(feed)
      await removed(20)
      expect(await deletedIn(feed)).toEqual(['again', 'republished'])
      await removed(KEPT_SECONDS - 30)
      expect(await deletedIn(feed)).toEqual(['again', 'republished'])
      await removed(15)
      expect(await deletedIn(feed)).toEqual([])
    })

    it('have all of their time from the deletion on, however long the entry had waited to be published', async () => {
      const feed = await filled(['live'])
      await buried(feed, ['a'])
      await feeds().put(feed, 'a', 2)
      pass(KEPT_SECONDS + 1)
      await feeds().delete(feed, 'a')
      await published(feed)
      await removed(1)
      expect(await deletedIn(feed)).toEqual(['a'])
      await removed(KEPT_SECONDS - 10)
      expect(await deletedIn(feed)).toEqual(['a'])
      await removed(10)
      expect(await deletedIn(feed)).toEqual([])
    })

    it('that were removed: a stored cursor that is expired goes to 0 only when forced, so that its consumer knows', async () => {
      const feed = await filled(['a', 'live'])
      await feeds().moveCursor(feed, 'c', 1n)
      await buried(feed, ['a'])
      await removed()
      expect(await feeds().moveCursor(feed, 'c', 0n)).toMatchObject({ cursor: 1n })
      expect(await codeOf(feeds().changes(feed, { consumer: 'c' }))).toBe('cursor_expired')
      expect(await feeds().moveCursor(feed, 'c', 0n, { force: true })).toMatchObject({ cursor: 0n })
    })

    it('that were removed expire a page from before that is kept late, when another process has put the consumer to 0', async () => {
      const feed = await filled(['a', 'live'])
      const page = await feeds().changes(feed, { consumer: 'c', limit: 2 })
      await feeds().delete(feed, 'a')
      await published(feed)
      await removed()
      await feeds().moveCursor(feed, 'c', 0n, { force: true })
      expect(await feeds().moveCursor(feed, 'c', page.cursor)).toMatchObject({ cursor: page.cursor })
      // It has the deleted key, and would keep it.
      expect(await codeOf(feeds().changes(feed, { consumer: 'c' }))).toBe('cursor_expired')
    })

    it('of a feed that was deleted and begun again: sync ids continue, and old cursors are expired', async () => {
      const feed = await filled(['a', 'b', 'c'])
      const last = await lastOf(feed)
      await feeds().drop(feed)
      expect(await feeds().changes(feed)).toEqual({ changes: [], cursor: 0n, hasMore: false })
      await feeds().put(feed, 'b', 'anew')
      expect(await codeOf(feeds().changes(feed, { after: 1n }))).toBe('cursor_expired')
      await published(feed)
      // A consumer that has read all of the old feed has keys that are gone.
      for (const after of [last - 1n, last]) {
        expect(await codeOf(feeds().changes(feed, { after }))).toBe('cursor_expired')
      }
      const { changes, cursor } = await readOn(feed)
      expect(changes).toMatchObject([{ key: 'b', value: 'anew' }])
      expect(changes[0]?.syncId).toBeGreaterThan(last)
      expect(cursor).toBe(changes[0]?.syncId)
      expect((await feeds().changes(feed, { after: cursor })).changes).toEqual([])
    })
  })
}
