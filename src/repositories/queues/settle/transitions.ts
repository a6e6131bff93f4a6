/**
 * How messages go from one state to another, other than by a send. Each function takes rows that the transaction has
 * locked, and heads that it holds; starts are given last. So locks are taken in one order: queues, messages, flows.
 */
import type { Parameter, Statement, StatementAnswer, Tx } from '../../../database/engine'
import { chunksOf, groupedBy, rowsAmong, writeAmong } from '../../chunks'
import { column, shaped } from '../../row-shape'
import { assignStarts } from '../groups/flows'
import type { Turn } from '../groups/turns'
import { CYCLED, givenPlace, heldHead, holdHeadsSql, isLimited, type QueueHead, type ReadHead } from '../heads'
import type { QueueMemory } from '../memory'
import { BEHIND, blockedPlace, MAX_IDS, STATE } from '../rows'
import { heldBy, NO_RECEIPT, type Receipt } from './receipts'

const LOCKED = shaped({
  id: column.big.of('id'),
  queueId: column.big.of('queue_id'),
  state: column.number.of('state'),
  receipt: column.text.of('receipt'),
  priority: column.number.of('priority'),
  messageGroup: column.text.orNull('message_group'),
  messageKey: column.text.orNull('message_key'),
  receiveCount: column.number.of('receive_count'),
  maxReceives: column.number.orNull('max_receives'),
  sentAtMs: column.number.of('sent_at_ms'),
  visibleAtMs: column.number.of('visible_at_ms'),
  /** For a blocked one: it waits behind a message with its key, and not for a place. */
  isBehind: column.flag.of(`sort_major = ${BEHIND.major}`),
  /** The limit under which it was given a place of its group; null for a message without one. */
  groupPlace: column.number.orNull('group_place'),
  sourceQueueId: column.big.orNull('source_queue_id'),
})

/** A locked message, with the columns that a transition needs. */
export type LockedRow = ReturnType<typeof LOCKED.of>

export const { columns: lockedColumns, of: lockedOf } = LOCKED

/** The messages that the receipts hold in this queue, locked. */
export async function lockHeld(tx: Tx, queueId: bigint, receipts: readonly Receipt[]): Promise<LockedRow[]> {
  return heldIn(queueId, await tx.together(lockHeldSql(tx, receipts)))
}

/** The queue's head, held, and the messages that the receipts hold in it, locked. Throws `queue_not_found`. */
export async function holdWithMessages(
  tx: Tx,
  queue: string,
  receipts: readonly Receipt[],
): Promise<ReadHead & { rows: LockedRow[] }> {
  const [heads, ...answers] = await tx.together([holdHeadsSql(tx, [queue]), ...lockHeldSql(tx, receipts)])
  const held = heldHead(heads as StatementAnswer, queue)
  return { ...held, rows: heldIn(held.head.id, answers) }
}

function lockHeldSql(tx: Tx, receipts: readonly Receipt[]): Statement[] {
  const sorted = [...receipts].sort((a, b) => (a.id < b.id ? -1 : 1))
  return chunksOf(sorted, MAX_IDS).map((chunk) => {
    const { sql: where, parameters } = heldBy(chunk)
    const order = `ORDER BY ${tx.tables.queueMessages}.id${tx.engine.forUpdate}`
    return { sql: `SELECT ${lockedColumns(tx)} FROM ${tx.tables.queueMessages} WHERE ${where} ${order}`, parameters }
  })
}

/** The queue's messages of these ids, locked, that fulfil the condition. */
export async function lockChosen(
  tx: Tx,
  { id }: QueueHead,
  ids: readonly bigint[],
  condition: string,
  lock = tx.engine.forUpdate,
): Promise<LockedRow[]> {
  const { queueMessages } = tx.tables
  const sorted = [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1))
  const sql = (some: string) =>
    `SELECT ${lockedColumns(tx)} FROM ${queueMessages} WHERE id IN ${some} AND queue_id = ? AND ${condition} ` +
    `ORDER BY ${queueMessages}.id${lock}`
  return (await rowsAmong(tx, sorted, MAX_IDS, sql, { after: [id] })).map(lockedOf)
}

function heldIn(queueId: bigint, answers: readonly StatementAnswer[]): LockedRow[] {
  return answers.flatMap(({ rows }) => rows.map(lockedOf)).filter((row) => row.queueId === queueId)
}

/** Whether a claim that ends now without an ack was the last one. A dead letter's own limit does not apply any more. */
export function isOutOfReceives({ receiveCount, maxReceives, sourceQueueId }: LockedRow, head: QueueHead): boolean {
  const limit = (sourceQueueId === null ? maxReceives : null) ?? head.maxReceives
  return limit > 0 && receiveCount >= limit
}

/** Changes rows by their primary key, a few at a time. */
export function updateRows(tx: Tx, sets: string, rows: readonly { id: bigint }[], values: Parameter[] = []) {
  const ids = rows.map(({ id }) => id)
  const update = `UPDATE ${tx.tables.queueMessages} SET ${sets} WHERE id IN`
  return writeAmong(tx, ids, MAX_IDS, (some) => `${update} ${some}`, values)
}

const NONE = { blocked: new Set<bigint>(), later: new Map<bigint, Turn>() }

/** SQL: the place of a message that becomes ready. */
export function placeSet(head: QueueHead): string {
  if (!isLimited(head)) return ''
  return `, group_place = CASE WHEN message_group IS NULL THEN NULL ELSE ${givenPlace(head)} END`
}

/** The messages of groups, among some, that do not become ready. */
export interface NotReady {
  blocked: ReadonlySet<bigint>
  /** Messages that have places, and are ready only when their turns come. */
  later: ReadonlyMap<bigint, Turn>
}

