/**
 * Cursors, and the consumers that have one stored in `recentn_feed_consumers`.
 *
 * A cursor is the last sync id that was read. Once tombstones have been removed, a reader before the greatest of them (the
 * horizon) may have missed a deletion, unless it started over after the removal. Then its cursor also has the horizon of
 * that moment, until the reader is past it. Such a cursor is (horizon << 63) + sync id.
 *
 * Invariant: a stored cursor moves only forward, unless forced; its row is locked from the read to the write.
 */
import type { Reader, Row, Tx } from '../../database/engine'
import { CONSUMER } from '../../fields/answers-feeds'
import { SYNC_ID_BITS } from '../../fields/feeds'
import { invalidInput, RecentnError } from '../../shared/errors'
import type { Consumer } from '../../shared/feed-types'
import { type FeedHead, holdFeed, holdOrBegin, noFeed, readHead } from './heads'

export interface Cursor {
  syncId: bigint
  /** The horizon when the reader started over: it misses no tombstone that was removed up to here. */
  knows: bigint
}

const SHIFT = SYNC_ID_BITS
const MASK = (1n << SHIFT) - 1n

export const START: Cursor = { syncId: 0n, knows: 0n }

export function cursorOf(cursor: bigint): Cursor {
  return { syncId: cursor & MASK, knows: cursor >> SHIFT }
}

/** The cursor as its holder sees it: the sync id alone, unless the reader has to prove what it knows. */
export function numberOf({ syncId, knows }: Cursor, { horizon }: Pick<FeedHead, 'horizon'>): bigint {
  return syncId === 0n || horizon <= syncId || knows <= syncId ? syncId : (knows << SHIFT) | syncId
}

function isExpired({ syncId, knows }: Cursor, { horizon }: Pick<FeedHead, 'horizon'>): boolean {
  return syncId > 0n && horizon > syncId && horizon > knows
}

/**
 * Throws `cursor_expired` when a tombstone after the cursor has been removed, and when the cursor is beyond the last sync
 * id. Then an older copy of the database has taken over, or the cursor was never issued.
 */
export function requireFresh(
  { engine }: Pick<Reader, 'engine'>,
  { syncId, knows }: Cursor,
  { value, horizon }: Pick<FeedHead, 'value' | 'horizon'>,
): void {
  // A node of a cluster may not have applied yet what another one has committed.
  if ((syncId > value || knows > value) && engine.caughtUp === null) {
    const detail = `The cursor is at ${knows > syncId ? knows : syncId}, and the last sync id is ${value}: start over at 0`
    throw new RecentnError('cursor_expired', detail)
  }
  if (!isExpired({ syncId, knows }, { horizon })) return
  throw new RecentnError(
    'cursor_expired',
    `Deletions up to sync id ${horizon} have been removed, and the cursor is at ${syncId}: start over at 0`,
  )
}

interface StoredConsumer {
  consumer: string
  cursor: Cursor
  movedAtMs: number | null
}

const columns = ({ bigint }: Reader['engine']) =>
  `c.consumer AS consumer, ${bigint('c.cursor_id')} AS cursor_id, ${bigint('c.knows_horizon')} AS knows_horizon, c.updated_at_ms AS moved_at_ms`

function storedOf(row: Row): StoredConsumer {
  const cursor = { syncId: BigInt(row.cursor_id as string), knows: BigInt(row.knows_horizon as string) }
  return { consumer: row.consumer as string, cursor, movedAtMs: Number(row.moved_at_ms) }
}

/** The start for a consumer that is not there. */
async function readConsumer(reader: Reader, feed: string, consumer: string): Promise<StoredConsumer> {
  const [row] = await reader.rows(
    `SELECT ${columns(reader.engine)} FROM ${reader.tables.feeds} f JOIN ${reader.tables.feedConsumers} c ON c.feed_id = f.id WHERE f.feed = ? AND c.consumer = ?`,
    [feed, consumer],
  )
  return row ? storedOf(row) : { consumer, cursor: START, movedAtMs: null }
}

