/**
 * Promotes due messages: those whose delay, or whose claim, has run out are ready again, or dead. A receive that looks for messages
 * does it, or a sweeper, in small batches. Order of the locks: the queue's head, the messages, keys (only free ones), the head of
 * the dead-letter queue, places, flows. Rows that another transaction has locked are skipped, so that a promotion delays no other
 * work.
 */
import type { Session, Tx } from '../../../database/engine'
import { ranOutError } from '../../../fields/queues'
import { isPassing } from '../../../shared/errors'
import { RAN_OUT } from '../../../shared/failures'
import { canAssign } from '../groups/flows'
import { applyGroupLimit } from '../groups/group-limit'
import {
  busyGroups,
  changePlaces,
  givePlaces,
  hasTurn,
  isAmong,
  lockPlaces,
  makeNextReady,
  moveOf,
  movesOf,
} from '../groups/places'
import { GROUP_PHASE, holdHead, type QueueHead, readHeadById } from '../heads'
import { heldKey, lockFreeKeys, nameOfKey } from '../keys/key-locks'
import { KeyTurns, NO_KEYS, namesOf } from '../keys/key-turns'
import type { QueueMemory } from '../memory'
import { TIMED } from '../reminded'
import { claimOrder, STATE } from '../rows'
import { lookAt, type QueueLook } from './looks'
import { addRunOut } from './receipts'
import {
  isOutOfReceives,
  type LockedRow,
  lockChosen,
  lockedColumns,
  lockedOf,
  makeDead,
  makeReady,
  updateRows,
} from './transitions'

/** Messages of one transaction. */
const BATCH = 200

interface Promotion {
  moved: number
  /** More messages are due, and no other transaction has locked what they need. */
  more: boolean
}

/** Makes the delayed ones of these messages due now: they are ready, where their groups have places. Resolves to how many. */
export async function promoteChosen(
  tx: Tx,
  memory: QueueMemory,
  queue: string,
  ids: readonly bigint[],
): Promise<number> {
  const { head, nowMs } = await holdHead(tx, queue)
  const delayed = await lockChosen(tx, head, ids, `state = ${STATE.delayed}`)
  // One that has a turn waits for it.
  const rows = delayed.filter((row) => !hasTurn(row, head))
  const given = await changePlaces(tx, movesOf(rows, head, head))
  await makeReady(tx, head, rows, `, visible_at_ms = ${nowMs}`, memory, given)
  await makeNextReady(tx, given, memory)
  return rows.length
}

/** Looks for due messages, and promotes enough of them for `limit` receives; resolves to whether any were moved. */
export async function promoteDue(session: Session, memory: QueueMemory, queue: string, limit = 1): Promise<boolean> {
  const look = await session.read((reader) => lookAt(reader, memory, queue))
  return promoteSeen(session, memory, look, limit)
}

/** Promotes the due messages that the look has found. */
export async function promoteSeen(
  session: Session,
  memory: QueueMemory,
  { head, isDue }: QueueLook,
  limit: number,
): Promise<boolean> {
  const isLimitChanged = head.groupPhase !== GROUP_PHASE.settled
  if (isLimitChanged && !session.inTransaction) await applyGroupLimit(session, memory, head.id).catch(unlessPassing)
  if (!isDue) return false
  const done = await promoteQueue(session, memory, head.id, Math.ceil(limit / BATCH) + 1).catch(unlessPassing)
  return done !== null && done.moved > 0
}

/** The receive continues without it: a sweeper does the work, or the next receive. */
function unlessPassing(error: unknown): null {
  if (isPassing(error)) return null
  throw error
}

/**
 * Promotes a few batches of due messages. Messages that need a lock of another transaction are left for later. A user's
 * open transaction may have one, if it has sent to the queue or to its dead-letter queue. A promotion waits only for the
 * sender of the very first message of a priority: no statement can skip a row that is not visible yet. It can be repeated, and is
 * when a commit was cut off.
 */
export async function promoteQueue(
  session: Session,
  memory: QueueMemory,
  queueId: bigint,
  batches: number,
): Promise<Promotion> {
  let moved = 0
  for (let batch = 0; batch < batches; batch++) {
    const options = { arrived: async () => false, retryMs: 0 }
    const one = await session.write((tx) => promoteBatch(tx, memory, queueId), options)
    moved += one.moved
    if (!one.more) return { moved, more: false }
  }
  return { moved, more: true }
}