/**
 * Makes the messages ready in the queue `head`, behind those that are ready there; those whose ids are `blocked` are blocked
 * there, and those whose turns come `later` are delayed. `sets` are further settings.
 */
export async function makeReady(
  tx: Tx,
  head: QueueHead,
  all: readonly LockedRow[],
  sets: string,
  memory: QueueMemory,
  { blocked, later }: NotReady = NONE,
): Promise<void> {
  const waiting = all.filter(({ id }) => blocked.has(id))
  await makeBlocked(tx, head, waiting, sets)
  if (later.size > 0) await makeLater(tx, head, all, later, sets, memory)
  const rows = all.filter(({ id }) => !blocked.has(id) && !later.has(id))
  if (rows.length === 0) return
  const becoming = rows.map(({ priority, messageGroup }) => ({ queueId: head.id, priority, messageGroup }))
  const starts = await assignStarts(tx, becoming)
  const cycle = head.cycled === CYCLED.not ? 0 : head.id
  const started = rows.map(({ id, priority }, index) => ({ id, head, priority, start: starts[index] as number }))
  for (const chunk of chunksOf(started, MAX_IDS)) {
    const cases = chunk.map(({ id, start }) => `WHEN ${id} THEN ${start}`).join(' ')
    const start = `CASE id ${cases} END`
    await updateRows(
      tx,
      `queue_id = ${head.id}, state = ${STATE.ready}, sort_major = -priority, sort_minor = ${start}, ` +
        `virtual_start = ${start}, cycle_queue_id = ${cycle}${placeSet(head)}${sets}`,
      chunk,
    )
  }
  memory.becameReady(tx, started)
}

/** Delays those of the messages of groups in the queue `head` whose turns come later. */
export async function makeLater(
  tx: Tx,
  head: QueueHead,
  all: readonly LockedRow[],
  later: NotReady['later'],
  sets: string,
  memory: QueueMemory,
): Promise<void> {
  const rows = all.filter(({ id }) => later.has(id))
  for (const [turn, alike] of groupedBy(rows, ({ id }) => later.get(id)?.atMs as number)) {
    await updateRows(
      tx,
      `queue_id = ${head.id}, state = ${STATE.delayed}, sort_major = ${turn}, sort_minor = 0, cycle_queue_id = 0, ` +
        `group_place = ${givenPlace(head)}, receipt = '${NO_RECEIPT}'${sets}, visible_at_ms = ${turn}`,
      alike,
    )
  }
  const waits = rows.map(({ id }) => later.get(id)?.inMs as number)
  await memory.reminders.remindFirst(tx, head.id, waits)
}

/** Blocks messages of groups in the queue `head`: they are handed out once their groups have places for them. */
export async function makeBlocked(tx: Tx, head: QueueHead, rows: readonly LockedRow[], sets: string): Promise<void> {
  for (const chunk of chunksOf(rows, MAX_IDS)) {
    const places = chunk.map(({ id, messageGroup }) => ({ id, ...blockedPlace(messageGroup as string) }))
    const cases = (key: 'major' | 'minor') => places.map((place) => `WHEN ${place.id} THEN ${place[key]}`).join(' ')
    await updateRows(
      tx,
      // First, so that MySQL's assignments leave it the receipt as it was.
      `queue_id = ${head.id}${sets}, state = ${STATE.blocked}, sort_major = CASE id ${cases('major')} END, ` +
        `sort_minor = CASE id ${cases('minor')} END, cycle_queue_id = 0, group_place = NULL, receipt = '${NO_RECEIPT}'`,
      chunk,
    )
  }
}

/** Has the messages handed out again from `dueMs` on. */
export function makeDelayed(tx: Tx, rows: readonly LockedRow[], dueMs: number): Promise<void> {
  return updateRows(
    tx,
    `state = ${STATE.delayed}, sort_major = ?, sort_minor = 0, visible_at_ms = ?, cycle_queue_id = 0, receipt = '${NO_RECEIPT}'`,
    rows,
    [dueMs, dueMs],
  )
}

/** Moves the messages to the dead-letter queue, where they are ready; without one they stay here, dead. */
export async function makeDead(
  tx: Tx,
  deadLetters: QueueHead | null,
  rows: readonly LockedRow[],
  nowMs: number,
  memory: QueueMemory,
  given: NotReady = NONE,
): Promise<void> {
  if (deadLetters === null) {
    // A dead letter that dies here keeps what its source has noted.
    const own = (column: string, value: string | number) =>
      `${column} = CASE WHEN source_queue_id IS NULL THEN ${value} ELSE ${column} END`
    const noted = `${own('dead_receive_count', 'receive_count')}, ${own('dead_at_ms', nowMs)}`
    const sets = `${noted}, state = ${STATE.dead}, sort_major = ?, sort_minor = 0, cycle_queue_id = 0, receipt = '${NO_RECEIPT}'`
    const place = rows.some(({ groupPlace }) => groupPlace !== null) ? ', group_place = NULL' : ''
    await updateRows(tx, sets + place, rows, [nowMs])
    return
  }
  // The count is copied before it is cleared: MySQL's assignments see those to the left of them.
  const noted = `dead_receive_count = receive_count, dead_at_ms = ${nowMs}, receive_count = 0`
  const sets = `, source_queue_id = ${rows[0]?.queueId ?? 0}, ${noted}, receipt = '${NO_RECEIPT}', visible_at_ms = ${nowMs}`
  await makeReady(tx, deadLetters, rows, sets, memory, given)
}
