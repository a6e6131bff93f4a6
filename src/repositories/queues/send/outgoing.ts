/** The messages that a transaction sends, and their rows. */
import type { Parameter } from '../../../database/engine'
import type { Turn } from '../groups/turns'
import { CYCLED, givenPlace, isLimited, type QueueHead } from '../heads'
import { BEHIND, blockedPlace, type MessageToSend, STATE, urgencyOf } from '../rows'
import type { DedupCandidate } from './dedups'

/** A message of the transaction: to be sent, or a duplicate of another message. */
export interface OutgoingMessage extends DedupCandidate {
  row: MessageToSend
  start: number
  /** Its group has no place for it. */
  isBlocked: boolean
  /** A message with its key is in flight. */
  isBehind: boolean
  /** Of its group, where that comes later. */
  turn: Turn | null
}

export function outgoing(head: QueueHead, row: MessageToSend): OutgoingMessage {
  return { head, row, id: 0n, first: null, sent: true, start: 0, isBlocked: false, isBehind: false, turn: null }
}

/** A message that is not sent has the id of the one that it names. */
export function nameFirst(message: OutgoingMessage): void {
  if (message.first !== null) message.id = message.first.id
}

/** It may be received, or waits for its turn only. */
const isPlaced = ({ row, isBlocked, isBehind }: OutgoingMessage) => row.delayMs === 0 && !isBlocked && !isBehind

export const isReady = (sending: OutgoingMessage) => isPlaced(sending) && sending.turn === null

/** The limit under which it has a place of its group; null if it has none. */
export function groupPlaceOf(sending: OutgoingMessage): number | null {
  const { head, row } = sending
  return isLimited(head) && row.messageGroup !== null && isPlaced(sending) ? givenPlace(head) : null
}

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
