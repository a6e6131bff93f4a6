/** Tombstones of a followed table whose keys have rows again: no reader is to notice them. */
import { bounded } from '../../../src/fields/options'
import { openStore, type Store } from '../../../src/index'
import { type Database, freshDatabase } from '../../support/engines'
import type { Context } from '../context'
import { range } from '../queues/tools'
import { createFollowedTables } from './followed-tables'
import { keysOf } from './tools'

export function describeFeedsFollowedTombstones(context: Context): void {
  let database: Database
  let store: Store
  const FEED = 'kv'
  const feeds = () => store.feeds

  async function insert(names: readonly string[]): Promise<void> {
    const rows = names.map((name) => `('${name}', 'v', NULL)`)
    await store.dataSource.query(`INSERT INTO kv (k, v, feed_sync_id) VALUES ${rows.join(', ')}`)
  }

  const remove = (name: string) =>
    store.transaction(async (tx) => {
      await tx.manager.query('DELETE FROM kv WHERE k = ?', [name])
      await tx.feeds.delete(FEED, name)
    })

  /** Rows that were deleted, and are there again. */
  async function madeAgain(names: readonly string[]): Promise<void> {
    await insert(names)
    for (const name of names) await remove(name)
    await insert(names)
  }

  describe('feeds: tombstones behind rows', () => {
    beforeEach(async () => {
      database = await freshDatabase(context.engine)
      store = await openStore({ url: database.url, sweep: false, publish: false })
      await createFollowedTables(store.dataSource)
      await feeds().follow('kv', { syncColumn: 'feed_sync_id', key: 'k', value: 'v' })
    })
    afterEach(async () => {
      await store.close()
      await database.drop()
    })

    it('are not counted beside the rows when they are republished', async () => {
      await madeAgain(['a', 'ab', 'b'])
      await insert(['gone'])
      await remove('gone')
      expect(await feeds().republish(FEED, { keys: ['a', 'b', 'gone', 'nowhere'] })).toEqual({ republished: 3 })
      expect(await feeds().republish(FEED, { prefix: 'a' })).toEqual({ republished: 2 })
      expect(await feeds().republish(FEED, { prefix: '' })).toEqual({ republished: 4 })
    })

    it('make no page short, and none empty before the end', async () => {
      const names = range(1, 5).map((n) => `g${n}`)
      await madeAgain(names)
      await feeds().publish()
      // Their tombstones come last: numbered again, with nothing behind them but one row.
      await store.dataSource.query('UPDATE recentn_feed_entries SET sync_id = 0')
      await feeds().publish()
      await insert(['last'])
      await feeds().publish()
      const first = await feeds().changes(FEED, { limit: 5 })
      expect([keysOf(first.changes).sort(), first.hasMore]).toEqual([names, true])
      const second = await feeds().changes(FEED, { after: first.cursor, limit: 1 })
      expect([keysOf(second.changes), second.hasMore]).toEqual([['last'], false])
      const cut = await feeds().changes(FEED, bounded({ after: first.cursor }, 1))
      expect([keysOf(cut.changes), cut.hasMore]).toEqual([['last'], false])
      await store.dataSource.query('UPDATE recentn_feed_entries SET sync_id = 0')
      await feeds().publish()
      const third = await feeds().changes(FEED, { after: second.cursor, limit: 1 })
      expect([third.changes, third.hasMore]).toEqual([[], false])
    })

    it('of which there are thousands end no page', async () => {
      const [{ id }] = await store.dataSource.query('SELECT id FROM recentn_feeds WHERE feed = ?', [FEED])
      const names = range(1, 2500).map((n) => `g${n}`)
      for (let from = 0; from < names.length; from += 500) {
        const some = names.slice(from, from + 500)
        await insert(some)
        const rows = some.map((name) => `(${id}, '${name}', 0, 1, 1, 0, 0, 'null')`)
        await store.dataSource.query(
          `INSERT INTO recentn_feed_entries (feed_id, entry_key, sync_id, version, deleted, updated_at_ms, unpublished_since_ms, value) VALUES ${rows.join(', ')}`,
        )
      }
      await feeds().publish()
      const keys: string[] = []
      for (let after = 0n, hasMore = true; hasMore; ) {
        const page = await feeds().changes(FEED, { after, limit: 999 })
        expect(page.changes).toHaveLength(page.hasMore ? 999 : 2500 - 2 * 999)
        keys.push(...keysOf(page.changes))
        ;({ cursor: after, hasMore } = page)
      }
      expect(new Set(keys)).toEqual(new Set(names))
      expect(keys).toHaveLength(2500)
    })
  })
}
