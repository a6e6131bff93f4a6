/**
 * Sends with keys. If a message with the key waits already, it stays, gets the new body, or is postponed, too, and no other is
 * sent. Behind one in flight a new one is blocked: it is not handed out before that one has ended.
 */
import type { Tx } from '../../../database/engine'
import { type MessageMove, moveOf } from '../groups/places'
import type { QueueHead } from '../heads'
import { type LockedKey, lockKeys, nameOfKey, saveKeys } from '../keys/key-locks'
import type { QueueMemory } from '../memory'
import { STATE } from '../rows'
import { NO_RECEIPT } from '../settle/receipts'
import { type LockedRow, updateRows } from '../settle/transitions'
import type { OutgoingMessage } from './dedups'

/** A change of a message that waits. */
interface KeyChange {
  head: QueueHead
  row: LockedRow
  /** Null where the old body stays. */
  content: Pick<OutgoingMessage['row'], 'body' | 'attributes'> | null
  /** When it is due, if that changes. */
  dueMs: number | null
}

export interface KeyPlan {
  changes: KeyChange[]
  added: { key: LockedKey; message: OutgoingMessage }[]
}

/** Locks the keys of the messages, and marks those that are not sent. Nothing is written before `changeWaiting`. */
export async function planKeys(tx: Tx, all: readonly OutgoingMessage[], nowMs: number): Promise<KeyPlan> {
  const plan: KeyPlan = { changes: [], added: [] }
  const keyed = all.filter(({ row, sent }) => sent && row.key !== null)
  if (keyed.length === 0) return plan
  const names = keyed.map(({ head, row }) => ({ head, key: row.key as string }))
  const keys = await lockKeys(tx, names, { adds: true })
  const changes = new Map<LockedKey, KeyChange>()
  const added = new Map<LockedKey, OutgoingMessage>()
  for (const message of keyed) {
    const key = keys.get(nameOfKey(message.head, message.row.key as string)) as LockedKey
    const before = added.get(key)
    if (before !== undefined) joinNew(before, message)
    else if (key.waiting !== null) changes.set(key, joinWaiting(key.waiting, message, changes.get(key), nowMs))
    else {
      message.row = { ...message.row, delayMs: boundedDelay(message.row) }
      message.isBehind = key.inFlight !== null
      added.set(key, message)
    }
  }
  plan.changes = [...changes.values()]
  plan.added = [...added].map(([key, message]) => ({ key, message }))
  return plan
}

const boundedDelay = ({ delayMs, maxDelayMs }: OutgoingMessage['row'], sinceMs = 0) =>
  maxDelayMs === null ? delayMs : Math.min(delayMs, Math.max(0, maxDelayMs - sinceMs))

/** The message before is of the same transaction. */
function joinNew(before: OutgoingMessage, message: OutgoingMessage): void {
  const { onKey, body, attributes } = message.row
  Object.assign(message, { sent: false, first: before })
  if (onKey === 'keep') return
  const delayMs = onKey === 'postpone' ? boundedDelay(message.row) : before.row.delayMs
  before.row = { ...before.row, body, attributes, delayMs }
}

function joinWaiting(
  row: LockedRow,
  message: OutgoingMessage,
  before: KeyChange | undefined,
  nowMs: number,
): KeyChange {
  const { onKey, body, attributes } = message.row
  Object.assign(message, { sent: false, id: row.id })
  const change = before ?? { head: message.head, row, content: null, dueMs: null }
  if (onKey === 'keep') return change
  const dueMs = onKey === 'postpone' ? nowMs + boundedDelay(message.row, nowMs - row.sentAtMs) : change.dueMs
  return { ...change, content: { body, attributes }, dueMs }
}

/** Messages that have places of their groups, and are postponed. */
export function leavingPlaces({ changes }: KeyPlan, nowMs: number): MessageMove[] {
  return changes.filter((change) => isPutOff(change, nowMs)).map(({ head, row }) => moveOf(row, head, null))
}

/** Whether it becomes a delayed one, or stays one. One behind another is due, or delayed, once that has ended. */
function isPutOff({ row, dueMs }: KeyChange, nowMs: number): boolean {
  if (dueMs === null || (row.state === STATE.blocked && row.isBehind)) return false
  return row.state === STATE.delayed || dueMs > nowMs
}

/**
 * Writes what the messages that wait are now. A receipt of an earlier claim counts no more: the message is to be handed out after
 * this send.
 */
export async function changeWaiting(tx: Tx, memory: QueueMemory, { changes }: KeyPlan, nowMs: number): Promise<void> {
  const kept = changes.filter(({ content, row }) => content === null && row.receipt !== NO_RECEIPT)
  await updateRows(
    tx,
    `receipt = '${NO_RECEIPT}'`,
    kept.map(({ row }) => row),
  )
  for (const change of changes) {
    const { head, row, content, dueMs } = change
    if (content === null) continue
    const { body, attributes } = content
    const sets = [`body = ?, attributes = ?, receipt = '${NO_RECEIPT}', receive_count = 0, last_error = NULL`]
    if (isPutOff(change, nowMs)) {
      const due = Math.max(dueMs as number, nowMs)
      sets.push(`state = ${STATE.delayed}, sort_major = ${due}, sort_minor = 0, cycle_queue_id = 0, group_place = NULL`)
      await memory.reminders.remind(tx, head.id, due - nowMs)
    }
    if (dueMs !== null) sets.push(`visible_at_ms = ${Math.max(dueMs, nowMs)}`)
    await updateRows(tx, sets.join(', '), [row], [body, attributes])
  }
  // A claim may have passed over it, because it was locked.
  const ready = changes.filter((change) => change.row.state === STATE.ready && !isPutOff(change, nowMs))
  const places = ready.map(({ head, row }) => ({ head, priority: row.priority }))
  memory.becameReady(tx, places)
}

/** After the new messages have their ids. */
export async function saveAdded(tx: Tx, { added }: KeyPlan): Promise<void> {
  const rows = added.map(({ key, message }) => {
    return { head: key.head, key: key.key, messageId: message.id, aheadId: key.inFlight?.id ?? 0n }
  })
  await saveKeys(tx, rows)
}
