/**
 * The row of each feed in `recentn_feeds`, and its sequence: how a feed begins, is held, listed and dropped.
 *
 * Invariant: a writer of entries holds a shared lock on the feed's row, and a transaction that drops the feed an exclusive
 * one. So no entry is written to a feed that is gone. The sequence's row is locked by publishers and by the sweeper of
 * tombstones, never by writers.
 */
import type { Reader, Row, Statement, Tx } from '../../database/engine'
import { invalidInput, RecentnError } from '../../shared/errors'
import type { ListOptions } from '../../shared/types'
import { nameRange } from '../name-range'
import type { PollQuestion } from '../reminders'
import { column, shaped } from '../row-shape'
import { makeSequence, readSequence, type SequenceRow, setSequence } from '../sequences'

export const FEED = 'feed'

/** A feed whose row the transaction holds, and the time after it got the lock. */
export interface HeldFeed {
  id: bigint
  followedTable: string | null
  nowMs: number
}

export async function holdFeed(tx: Tx, feed: string, lock = tx.engine.forShare): Promise<HeldFeed | null> {
  return heldFeed(await tx.rows(holdFeedSql(tx, feed, lock).sql, [feed]))
}

export function holdFeedSql(tx: Tx, feed: string, lock = tx.engine.forShare): Statement {
  const columns = `${tx.engine.bigint('id')} AS id, followed_table, ${tx.now} AS now_ms`
  return { sql: `SELECT ${columns} FROM ${tx.tables.feeds} WHERE feed = ?${lock}`, parameters: [feed] }
}

export function heldFeed([row]: readonly Row[]): HeldFeed | null {
  if (!row) return null
  const followedTable = row.followed_table as string | null
  return { id: BigInt(row.id as string), followedTable, nowMs: Number(row.now_ms) }
}

export async function holdOrBegin(tx: Tx, feed: string): Promise<HeldFeed> {
  const held = await holdFeed(tx, feed)
  if (held !== null) return held
  await tx.later(
    `INSERT INTO ${tx.tables.feeds} (feed, created_at_ms) VALUES (?, ${tx.now}) ${tx.engine.onDuplicate('feed')} created_at_ms = created_at_ms`,
    [feed],
  )
  await makeSequence(tx, FEED, feed)
  return (await holdFeed(tx, feed)) as HeldFeed
}

/** Holds a feed that must exist. Throws `feed_not_found`. */
export async function holdKnown(tx: Tx, feed: string): Promise<HeldFeed> {
  const held = await holdFeed(tx, feed)
  if (held === null) throw noFeed(feed)
  return held
}

export function noFeed(feed: string): RecentnError {
  return new RecentnError('feed_not_found', `There is no feed ${JSON.stringify(feed)}`)
}

/** Throws `invalid_input` where the entries are the rows of a table that this process does not follow. */
export function requireOwnEntries({ followedTable }: Pick<HeldFeed, 'followedTable'>): void {
  if (followedTable === null) return
  const detail = `has the rows of the table ${followedTable} as its entries`
  throw invalidInput([{ parameter: 'feed', detail }])
}

/** Begins a feed whose entries are the rows of a table. The numbers that the rows have already count as given out. */
export async function beginFollowed(tx: Tx, feed: string, table: string, greatest: bigint): Promise<void> {
  const { id } = await holdOrBegin(tx, feed)
  await tx.later(`UPDATE ${tx.tables.feeds} SET followed_table = ? WHERE id = ?`, [table, id])
  const row = (await readSequence(tx, FEED, feed, tx.engine.forUpdate)) as SequenceRow
  if (row.value < greatest) await setSequence(tx, FEED, feed, { value: greatest })
}

/**
 * Drops the feed: the sweeper removes its entries later, and its sequence continues. A cursor that was read before has missed
 * the deletion of every entry, so it expires. Resolves to whether the feed existed. With `skip`, resolves to `in_use` while
 * another transaction holds the feed.
 */
export async function dropFeed(tx: Tx, feed: string, skip: boolean): Promise<boolean | 'in_use'> {
  const held = await holdFeed(tx, feed, skip ? tx.engine.forNext : tx.engine.forUpdate)
  if (held === null && skip && (await holdFeed(tx, feed, '')) !== null) return 'in_use'
  if (held === null) return false
  await tx.later(`INSERT INTO ${tx.tables.feedDrops} (feed_id) VALUES (?)`, [held.id])
  await tx.later(`DELETE FROM ${tx.tables.feedConsumers} WHERE feed_id = ?`, [held.id])
  await tx.later(`DELETE FROM ${tx.tables.feeds} WHERE id = ?`, [held.id])
  const { value } = (await readSequence(tx, FEED, feed, tx.engine.forUpdate)) as SequenceRow
  // One number is left out, so that a cursor at the last one is before the horizon too.
  if (value > 0n) await setSequence(tx, FEED, feed, { value: value + 1n, horizon: value + 1n })
  return true
}

const HEAD = shaped({
  id: column.big.of('f.id'),
  feed: column.text.of('f.feed'),
  value: column.big.of('s.value'),
  /** The greatest sync id of a tombstone that was removed. */
  horizon: column.big.of('s.horizon'),
  /** The table whose rows are the entries; null where the feed has its own. */
  followedTable: column.text.orNull('f.followed_table'),
})

export type FeedHead = ReturnType<typeof HEAD.of>

export const { columns: headColumns, of: headOf } = HEAD

/** SQL: a feed in table `f` and its sequence in table `s`. */
export const headTables = ({ tables }: Pick<Reader, 'tables'>) =>
  `${tables.feeds} f JOIN ${tables.sequences} s ON s.kind = '${FEED}' AND s.sequence_name = f.feed`

export async function readHead(reader: Reader, feed: string): Promise<FeedHead | null> {
  const [row] = await reader.rows(`SELECT ${headColumns(reader)} FROM ${headTables(reader)} WHERE f.feed = ?`, [feed])
  return row ? headOf(row) : null
}

export async function listHeads(
  reader: Reader,
  { limit, after = '', prefix = '', contains }: ListOptions & { limit: number },
): Promise<FeedHead[]> {
  const { where, parameters } = nameRange('f.feed', after, prefix, contains)
  const rows = await reader.rows(
    `SELECT ${headColumns(reader)} FROM ${headTables(reader)} WHERE ${where} ORDER BY f.feed LIMIT ${limit}`,
    parameters,
  )
  return rows.map(headOf)
}

export function lastSyncId(feed: string): PollQuestion {
  return {
    sql: ({ engine, tables }) =>
      `SELECT ${engine.bigint('value')} FROM ${tables.sequences} WHERE kind = '${FEED}' AND sequence_name = ?`,
    parameters: [feed],
  }
}
