/**
 * Messages that are inserted as claimed by a receive of this process that waits for them. Its receipts are drawn here: the
 * statements of one packet cannot tell them.
 */
import { randomBytes } from 'node:crypto'
import type { Tx } from '../../../database/engine'
import { lookSeconds } from '../claim/claim-statements'
import type { Taker } from '../claim/takers'
import { type QueueHead, takesTurns } from '../heads'
import type { QueueMemory } from '../memory'
import type { ClaimedRow, MessageToSend, SendRequest } from '../rows'

/** The claim of messages that are about to be sent. */
export interface SentClaim {
  taker: Taker
  number: bigint
  lookMs: number
  heldMs: number
  receipts: string[]
}

/** Null where no receive waits, or what is ready is not handed out at once. */
export function claimFor(memory: QueueMemory, request: SendRequest, head: QueueHead, count: number): SentClaim | null {
  const taker = head.paused || takesTurns(head) ? null : memory.takers.choose(request, count)
  if (taker === null) return null
  const asked = taker.visibilityTimeoutSeconds
  const lookMs = lookSeconds(head, asked) * 1000
  // A claim that ends at once could be another receive's before this one has the messages.
  if (lookMs === 0) return null
  const receipts = Array.from({ length: count }, () => randomBytes(16).toString('hex').toUpperCase())
  const number = memory.receiver.newClaimNumber()
  return { taker, number, lookMs, heldMs: (asked ?? head.visibilityTimeoutSeconds) * 1000, receipts }
}

/** The messages have been inserted with the claim: the receive gets them with the commit. */
export async function give(
  tx: Tx,
  memory: QueueMemory,
  head: QueueHead,
  messages: readonly MessageToSend[],
  { taker, lookMs, heldMs, receipts }: SentClaim,
  { ids, start, nowMs }: { ids: readonly bigint[]; start: number; nowMs: number },
): Promise<void> {
  await memory.reminders.remind(tx, head.id, lookMs)
  const rows = messages.map(({ body, attributes, maxReceives, priority }, index): ClaimedRow => {
    const [id, receipt] = [ids[index] as bigint, receipts[index] as string]
    const received = { receiveCount: 1, firstReceivedAt: new Date(nowMs), receivedAtMs: nowMs, sentAtMs: nowMs }
    const never = { deadAt: null, deadReceiveCount: null, lastError: null, messageGroup: null }
    const sent = { maxReceives, priority, virtualStart: start + index, body, attributes }
    return { id, receipt, visibleAtMs: nowMs + heldMs, ...received, ...never, ...sent }
  })
  tx.afterCommit(() => {
    taker.messages = { head, rows }
    memory.receiver.asked(head.id, rows.length)
    memory.counting('messagesReceived', rows.length)()
    memory.onReady(head.queue, taker)
  })
}