async function promoteBatch(tx: Tx, memory: QueueMemory, queueId: bigint): Promise<Promotion> {
  const head = await readHeadById(tx, queueId, tx.engine.forShareSkipLocked)
  if (head === null) return { moved: 0, more: false }
  const nowMs = head.readAtMs
  const rows: LockedRow[] = []
  for (const state of TIMED) for (const row of await lockDue(tx, queueId, state, nowMs)) rows.push(row)
  const isHeld = (row: LockedRow) => row.state === STATE.inFlight && row.visibleAtMs > nowMs
  const expired = rows.filter((row) => !isHeld(row))
  const claims = expired.filter(({ state }) => state === STATE.inFlight)
  const keys = head.isKeyed ? await lockFreeKeys(tx, namesOf(head, claims)) : NO_KEYS
  const keyOf = (row: LockedRow) => keys.get(nameOfKey(head, heldKey(row) ?? '')) ?? null
  const over = expired.filter((row) => row.state !== STATE.inFlight || heldKey(row) === null || keyOf(row) !== null)
  const dying = over.filter((row) => row.state === STATE.inFlight && isOutOfReceives(row, head))
  await updateRows(tx, 'sort_major = visible_at_ms', rows.filter(isHeld))
  const deadLetterQueue = await freeDeadLetterQueue(tx, head, dying)
  const target = deadLetterQueue === 'in use' ? null : deadLetterQueue
  const due = over.filter((row) => deadLetterQueue !== 'in use' || !dying.includes(row))
  const ownMoves = (row: LockedRow) => {
    const behind = row.state === STATE.inFlight ? (keyOf(row)?.waiting ?? null) : null
    const own = moveOf(row, head, dying.includes(row) ? target : behind === null ? head : null)
    return behind === null ? [own] : [own, moveOf(behind, head, head)]
  }
  const busy = await busyGroups(tx, due.flatMap(ownMoves))
  const free = due.filter((row) => !ownMoves(row).some((move) => isAmong(move, busy)))
  const dead = free.filter((row) => dying.includes(row))
  const turns = new KeyTurns(keys)
  turns.end(head, dead)
  const living = free.filter((row) => !dying.includes(row))
  const ready = turns.again(head, living)
  const moves = [...movesOf(dead, head, target), ...movesOf(ready, head, head), ...turns.moves(nowMs)]
  const groups = await lockPlaces(tx, moves)
  const next = [...groups.values()].flatMap(({ blocked }) => blocked)
  if (!(await areFree(tx, queueId, [...ready, ...next, ...turns.released]))) return { moved: 0, more: false }
  const given = await givePlaces(tx, moves, groups)
  await sayRanOut(tx, dead, nowMs)
  await makeDead(tx, target, dead, nowMs, memory, given)
  // The receipt stays: until another receiver claims the message, its last receiver may still acknowledge it.
  await makeReady(tx, head, ready, addRunOut(nowMs), memory, given)
  await turns.finish(tx, memory, nowMs, given)
  await makeNextReady(tx, given, memory)
  const isAllFree = deadLetterQueue !== 'in use' && busy.size === 0 && over.length === expired.length
  return promoted(tx, memory, head, free, rows.length >= BATCH && isAllFree)
}

/** Claims that timed out have failed, in the history of the queue. */
function promoted(tx: Tx, memory: QueueMemory, head: QueueHead, free: readonly LockedRow[], more: boolean): Promotion {
  const timedOut = free.filter(({ state }) => state === STATE.inFlight).length
  tx.afterCommit(() => memory.passed(head.queue, 'failed', timedOut))
  return { moved: free.length, more }
}

/** The head of the dead-letter queue, held; null where dead messages stay in their queue. */
async function freeDeadLetterQueue(
  tx: Tx,
  head: QueueHead,
  dying: readonly LockedRow[],
): Promise<QueueHead | null | 'in use'> {
  const id = head.deadLetterQueueId
  if (id === null || dying.length === 0) return null
  const held = await readHeadById(tx, id, tx.engine.forShareSkipLocked)
  return held !== null && (await areFree(tx, id, dying)) ? held : 'in use'
}

/** Whether the messages can be made ready in that queue without waiting. */
function areFree(tx: Tx, queueId: bigint, rows: readonly LockedRow[]): Promise<boolean> {
  const becoming = rows.map(({ priority }) => ({ queueId, priority }))
  return canAssign(tx, becoming)
}

/** Notes why the messages die, unless a receiver has given an error. The note of an earlier death by timeout is replaced. */
async function sayRanOut(tx: Tx, dead: readonly LockedRow[], nowMs: number): Promise<void> {
  const unsaid = `last_error = CASE WHEN last_error IS NULL OR last_error LIKE '${RAN_OUT}%' THEN ? ELSE last_error END`
  for (const receives of new Set(dead.map(({ receiveCount }) => receiveCount))) {
    const alike = dead.filter(({ receiveCount }) => receiveCount === receives)
    await updateRows(tx, unsaid + addRunOut(nowMs), alike, [ranOutError(receives)])
  }
}

async function lockDue(tx: Tx, queueId: bigint, state: number, nowMs: number): Promise<LockedRow[]> {
  const { engine } = tx
  const rows = await tx.rows(
    `SELECT ${lockedColumns(tx)} FROM ${tx.tables.queueMessages}${engine.useIndex(tx.tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state = ? AND sort_major <= ? ORDER BY ${claimOrder(tx.tables)} LIMIT ${BATCH}` +
      engine.forNext,
    [queueId, state, nowMs],
  )
  return rows.map(lockedOf)
}