/** The consumer's cursor; the start for an unknown consumer. */
export const readCursor = async (reader: Reader, feed: string, consumer: string): Promise<Cursor> =>
  (await readConsumer(reader, feed, consumer)).cursor

/** Throws `feed_not_found`. */
export async function storedCursor(reader: Reader, feed: string, consumer: string): Promise<Consumer> {
  const stored = await readConsumer(reader, feed, consumer)
  const head = await readHead(reader, feed)
  if (head === null) throw noFeed(feed)
  return consumerOf(stored, head)
}

function consumerOf(
  { consumer, cursor, movedAtMs }: StoredConsumer,
  head: Pick<FeedHead, 'value' | 'horizon'>,
): Consumer {
  const lag = Math.max(0, Number(head.value - cursor.syncId))
  const movedAt = movedAtMs === null ? null : new Date(movedAtMs)
  return CONSUMER.of({ consumer, cursor: numberOf(cursor, head), lag, movedAt })
}

export async function listConsumers(reader: Reader, head: FeedHead, limit: number): Promise<Consumer[]> {
  const rows = await reader.rows(
    `SELECT ${columns(reader.engine)} FROM ${reader.tables.feedConsumers} c WHERE c.feed_id = ? ORDER BY c.consumer LIMIT ${limit}`,
    [head.id],
  )
  return rows.map((row) => consumerOf(storedOf(row), head))
}

interface PutCursor {
  cursor: Cursor
  isForced: boolean
  /** Where the finished page began: nothing is stored if the consumer was put back before it since. */
  from?: Cursor
}

/** Stores the cursor of a consumer. Throws `invalid_input` for one beyond the last sync id. */
export async function moveCursor(
  tx: Tx,
  feed: string,
  consumer: string,
  { cursor: asked, isForced, from = START }: PutCursor,
): Promise<Consumer> {
  const { engine, now } = tx
  const { id } = await holdOrBegin(tx, feed)
  // Made first, so that there is a row to lock; another transaction that makes it is waited for.
  await tx.later(
    `INSERT INTO ${tx.tables.feedConsumers} (feed_id, consumer, cursor_id, knows_horizon, updated_at_ms) VALUES (?, ?, 0, 0, ${now}) ` +
      `${engine.onDuplicate('feed_id, consumer')} cursor_id = cursor_id`,
    [id, consumer],
  )
  const [row] = await tx.rows(
    `SELECT ${columns(engine)}, ${now} AS now_ms FROM ${tx.tables.feedConsumers} c WHERE c.feed_id = ? AND c.consumer = ?${engine.forUpdate}`,
    [id, consumer],
  )
  const stored = storedOf(row as Row)
  const before = stored.cursor
  const head = (await readHead(tx, feed)) as FeedHead
  if (asked.syncId > head.value || asked.knows > head.value) {
    throw invalidInput([{ pointer: '/cursor', detail: `is beyond the last sync id, ${head.value}` }])
  }
  // An expired cursor is replaced by one from a reader that started over. One at 0 would never be reported as expired.
  const isRescued = asked.syncId > 0n && isExpired(before, head) && !isExpired(asked, head)
  const isForward = asked.syncId > before.syncId || before.syncId === 0n || isRescued
  const isMoved = isForced || (isForward && before.syncId >= from.syncId)
  if (!isMoved) return consumerOf(stored, head)
  const movedAtMs = Number(row?.now_ms)
  // As it was given: its holder may have read before removals that other readers know of.
  await tx.later(
    `UPDATE ${tx.tables.feedConsumers} SET cursor_id = ?, knows_horizon = ?, updated_at_ms = ? WHERE feed_id = ? AND consumer = ?`,
    [asked.syncId, asked.knows, movedAtMs, id, consumer],
  )
  return consumerOf({ consumer, cursor: asked, movedAtMs }, head)
}

export async function dropCursor(tx: Tx, feed: string, consumer: string): Promise<boolean> {
  const held = await holdFeed(tx, feed, '')
  if (held === null) return false
  const sql = `DELETE FROM ${tx.tables.feedConsumers} WHERE feed_id = ? AND consumer = ?`
  return (await tx.run(sql, [held.id, consumer])) > 0
}
