/**
 * Feeds themselves: the row that a feed begins with, and its sequence.
 *
 * Invariant: whoever writes entries holds a shared lock on the feed's row, and whoever drops the feed an exclusive one,
 * so that no entry is written to a feed that is gone. The sequence's row is taken by publishers and by who removes
 * tombstones, never by writers.
 */
import { placeholders, type Reader, type Row, type Tx } from '../../database/engine'
import { invalidInput, RecentnError } from '../../errors'
import { chunksOf } from '../chunks'
import { type HeldFeed, holdFeed } from '../feed-entries'
import { makeSequence, readSequence, type SequenceRow, setSequence } from '../sequence-rows'

export interface FeedHead {
  id: bigint
  feed: string
  /** The last sync id. */
  value: bigint
  /** The greatest sync id of a tombstone that was removed. */
  horizon: bigint
  /** The table whose rows are the entries; null where the feed has its own. */
  followedTable: string | null
}

export const FEED = 'feed'

/** SQL: a feed in table `f` and its sequence in table `s`. */
export const headTables = ({ tables }: Pick<Reader, 'tables'>) =>
  `${tables.feeds} f JOIN ${tables.sequences} s ON s.kind = '${FEED}' AND s.sequence_name = f.feed`

export function headColumns({ engine }: Pick<Reader, 'engine'>): string {
  const { bigint } = engine
  return `${bigint('f.id')} AS feed_id, f.feed AS feed, ${bigint('s.value')} AS last_sync_id, ${bigint('s.horizon')} AS horizon, f.followed_table AS followed_table`
}

export function headOf(row: Row): FeedHead {
  return {
    id: BigInt(row.feed_id as string),
    feed: row.feed as string,
    value: BigInt(row.last_sync_id as string),
    horizon: BigInt(row.horizon as string),
    followedTable: row.followed_table as string | null,
  }
}

export async function readHead(reader: Reader, feed: string): Promise<FeedHead | null> {
  const [row] = await reader.rows(`SELECT ${headColumns(reader)} FROM ${headTables(reader)} WHERE f.feed = ?`, [feed])
  return row ? headOf(row) : null
}

/** Names of one list: a longer one may turn into a scan. */
const MAX_NAMES = 250

export async function lastSyncIds(reader: Reader, feeds: readonly string[]): Promise<Map<string, bigint>> {
  const values = new Map<string, bigint>()
  for (const names of chunksOf(feeds, MAX_NAMES)) {
    const rows = await reader.rows(
      `SELECT sequence_name, ${reader.engine.bigint('value')} AS value FROM ${reader.tables.sequences} WHERE kind = '${FEED}' ` +
        `AND sequence_name IN (${placeholders(names.length)})`,
      names,
    )
    for (const row of rows) values.set(row.sequence_name as string, BigInt(row.value as string))
  }
  return values
}

export function notFound(feed: string): RecentnError {
  return new RecentnError('feed_not_found', `There is no feed ${JSON.stringify(feed)}`)
}

/** Begins the feed unless it has begun. */
export async function holdOrBegin(tx: Tx, feed: string): Promise<HeldFeed> {
  const held = await holdFeed(tx, feed)
  if (held !== null) return held
  await tx.run(
    `INSERT INTO ${tx.tables.feeds} (feed, created_at_ms) VALUES (?, ${tx.now}) ${tx.engine.onDuplicate('feed')} created_at_ms = created_at_ms`,
    [feed],
  )
  await makeSequence(tx, FEED, feed)
  return (await holdFeed(tx, feed)) as HeldFeed
}

/**
 * Begins a feed that has the rows of a table as its entries. Numbers that the rows have from before count as given out.
 */
export async function beginFollowed(tx: Tx, feed: string, table: string, greatest: bigint): Promise<void> {
  const { id } = await holdOrBegin(tx, feed)
  await tx.run(`UPDATE ${tx.tables.feeds} SET followed_table = ? WHERE id = ?`, [table, id])
  const row = (await readSequence(tx, FEED, feed, tx.engine.forUpdate)) as SequenceRow
  if (row.value < greatest) await setSequence(tx, FEED, feed, { value: greatest })
}

/** Throws `invalid_input` where the entries are the rows of a table, which this process does not know. */
export function requireOwnEntries({ followedTable }: Pick<FeedHead, 'followedTable'>): void {
  if (followedTable === null) return
  const detail = `has the rows of the table ${followedTable} as its entries`
  throw invalidInput([{ parameter: 'feed', detail }])
}

/**
 * Drops the feed: its entries are of nobody's from here on, and its sequence goes on. Whoever read it has a cursor from
 * which deletions are missing now. `skip`: resolves to null when somebody has written to the feed and not committed yet.
 */
export async function dropFeed(tx: Tx, feed: string, skip = false): Promise<boolean | null> {
  const held = await holdFeed(tx, feed, skip ? tx.engine.forUpdateSkipLocked : tx.engine.forUpdate)
  if (held === null && skip && (await holdFeed(tx, feed, '')) !== null) return null
  if (held === null) return false
  await tx.run(`INSERT INTO ${tx.tables.feedDrops} (feed_id) VALUES (?)`, [held.id])
  await tx.run(`DELETE FROM ${tx.tables.feedConsumers} WHERE feed_id = ?`, [held.id])
  await tx.run(`DELETE FROM ${tx.tables.feeds} WHERE id = ?`, [held.id])
  const { value } = (await readSequence(tx, FEED, feed, tx.engine.forUpdate)) as SequenceRow
  // One number is left out, so that a cursor at the last one is behind the horizon too.
  if (value > 0n) await setSequence(tx, FEED, feed, { value: value + 1n, horizon: value + 1n })
  return true
}
