/**
 * Dedup ids: a message that is sent with one is not sent again for 5 minutes. This file owns recentn_queue_dedups.
 *
 * Invariant: a dedup id belongs to the sender that first inserts its row. Another sender waits for the end of that
 * transaction, and then sees the id.
 */
import type { Parameter, Row, Tx } from '../../../database/engine'
import { anyOf, chunksOf } from '../../chunks'
import type { PollFacts } from '../../reminders'
import type { Turn } from '../groups/turns'
import { CYCLED, givenPlace, isLimited, type QueueHead } from '../heads'
import { NamedRows } from '../named-rows'
import { BEHIND, blockedPlace, type MessageToSend, STATE, urgencyOf } from '../rows'

const DEDUP_MS = 300_000

const DEDUPS = new NamedRows<Pick<OutgoingMessage, 'head' | 'row'>>(
  'queueDedups',
  'dedup_id',
  { message_id: 0, sent_at_ms: 0 },
  ({ head, row }) => [head.id, row.dedupId as string],
  500,
)

/** A message of the transaction: to be sent, or a duplicate of another message. */
export interface OutgoingMessage {
  head: QueueHead
  row: MessageToSend
  /** 0 for a message that is not sent yet. */
  id: bigint
  /** The message of the same transaction that it duplicates. */
  first: OutgoingMessage | null
  /** False for a duplicate. */
  sent: boolean
  start: number
  /** Its group has no place for it. */
  isBlocked: boolean
  /** A message with its key is in flight. */
  isBehind: boolean
  /** Of its group, where that comes later. */
  turn: Turn | null
}

/** Marks duplicates of other messages; resolves to the messages that later ones will be duplicates of. */
export async function findDuplicates(
  tx: Tx,
  all: readonly OutgoingMessage[],
  nowMs: number,
): Promise<OutgoingMessage[]> {
  const firsts = new Map<string, OutgoingMessage>()
  for (const message of all) {
    if (message.row.dedupId === null) continue
    const key = DEDUPS.keyOf(message)
    const first = firsts.get(key)
    if (!first) firsts.set(key, message)
    else Object.assign(message, { first, sent: false })
  }
  for (const chunk of DEDUPS.chunks(firsts.values())) await lockDedups(tx, chunk, nowMs)
  return [...firsts.values()].filter(({ sent }) => sent)
}

async function lockDedups(tx: Tx, messages: readonly OutgoingMessage[], nowMs: number): Promise<void> {
  await tx.later(DEDUPS.make(tx, messages))
  const columns = `${tx.engine.bigint('message_id')} AS message_id, sent_at_ms`
  const { sql, parameters } = DEDUPS.select(tx, messages, columns, tx.engine.forUpdate)
  const known = new Map((await tx.rows(sql, parameters)).map((row) => [DEDUPS.keyIn(row), row]))
  for (const message of messages) {
    const row = known.get(DEDUPS.keyOf(message))
    const sentAtMs = Number(row?.sent_at_ms ?? 0)
    // `nowMs` is from before the wait for the row, whose time may be later; much later means that the clock was set back.
    if (!row || Math.abs(nowMs - sentAtMs) >= DEDUP_MS) continue
    message.id = BigInt(row.message_id as string)
    message.sent = false
  }
}

export function saveDedups(tx: Tx, firsts: readonly OutgoingMessage[], nowMs: number): Promise<void> {
  return DEDUPS.save(tx, firsts, ({ id }) => [id, nowMs])
}

/** The dedup ids that have been kept long enough. */
export const oldDedupsSql = ({ tables, now }: PollFacts, what: string) =>
  `SELECT ${what} FROM ${tables.queueDedups} WHERE sent_at_ms <= ${now} - ${DEDUP_MS}`

export async function sweepDedups(tx: Tx): Promise<number> {
  const rows = await tx.rows(
    `${oldDedupsSql(tx, `${tx.engine.bigint('queue_id')} AS queue_id, dedup_id`)} ` +
      `ORDER BY sent_at_ms LIMIT 500${tx.engine.forNext}`,
  )
  for (const chunk of chunksOf(rows, 100)) {
    const valuesOf = ({ queue_id, dedup_id }: Row) => [queue_id, dedup_id] as Parameter[]
    const { sql, parameters } = anyOf(chunk, '(queue_id = ? AND dedup_id = ?)', valuesOf)
    await tx.later(`DELETE FROM ${tx.tables.queueDedups} WHERE ${sql}`, parameters)
  }
  return rows.length
}

export function outgoing(head: QueueHead, row: MessageToSend): OutgoingMessage {
  return { head, row, id: 0n, first: null, sent: true, start: 0, isBlocked: false, isBehind: false, turn: null }
}

/** It may be received, or waits for its turn only. */
const isPlaced = ({ row, isBlocked, isBehind }: OutgoingMessage) => row.delayMs === 0 && !isBlocked && !isBehind

export const isReady = (sending: OutgoingMessage) => isPlaced(sending) && sending.turn === null

/** The limit under which it has a place of its group; null if it has none. */
export const groupPlaceOf = (one: OutgoingMessage): number | null =>
  isLimited(one.head) && one.row.messageGroup !== null && isPlaced(one) ? givenPlace(one.head) : null

export function columnsOf(sending: OutgoingMessage, nowMs: number): Parameter[] {
  const { head, row, start, isBlocked, isBehind, turn } = sending
  const dueMs = turn?.atMs ?? nowMs + row.delayMs
  const isNext = isReady(sending)
  const blocked = isBehind ? BEHIND : isBlocked ? blockedPlace(row.messageGroup as string) : null
  return [
    head.id,
    blocked ? STATE.blocked : isNext ? STATE.ready : STATE.delayed,
    blocked?.major ?? (isNext ? urgencyOf(row.priority) : dueMs),
    blocked?.minor ?? start,
    start,
    isNext && head.cycled !== CYCLED.not ? head.id : 0,
    dueMs,
    nowMs,
    row.priority,
  ]
}
