/**
 * How messages go from one state to another outside of sends and claims. Each takes rows that the transaction has
 * locked, and heads that it holds; starts are given last, so that locks are taken in one order: queues, messages, flows.
 */
import { type Parameter, placeholders, type Row, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import type { OnReady } from './context'
import { assignStarts, urgencyOf } from './flows'
import { CYCLED, type QueueHead } from './heads'
import { MAX_IDS, NO_RECEIPT, STATE } from './rows'

/** A locked message, as far as a transition needs it. */
export interface LockedRow {
  id: bigint
  queueId: bigint
  state: number
  receipt: string
  priority: number
  messageGroup: string | null
  receiveCount: number
  maxReceives: number | null
  visibleAtMs: number
  sourceQueueId: bigint | null
}

export function lockedColumns({ engine }: Tx): string {
  return (
    `${engine.bigint('id')} AS id, ${engine.bigint('queue_id')} AS queue_id, state, receipt, priority, message_group, ` +
    `receive_count, max_receives, visible_at_ms, ${engine.bigint('source_queue_id')} AS source_queue_id`
  )
}

export function lockedOf(row: Row): LockedRow {
  return {
    id: BigInt(row.id as string),
    queueId: BigInt(row.queue_id as string),
    state: Number(row.state),
    receipt: row.receipt as string,
    priority: Number(row.priority),
    messageGroup: row.message_group as string | null,
    receiveCount: Number(row.receive_count),
    maxReceives: row.max_receives === null ? null : Number(row.max_receives),
    visibleAtMs: Number(row.visible_at_ms),
    sourceQueueId: row.source_queue_id === null ? null : BigInt(row.source_queue_id as string),
  }
}

/** Whether a claim that ends now without a delete was the last one. Among the dead letters its own limit is past. */
export function isOutOfReceives({ receiveCount, maxReceives, sourceQueueId }: LockedRow, head: QueueHead): boolean {
  const limit = (sourceQueueId === null ? maxReceives : null) ?? head.maxReceives
  return limit > 0 && receiveCount >= limit
}

/** Changes rows by their primary key, a few at a time. */
export async function updateRows(tx: Tx, sets: string, rows: readonly { id: bigint }[], values: Parameter[] = []) {
  for (const chunk of chunksOf(rows, MAX_IDS)) {
    const ids = chunk.map(({ id }) => id)
    await tx.run(`UPDATE ${tx.tables.queueMessages} SET ${sets} WHERE id IN (${placeholders(ids.length)})`, [
      ...values,
      ...ids,
    ])
  }
}

/** Makes the messages ready in the queue `head`, behind what is ready there; `sets` is what else changes. */
export async function makeReady(
  tx: Tx,
  head: QueueHead,
  rows: readonly LockedRow[],
  sets: string,
  onReady: OnReady,
): Promise<void> {
  if (rows.length === 0) return
  const starts = await assignStarts(
    tx,
    rows.map(({ priority, messageGroup }) => ({ queueId: head.id, priority, messageGroup })),
  )
  const cycle = head.cycled === CYCLED.not ? 0 : head.id
  const started = rows.map(({ id, priority }, index) => ({ id, priority, start: starts[index] as number }))
  for (const chunk of chunksOf(started, MAX_IDS)) {
    const cases = chunk.map(({ id, start }) => `WHEN ${id} THEN ${start}`).join(' ')
    const start = `CASE id ${cases} END`
    await updateRows(
      tx,
      `queue_id = ${head.id}, state = ${STATE.ready}, sort_major = -priority, sort_minor = ${start}, ` +
        `virtual_start = ${start}, cycle_queue_id = ${cycle}${sets}`,
      chunk,
    )
  }
  for (const { priority, start } of started) onReady(head.id, urgencyOf(priority), start)
}

/** Hands the messages out again after `dueMs`. */
export function makeDelayed(tx: Tx, rows: readonly LockedRow[], dueMs: number): Promise<void> {
  return updateRows(
    tx,
    `state = ${STATE.delayed}, sort_major = ?, sort_minor = 0, visible_at_ms = ?, cycle_queue_id = 0, receipt = '${NO_RECEIPT}'`,
    rows,
    [dueMs, dueMs],
  )
}

/** Never hands them out again here: to the dead letters, where they are ready, or where there are none they stay. */
export async function makeDead(
  tx: Tx,
  deadLetters: QueueHead | null,
  rows: readonly LockedRow[],
  nowMs: number,
  onReady: OnReady,
): Promise<void> {
  if (deadLetters === null) {
    const sets = `state = ${STATE.dead}, sort_major = ?, sort_minor = 0, cycle_queue_id = 0, receipt = '${NO_RECEIPT}'`
    await updateRows(tx, sets, rows, [nowMs])
    return
  }
  const sets = `, source_queue_id = ${rows[0]?.queueId ?? 0}, receive_count = 0, receipt = '${NO_RECEIPT}', visible_at_ms = ${nowMs}`
  await makeReady(tx, deadLetters, rows, sets, onReady)
}
