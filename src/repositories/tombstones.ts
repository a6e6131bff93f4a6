/**
 * Tombstones of keys that have no entry of their own in a feed, because the rows of another table are its entries: a
 * group of recent items that was deleted, a row of a followed table that is gone.
 *
 * A feed that has not begun gets none. The sequence is not asked for: like every write, a tombstone waits to be numbered.
 */
import { compareNames, type Tx } from '../database/engine'
import { chunksOf } from './chunks'

/** Keys of one list: a longer one may turn into a scan. */
const MAX_KEYS = 250

/** Leaves tombstones for keys that have none of their own. Resolves to false where the feed has not begun. */
export async function leaveTombstones(tx: Tx, feed: string, keys: readonly string[]): Promise<boolean> {
  const { engine, now } = tx
  const [row] = await tx.rows(
    `SELECT ${engine.bigint('id')} AS id, ${now} AS now_ms FROM feeds WHERE feed = ?${engine.forShare}`,
    [feed],
  )
  if (!row) return false
  const id = BigInt(row.id as string)
  const nowMs = Number(row.now_ms)
  const proposed = ['unpublished_since_ms', 'updated_at_ms', 'value'].map(
    (column) => `${column} = ${engine.proposed(column)}`,
  )
  for (const chunk of chunksOf([...keys].sort(compareNames), MAX_KEYS)) {
    const { sql, parameters } = engine.values(chunk.map((key) => [id, key, 0, 1, 1, nowMs, nowMs, 'null']))
    await tx.run(
      'INSERT INTO feed_entries (feed_id, entry_key, sync_id, version, deleted, updated_at_ms, unpublished_since_ms, value) ' +
        `VALUES ${sql} ${engine.onDuplicate('feed_id, entry_key')} ${proposed.join(', ')}, version = version + 1, ` +
        'deleted = 1, sync_id = 0',
      parameters,
    )
  }
  await noteTombstones(tx, id, keys, nowMs)
  return true
}

/** Notes when tombstones were written, for the sweeper. */
export async function noteTombstones(tx: Tx, feedId: bigint, keys: readonly string[], nowMs: number): Promise<void> {
  const { engine } = tx
  for (const chunk of chunksOf(keys, MAX_KEYS)) {
    const rows = chunk.map((key) => [nowMs, feedId, key])
    const { sql, parameters } = engine.upsert(
      'feed_tombstones',
      'deleted_at_ms, feed_id, entry_key',
      ['deleted_at_ms', 'feed_id', 'entry_key'],
      ['feed_id'],
      rows,
    )
    await tx.run(sql, parameters)
  }
}
