/**
 * Claiming by priority and fairness, by batch key: one statement marks the next messages with the number of the claim,
 * another reads what it got. Each commits by itself, so that a receiver that stops in between keeps no lock, and what
 * it has claimed comes back when the visibility timeout is over.
 *
 * Invariant: a message has one receipt, drawn by the database for each message and claim; SKIP LOCKED gives concurrent
 * claims disjoint messages without waiting. The index recentn_queue_messages_claim is WHERE and ORDER BY at once: a claim never
 * passes over what is delayed, in flight or dead.
 */
import { randomInt } from 'node:crypto'
import type { Engine, Reader, Statements } from '../../database/engine'
import type { QueueHead } from './heads'
import type { Place } from './memory'
import { type ClaimedRow, claimedOf, inLine, messageColumns, NO_RECEIPT, STATE } from './rows'

export interface ClaimRequest {
  head: QueueHead
  max: number
  /** The request's; else the messages' own, else the queue's. */
  visibilityTimeoutSeconds: number | undefined
  /** Where to begin; null is the start of the line. */
  from: Place | null
}

/** Numbers below 2^48, so that a JavaScript number holds them. */
export function newClaimNumber(): number {
  return randomInt(1, 2 ** 48 - 1)
}

type Words = Pick<Reader, 'engine' | 'tables'>

/** The ids that a claim takes. A head that has changed since it was read takes none. */
export function chooseSql({ engine, tables }: Words, { head, max, from }: ClaimRequest): string {
  const since = from === null ? '' : ` AND sort_major = ${from.major} AND sort_minor >= ${from.minor}`
  return (
    `SELECT id FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} ` +
    `WHERE queue_id = ${head.id} AND state = ${STATE.ready}${since} ` +
    `AND (SELECT version FROM ${tables.queues} WHERE id = ${head.id}) = ${head.version} ` +
    `ORDER BY ${inLine(tables)} LIMIT ${max}${engine.forUpdateSkipLocked}`
  )
}

/** The claim: the statement that docs/sql.md shows. */
export function claimSql(words: Words, now: string, request: ClaimRequest, claimNumber: number): string {
  const { engine, tables } = words
  return engine.updateChosen(
    tables.queueMessages,
    chooseSql(words, request),
    claimSets(engine, now, request, claimNumber),
  )
}

/** After how long a claim is looked at: none of its messages may come back sooner. */
export function lookSeconds(head: QueueHead, asked: number | undefined): number {
  return asked ?? Math.min(head.visibilityTimeoutSeconds, head.shortestVisibilitySeconds)
}

/** What a claim makes of a message, whichever way it was chosen. */
export function claimSets(
  engine: Engine,
  now: string,
  { head, visibilityTimeoutSeconds }: Pick<ClaimRequest, 'head' | 'visibilityTimeoutSeconds'>,
  claimNumber: number,
): string {
  const visibility =
    visibilityTimeoutSeconds === undefined
      ? `COALESCE(visibility_timeout_seconds, ${head.visibilityTimeoutSeconds})`
      : String(visibilityTimeoutSeconds)
  // The same for all of a claim, so that one look in the index reads them; none of them runs out before.
  const look = lookSeconds(head, visibilityTimeoutSeconds)
  return (
    `state = ${STATE.inFlight}, sort_major = ${engine.remembered(`${now} + ${look * 1000}`)}, ` +
    `sort_minor = ${claimNumber}, cycle_queue_id = 0, receipt = ${engine.randomHex}, ` +
    `visible_at_ms = ${now} + ${visibility} * 1000, last_received_at_ms = ${now}, receive_count = receive_count + 1`
  )
}

/** Claims; none when nothing is ready, and when the head has changed. Looks first for what `lost` had claimed. */
export async function claimReady(
  statements: Statements,
  request: ClaimRequest,
  claimNumber: number,
  lost: boolean,
): Promise<ClaimedRow[]> {
  const { engine, now } = statements
  const { head } = request
  if (lost) {
    const rows = await readClaim(statements, head, claimNumber)
    if (rows.length > 0) return rows
  }
  // The time as a number, where a statement can't say what it made of it.
  const time = engine.remembers ? now : await timeOf(statements)
  const { affected, insertId } = await statements.execute(claimSql(statements, time, request, claimNumber))
  if (affected === 0) return []
  return readClaim(statements, head, claimNumber, engine.remembers ? insertId : undefined)
}

/** Whether something is ready that is more urgent. Looked for backwards: forwards, what was claimed stands in the way. */
export async function isUrgent(reader: Reader, queueId: bigint, major: number): Promise<boolean> {
  const rows = await reader.rows(
    `SELECT sort_major FROM ${reader.tables.queueMessages}${reader.engine.useIndex(reader.tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state = ? AND sort_major < ? ORDER BY sort_major DESC LIMIT 1`,
    [queueId, STATE.ready, major],
  )
  return rows.length > 0
}

async function timeOf(reader: Reader): Promise<string> {
  const [row] = await reader.rows(`SELECT ${reader.now} AS now_ms`)
  return String(row?.now_ms)
}

/** In the order in which they were ready. Without `lookAtMs`, what is in flight in this queue is gone through. */
async function readClaim(
  reader: Reader,
  { id }: QueueHead,
  claimNumber: number,
  lookAtMs?: bigint,
): Promise<ClaimedRow[]> {
  const { engine } = reader
  const at = lookAtMs === undefined ? '' : ` AND sort_major = ${lookAtMs}`
  const rows = await reader.rows(
    `SELECT ${messageColumns(engine)} FROM ${reader.tables.queueMessages}${engine.useIndex(reader.tables.index.messagesClaim)} ` +
      `WHERE queue_id = ${id} AND state = ${STATE.inFlight}${at} AND sort_minor = ${claimNumber} ` +
      `AND receipt <> '${NO_RECEIPT}'`,
  )
  return rows.map(claimedOf).sort(byTurn)
}

function byTurn(a: ClaimedRow, b: ClaimedRow): number {
  return b.priority - a.priority || a.virtualStart - b.virtualStart || (a.id < b.id ? -1 : 1)
}

/** Where the next claim may begin, after a full one: what is left of the last priority stands behind. */
export function placeAfter(rows: readonly ClaimedRow[], max: number): Place | null {
  const last = rows.at(-1)
  if (last === undefined || rows.length < max) return null
  return { major: last.priority === 0 ? 0 : -last.priority, minor: last.virtualStart }
}
