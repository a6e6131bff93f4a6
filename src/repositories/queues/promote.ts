/**
 * What time does to messages: delays and claims that run out. In small batches, by whoever comes first: a receive that
 * looks for work, and the sweeper of every process. What another transaction has locked is passed over.
 */
import type { Reader, Session, Tx } from '../../database/engine'
import { RAN_OUT, ranOutError } from '../../fields/queues'
import type { OnReady } from './context'
import { canAssign } from './flows'
import { type QueueHead, readHeadById } from './heads'
import { inLine, STATE } from './rows'
import {
  isOutOfReceives,
  type LockedRow,
  lockedColumns,
  lockedOf,
  makeDead,
  makeReady,
  updateRows,
} from './transitions'

/** Messages of one transaction. */
export const BATCH = 200

/** Lines of the index that are in the order of time. */
const TIMED = [STATE.inFlight, STATE.delayed] as const

/** Asks for one row, so that it costs two looks in the index however much waits. */
function dueSql(reader: Reader, queueId: string): string {
  const due = (state: number) =>
    `(SELECT 1 FROM ${reader.tables.queueMessages}${reader.engine.useIndex(reader.tables.index.messagesClaim)} ` +
    `WHERE queue_id = ${queueId} AND state = ${state} AND sort_major <= ${reader.now} LIMIT 1)`
  return TIMED.map((state) => `${due(state)} IS NOT NULL`).join(' OR ')
}

/** Whether something is; null when the queue is gone. */
export async function isDue(reader: Reader, queueId: bigint): Promise<boolean | null> {
  const [row] = await reader.rows(
    `SELECT CASE WHEN ${dueSql(reader, String(queueId))} THEN 1 ELSE 0 END AS due FROM ${reader.tables.queues} WHERE id = ${queueId}`,
  )
  return row === undefined ? null : Number(row.due) === 1
}

/** The queues with something to do. */
export async function dueQueues(reader: Reader): Promise<bigint[]> {
  const rows = await reader.rows(
    `SELECT ${reader.engine.bigint(`${reader.tables.queues}.id`)} AS id FROM ${reader.tables.queues} WHERE ${dueSql(reader, `${reader.tables.queues}.id`)}`,
  )
  return rows.map(({ id }) => BigInt(id as string))
}

/** What was done about what is due in a queue. */
export interface Promoted {
  moved: number
  /** There is more of it, and nobody in the way. */
  more: boolean
}

/**
 * Promotes a few batches of what is due. What needs a lock that another transaction holds, as one of a user's that has
 * sent to the queue or to that of its dead letters and is still open, is left for later. It waits only for who sends the
 * very first message of a priority there: a row that nobody sees yet can't be passed over. Can be repeated, so that it is
 * when a commit was cut off.
 */
export async function promoteQueue(
  session: Session,
  queueId: bigint,
  batches: number,
  onReady: OnReady,
): Promise<Promoted> {
  let moved = 0
  for (let batch = 0; batch < batches; batch++) {
    const options = { arrived: async () => false, retryMs: 0 }
    const one = await session.write((tx) => promoteBatch(tx, queueId, onReady), options)
    moved += one.moved
    if (!one.more) return { moved, more: false }
  }
  return { moved, more: true }
}

async function promoteBatch(tx: Tx, queueId: bigint, onReady: OnReady): Promise<Promoted> {
  const held = await readHeadById(tx, queueId, tx.engine.forShareSkipLocked)
  if (held === null) return { moved: 0, more: false }
  const { head, nowMs } = held
  const rows: LockedRow[] = []
  for (const state of TIMED) for (const row of await lockDue(tx, queueId, state, nowMs)) rows.push(row)
  const isHeld = (row: LockedRow) => row.state === STATE.inFlight && row.visibleAtMs > nowMs
  const over = rows.filter((row) => !isHeld(row))
  const dying = over.filter((row) => row.state === STATE.inFlight && isOutOfReceives(row, head))
  const ready = over.filter((row) => !dying.includes(row))
  await updateRows(tx, 'sort_major = visible_at_ms', rows.filter(isHeld))
  const letters = await freeLetters(tx, head, dying)
  const dead = letters === 'in use' ? [] : dying
  if (!(await areFree(tx, queueId, ready))) return { moved: 0, more: false }
  await sayRanOut(tx, dead)
  if (letters !== 'in use') await makeDead(tx, letters, dead, nowMs, onReady)
  // The receipt stays: until another receiver has the message, its last one may still delete it.
  await makeReady(tx, head, ready, '', onReady)
  return { moved: dead.length + ready.length, more: rows.length >= BATCH && letters !== 'in use' }
}

/** The queue of the dead letters, held; null where the dead stay. */
async function freeLetters(tx: Tx, head: QueueHead, dying: readonly LockedRow[]): Promise<QueueHead | null | 'in use'> {
  const id = head.deadLetterQueueId
  if (id === null || dying.length === 0) return null
  const held = await readHeadById(tx, id, tx.engine.forShareSkipLocked)
  return held !== null && (await areFree(tx, id, dying)) ? held.head : 'in use'
}

/** Whether the messages can be made ready in that queue without waiting. */
function areFree(tx: Tx, queueId: bigint, rows: readonly LockedRow[]): Promise<boolean> {
  const becoming = rows.map(({ priority }) => ({ queueId, priority }))
  return canAssign(tx, becoming)
}

/** Why they die, where no receiver has said it. What is said of an earlier death by timeout is out of date. */
async function sayRanOut(tx: Tx, dead: readonly LockedRow[]): Promise<void> {
  const unsaid = `last_error = CASE WHEN last_error IS NULL OR last_error LIKE '${RAN_OUT}%' THEN ? ELSE last_error END`
  for (const receives of new Set(dead.map(({ receiveCount }) => receiveCount))) {
    const alike = dead.filter(({ receiveCount }) => receiveCount === receives)
    await updateRows(tx, unsaid, alike, [ranOutError(receives)])
  }
}

async function lockDue(tx: Tx, queueId: bigint, state: number, nowMs: number): Promise<LockedRow[]> {
  const { engine } = tx
  const rows = await tx.rows(
    `SELECT ${lockedColumns(tx)} FROM ${tx.tables.queueMessages}${engine.useIndex(tx.tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state = ? AND sort_major <= ? ORDER BY ${inLine(tx.tables)} LIMIT ${BATCH}` +
      engine.forUpdateSkipLocked,
    [queueId, state, nowMs],
  )
  return rows.map(lockedOf)
}
