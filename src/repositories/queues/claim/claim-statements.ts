/**
 * The statements of a claim: it marks the next messages with its number, and another statement, sent with it, reads what it
 * got. Before them, where that is needed, a reminder of when the claim has expired.
 */
import type { Engine, Parameter, Reader, Row, Statement } from '../../../database/engine'
import type { QueueHead } from '../heads'
import type { ClaimPlace } from '../pages'
import { type ClaimedRow, claimedColumns, claimedOf, claimOrder, STATE, urgencyOf } from '../rows'
import { NO_RECEIPT } from '../settle/receipts'

export interface ClaimRequest {
  head: QueueHead
  limit: number
  visibilityTimeoutSeconds: number | undefined
  /** Where to begin; null for the very first message. */
  from: ClaimPlace | null
}

type Words = Pick<Reader, 'engine' | 'tables'>

/** After how many seconds a claim is looked at: none of its messages may come back sooner. */
export function lookSeconds(head: QueueHead, asked: number | undefined): number {
  return asked ?? Math.min(head.visibilityTimeoutSeconds, head.shortestVisibilitySeconds)
}

/** SQL: what a claim sets, however its messages were chosen. Without `asked` their own visibility applies, or the queue's. */
export function claimSets(
  engine: Engine,
  now: string,
  head: QueueHead,
  asked: number | undefined,
  claimNumber: bigint,
): Statement {
  const visibility = asked === undefined ? 'COALESCE(visibility_timeout_seconds, ?)' : '?'
  // The same for all messages of a claim, so that one range of the index has them; none of them runs out before.
  const lookMs = lookSeconds(head, asked) * 1000
  const sql =
    `state = ${STATE.inFlight}, sort_major = ${engine.remembered(`${now} + ?`)}, ` +
    `sort_minor = ?, cycle_queue_id = 0, receipt = ${engine.randomHex}, ` +
    `visible_at_ms = ${now} + ${visibility} * 1000, last_received_at_ms = ${now}, receive_count = receive_count + 1, ` +
    `first_received_at_ms = CASE first_received_at_ms WHEN 0 THEN ${now} ELSE first_received_at_ms END`
  return { sql, parameters: [lookMs, claimNumber, asked ?? head.visibilityTimeoutSeconds] }
}

/**
 * The ids that a claim takes. A head that has changed since it was read takes none. The differences between claims are a
 * parameter, so that SQLite prepares the statement once.
 */
export function chooseSql({ engine, tables }: Words, { head, limit, from }: ClaimRequest): Statement {
  const since = from === null ? '' : ' AND sort_major = ? AND sort_minor >= ?'
  const place: Parameter[] = from === null ? [] : [from.major, from.minor]
  const sql =
    `SELECT id FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} ` +
    `WHERE queue_id = ? AND state = ${STATE.ready}${since} ` +
    `AND (SELECT version FROM ${tables.queues} WHERE id = ?) = ? ` +
    `ORDER BY ${claimOrder(tables)} LIMIT ?${engine.forNext}`
  return { sql, parameters: [head.id, ...place, head.id, head.version, limit] }
}

/** The claim: the statement that docs/sql.md shows. */
export function claimSql(words: Words, now: string, request: ClaimRequest, claimNumber: bigint): Statement {
  const { engine, tables } = words
  const sets = claimSets(engine, now, request.head, request.visibilityTimeoutSeconds, claimNumber)
  return engine.updateChosen(tables.queueMessages, chooseSql(words, request), sets)
}

/** The messages of a claim. Without `lookAtMs`, all messages in flight of the queue are searched. */
export function readSql({ engine, tables }: Words, { id }: QueueHead, claimNumber: bigint, lookAtMs?: string): string {
  const at = lookAtMs === undefined ? '' : ` AND sort_major = ${lookAtMs}`
  return (
    `SELECT ${claimedColumns({ engine })} FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} ` +
    `WHERE queue_id = ${id} AND state = ${STATE.inFlight}${at} AND sort_minor = ${claimNumber} ` +
    `AND receipt <> '${NO_RECEIPT}'`
  )
}

/** In the order in which they were ready. */
export function claimedIn(rows: readonly Row[]): ClaimedRow[] {
  return rows
    .map(claimedOf)
    .sort((a, b) => b.priority - a.priority || a.virtualStart - b.virtualStart || (a.id < b.id ? -1 : 1))
}

/** Where the next claim may begin, after a full one: messages of the last priority that are left come later. */
export function placeAfter(rows: readonly ClaimedRow[], limit: number): ClaimPlace | null {
  const last = rows.at(-1)
  if (last === undefined || rows.length < limit) return null
  return { major: urgencyOf(last.priority), minor: last.virtualStart }
}

/** Whether a more urgent message is ready. Backwards: forwards, index entries of claimed messages would be in the way. */
export async function isUrgent(reader: Reader, queueId: bigint, major: number): Promise<boolean> {
  const rows = await reader.rows(
    `SELECT sort_major FROM ${reader.tables.queueMessages}${reader.engine.useIndex(reader.tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state = ? AND sort_major < ? ORDER BY sort_major DESC LIMIT 1`,
    [queueId, STATE.ready, major],
  )
  return rows.length > 0
}
