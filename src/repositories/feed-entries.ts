/**
 * Rows of recentn_feed_entries, as every room writes them: feeds their entries, and the groups of recent items the tombstones of
 * groups that were deleted. Whoever writes holds the feed's row, shared, so that no entry comes to a feed that is gone.
 * The statement that writes clears the sync id: like every write, a tombstone waits to be numbered.
 */
import { compareNames, type Tx } from '../database/engine'
import { chunksBySize, chunksOf } from './chunks'

/** A feed that nobody drops before the transaction has ended, and the time once that is so. */
export interface HeldFeed {
  id: bigint
  followedTable: string | null
  nowMs: number
}

/** Null when there is none. */
export async function holdFeed(tx: Tx, feed: string, lock = tx.engine.forShare): Promise<HeldFeed | null> {
  const [row] = await tx.rows(
    `SELECT ${tx.engine.bigint('id')} AS id, followed_table, ${tx.now} AS now_ms FROM ${tx.tables.feeds} WHERE feed = ?${lock}`,
    [feed],
  )
  if (!row) return null
  const followedTable = row.followed_table as string | null
  return { id: BigInt(row.id as string), followedTable, nowMs: Number(row.now_ms) }
}

/** What one INSERT takes: a UTF-16 unit may become six bytes of it, and the least usual `max_allowed_packet` is 1 MiB. */
const MAX_ROWS = 1000
const MAX_UNITS = 128 * 1024
/** What a row has beside its texts. */
const ROW_UNITS = 60
/** Keys of one list: a longer one may turn into a scan. */
const MAX_KEYS = 250

/** What a transaction writes to a key. */
export interface EntryWrite {
  feedId: bigint
  key: string
  /** JSON; null leaves a tombstone. */
  text: string | null
  /** By how much the version grows. */
  count: number
}

/** SQL that keeps since when an entry waits, where it waits already. To be set before the sync id. */
export const waitingSince = (since: string) =>
  `unpublished_since_ms = CASE WHEN sync_id = 0 THEN unpublished_since_ms ELSE ${since} END`

function unitsOf({ key, text }: EntryWrite): number {
  return key.length + (text?.length ?? 0) + ROW_UNITS
}

/** Writes entries, whose keys differ, in the order of feeds and keys, so that no two transactions wait for each other. */
export async function writeEntries(tx: Tx, writes: readonly EntryWrite[], nowMs: number): Promise<void> {
  const sorted = [...writes].sort((a, b) =>
    a.feedId === b.feedId ? compareNames(a.key, b.key) : a.feedId < b.feedId ? -1 : 1,
  )
  for (const chunk of chunksBySize(sorted, unitsOf, MAX_ROWS, MAX_UNITS)) {
    const rows = chunk.map(({ feedId, key, text, count }) => {
      return [feedId, key, 0, count, text === null ? 1 : 0, nowMs, nowMs, text ?? 'null']
    })
    const { sql, parameters } = tx.engine.values(rows)
    await tx.run(writeSql(tx, sql), parameters)
  }
}

const writeSql = ({ engine, tables }: Pick<Tx, 'engine' | 'tables'>, values: string) => {
  const { proposed } = engine
  const taken = ['deleted', 'updated_at_ms', 'value'].map((column) => `${column} = ${proposed(column)}`)
  return (
    `INSERT INTO ${tables.feedEntries} (feed_id, entry_key, sync_id, version, deleted, updated_at_ms, unpublished_since_ms, value) ` +
    `VALUES ${values} ${engine.onDuplicate('feed_id, entry_key')} ${waitingSince(proposed('unpublished_since_ms'))}, ` +
    `version = ${tables.feedEntries}.version + ${proposed('version')}, ${taken.join(', ')}, sync_id = 0`
  )
}

/**
 * Leaves tombstones for keys whose entries are rows of another table, which are gone. Resolves to false where the feed
 * has not begun: it gets none.
 */
export async function leaveTombstones(tx: Tx, feed: string, keys: readonly string[]): Promise<boolean> {
  const held = await holdFeed(tx, feed)
  if (held === null) return false
  const { id, nowMs } = held
  const writes = keys.map((key) => ({ feedId: id, key, text: null, count: 1 }))
  await writeEntries(tx, writes, nowMs)
  await noteTombstones(tx, id, keys, nowMs)
  return true
}

/** Notes when tombstones were written, for the sweeper. */
export async function noteTombstones(tx: Tx, feedId: bigint, keys: readonly string[], nowMs: number): Promise<void> {
  const { engine } = tx
  for (const chunk of chunksOf(keys, MAX_KEYS)) {
    const rows = chunk.map((key) => [nowMs, feedId, key])
    const { sql, parameters } = engine.upsert(
      tx.tables.feedTombstones,
      'deleted_at_ms, feed_id, entry_key',
      ['deleted_at_ms', 'feed_id', 'entry_key'],
      ['feed_id'],
      rows,
    )
    await tx.run(sql, parameters)
  }
}
