/**
 * Cursors, and the consumers that have one stored.
 *
 * A cursor is the last sync id that was read. When tombstones have been removed, whoever stands before the greatest of
 * them (the horizon) may have missed a deletion, unless it started over after the removal: then its cursor says so, by
 * the horizon of that moment, until it has read past it. Such a cursor is (horizon << 63) + sync id.
 *
 * Invariant: a stored cursor moves forward only, unless forced; its row is locked from the reading to the writing.
 */
import type { Reader, Row, Tx } from '../../database/engine'
import { invalidInput, RecentnError } from '../../errors'
import { SYNC_ID_BITS } from '../../fields/feeds'
import { asConsumer } from '../../results/feeds'
import { type FeedHead, holdOrBegin, readHead } from './heads'
import type { Consumer } from './types'

export interface Cursor {
  syncId: bigint
  /** Removed tombstones up to here are nothing that it would miss. */
  knows: bigint
}

const SHIFT = SYNC_ID_BITS
const MASK = (1n << SHIFT) - 1n

export const START: Cursor = { syncId: 0n, knows: 0n }

export function cursorOf(cursor: bigint): Cursor {
  return { syncId: cursor & MASK, knows: cursor >> SHIFT }
}

/** The cursor as its holder sees it: the sync id alone, unless that would not say what it knows and must know. */
export function numberOf({ syncId, knows }: Cursor, { horizon }: Pick<FeedHead, 'horizon'>): bigint {
  return syncId === 0n || horizon <= syncId || knows <= syncId ? syncId : (knows << SHIFT) | syncId
}

function isExpired({ syncId, knows }: Cursor, { horizon }: Pick<FeedHead, 'horizon'>): boolean {
  return syncId > 0n && horizon > syncId && horizon > knows
}

/** Throws `cursor_expired` when a deletion after the cursor can't be told any more. */
export function requireFresh({ syncId, knows }: Cursor, { value, horizon }: FeedHead): void {
  if (knows > value) throw invalidInput([{ pointer: '/after', detail: 'is no cursor that this feed has given' }])
  if (!isExpired({ syncId, knows }, { horizon })) return
  throw new RecentnError(
    'cursor_expired',
    `Deletions up to sync id ${horizon} have been removed, and the cursor is at ${syncId}: start over at 0`,
  )
}

interface StoredConsumer {
  consumer: string
  cursor: Cursor
}

const columns = ({ bigint }: Reader['engine']) =>
  `c.consumer AS consumer, ${bigint('c.cursor_id')} AS cursor_id, ${bigint('c.knows_horizon')} AS knows_horizon`

function storedOf(row: Row): StoredConsumer {
  const cursor = { syncId: BigInt(row.cursor_id as string), knows: BigInt(row.knows_horizon as string) }
  return { consumer: row.consumer as string, cursor }
}

/** Where the consumer stands; at the start when it is not known. */
export async function readCursor(reader: Reader, feed: string, consumer: string): Promise<Cursor> {
  const [row] = await reader.rows(
    `SELECT ${columns(reader.engine)} FROM ${reader.tables.feeds} f JOIN ${reader.tables.feedConsumers} c ON c.feed_id = f.id WHERE f.feed = ? AND c.consumer = ?`,
    [feed, consumer],
  )
  return row ? storedOf(row).cursor : START
}

export async function getConsumer(reader: Reader, feed: string, consumer: string): Promise<Consumer> {
  const cursor = await readCursor(reader, feed, consumer)
  return consumerOf({ consumer, cursor }, (await readHead(reader, feed)) ?? { value: 0n, horizon: 0n })
}

function consumerOf({ consumer, cursor }: StoredConsumer, head: Pick<FeedHead, 'value' | 'horizon'>): Consumer {
  const lag = Math.max(0, Number(head.value - cursor.syncId))
  return asConsumer({ consumer, cursor: numberOf(cursor, head), lag })
}

/** The first consumers of a feed, by name. */
export async function listConsumers(reader: Reader, head: FeedHead, limit: number): Promise<Consumer[]> {
  const rows = await reader.rows(
    `SELECT ${columns(reader.engine)} FROM ${reader.tables.feedConsumers} c WHERE c.feed_id = ? ORDER BY c.consumer LIMIT ${limit}`,
    [head.id],
  )
  return rows.map((row) => consumerOf(storedOf(row), head))
}

export interface PutCursor {
  cursor: Cursor
  isForced: boolean
  /** Where the reading of what is done began: nothing is stored where the consumer was put back behind it since. */
  from?: Cursor
}

/** Stores the cursor of a consumer. Throws `invalid_input` for one beyond the last sync id. */
export async function putConsumer(
  tx: Tx,
  feed: string,
  consumer: string,
  { cursor: asked, isForced, from = START }: PutCursor,
): Promise<Consumer> {
  const { engine, now } = tx
  const { id } = await holdOrBegin(tx, feed)
  // Made first, so that there is a row to lock; whoever makes it at the same time is waited for.
  await tx.run(
    `INSERT INTO ${tx.tables.feedConsumers} (feed_id, consumer, cursor_id, knows_horizon, updated_at_ms) VALUES (?, ?, 0, 0, ${now}) ` +
      `${engine.onDuplicate('feed_id, consumer')} cursor_id = cursor_id`,
    [id, consumer],
  )
  const [row] = await tx.rows(
    `SELECT ${columns(engine)} FROM ${tx.tables.feedConsumers} c WHERE c.feed_id = ? AND c.consumer = ?${engine.forUpdate}`,
    [id, consumer],
  )
  const before = storedOf(row as Row).cursor
  const head = (await readHead(tx, feed)) as FeedHead
  if (asked.syncId > head.value || asked.knows > head.value) {
    const detail = `is beyond the last sync id, ${head.value}`
    throw invalidInput([{ pointer: '/cursor', detail }])
  }
  // One that is expired is of no use; what comes from who has started over is. At 0 nobody would be told to do so.
  const isRescued = asked.syncId > 0n && isExpired(before, head) && !isExpired(asked, head)
  const isForward = asked.syncId > before.syncId || before.syncId === 0n || isRescued
  const isMoved = isForced || (isForward && before.syncId >= from.syncId)
  // As it was given: what its holder has read may be from before removals that others know of.
  const cursor = isMoved ? asked : before
  await tx.run(
    `UPDATE ${tx.tables.feedConsumers} SET cursor_id = ?, knows_horizon = ?, updated_at_ms = ${now} WHERE feed_id = ? AND consumer = ?`,
    [cursor.syncId, cursor.knows, id, consumer],
  )
  return consumerOf({ consumer, cursor }, head)
}

export async function deleteConsumer(tx: Tx, feed: string, consumer: string): Promise<boolean> {
  const [row] = await tx.rows(`SELECT ${tx.engine.bigint('id')} AS id FROM ${tx.tables.feeds} WHERE feed = ?`, [feed])
  if (!row) return false
  return (
    (await tx.run(`DELETE FROM ${tx.tables.feedConsumers} WHERE feed_id = ? AND consumer = ?`, [
      row.id as string,
      consumer,
    ])) > 0
  )
}
