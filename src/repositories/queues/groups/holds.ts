/**
 * Holding a queue, or one of its message groups: no message of it is handed out for some time. Messages that were received before
 * stay with their receivers. A message of a group that is held is delayed by the claim that comes upon it (`claim/in-turn.ts`). It
 * waits for the end of the hold without costing others a look. The queue's head, locked, keeps holds, claims and sends apart.
 */
import type { Parameter, Session, Tx } from '../../../database/engine'
import type { HoldOptions, QueueHold } from '../../../shared/queue-types'
import type { QueueHead } from '../heads'
import type { QueueMemory } from '../memory'
import { lockKnown } from '../queues'
import { STATE } from '../rows'
import type { Receipt } from '../settle/receipts'
import { giveAllBack, readHandles, validOf } from '../settle/settle'
import { type LockedRow, lockedColumns, lockedOf, makeReady } from '../settle/transitions'
import { changePlaces, makeNextReady, movesOf } from './places'
import { TURNS } from './turns'

/** May be repeated. */
export async function holdQueue(session: Session, memory: QueueMemory, queue: string, options: HoldOptions) {
  const handles = options.receiptHandle === undefined ? [] : [options.receiptHandle]
  const receipts = validOf(await readHandles(session, memory, queue, handles))
  return session.write((tx) => hold(tx, memory, queue, options, receipts), { arrived: async () => false })
}

/** A further hold replaces the one before it; with 0 seconds that ends. The messages of the receipts are given back. */
async function hold(
  tx: Tx,
  memory: QueueMemory,
  queue: string,
  { group, seconds }: HoldOptions,
  receipts: readonly Receipt[],
): Promise<QueueHold> {
  const head = await lockKnown(tx, queue)
  const nowMs = head.readAtMs
  const untilMs = seconds === 0 ? 0 : nowMs + seconds * 1000
  if (group === undefined) await setHead(tx, head, 'held_until_ms = ?', [untilMs])
  else {
    const beforeMs = await setGroup(tx, head, group, untilMs)
    const most = 'CASE WHEN groups_held_until_ms < ? THEN ? ELSE groups_held_until_ms END'
    await setHead(tx, head, `groups_held_until_ms = ${most}`, [untilMs, untilMs])
    if (beforeMs > untilMs) await letGo(tx, memory, head, group, beforeMs)
  }
  if (receipts.length > 0) await giveAllBack(tx, memory, queue, receipts)
  memory.changed(tx, queue, { resumed: true })
  return { holdEndsAt: untilMs === 0 ? null : new Date(untilMs) }
}

function setHead(tx: Tx, { id }: QueueHead, sets: string, values: Parameter[]): Promise<void> {
  return tx.later(`UPDATE ${tx.tables.queues} SET ${sets}, version = version + 1 WHERE id = ?`, [...values, id])
}

/** Resolves to when the hold before it would have ended. */
async function setGroup(tx: Tx, head: QueueHead, group: string, untilMs: number): Promise<number> {
  const { engine, tables } = tx
  const { id } = head
  await tx.later(TURNS.make(tx, [{ head, group }]))
  const where = 'WHERE queue_id = ? AND message_group = ?'
  const [row] = await tx.rows(`SELECT held_until_ms FROM ${tables.queueTurns} ${where}${engine.forUpdate}`, [id, group])
  await tx.later(
    `UPDATE ${tables.queueTurns} SET held_until_ms = ?, ` +
      `kept_until_ms = CASE WHEN kept_until_ms < ? THEN ? ELSE kept_until_ms END ${where}`,
    [untilMs, untilMs, untilMs, id, group],
  )
  return Number(row?.held_until_ms ?? 0)
}

/** The messages that wait for the end of the hold are ready again. */
async function letGo(tx: Tx, memory: QueueMemory, head: QueueHead, group: string, untilMs: number): Promise<void> {
  const found = await tx.rows(
    `SELECT ${lockedColumns(tx)} FROM ${tx.tables.queueMessages}${tx.engine.useIndex(tx.tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state = ${STATE.delayed} AND sort_major = ? AND sort_minor = 0 AND message_group = ?${tx.engine.forUpdate}`,
    [head.id, untilMs, group],
  )
  const rows: LockedRow[] = found.map(lockedOf)
  const given = await changePlaces(tx, movesOf(rows, head, head))
  await makeReady(tx, head, rows, '', memory, given)
  await makeNextReady(tx, given, memory)
}
