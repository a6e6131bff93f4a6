/** The columns that a claim writes in its messages: its number, and when it ends. */
import type { Engine, Statement } from '../../../database/engine'
import type { QueueHead } from '../heads'
import { STATE } from '../rows'

/** After how many seconds a claim is looked at: none of its messages may come back sooner. */
export function lookSeconds(head: QueueHead, asked: number | undefined): number {
  return asked ?? Math.min(head.visibilityTimeoutSeconds, head.shortestVisibilitySeconds)
}

/** SQL: what a claim sets, however its messages were chosen. Without `asked` their own visibility applies, or the queue's. */
export function claimSets(
  engine: Engine,
  now: string,
  head: QueueHead,
  asked: number | undefined,
  claimNumber: bigint,
): Statement {
  const visibility = asked === undefined ? 'COALESCE(visibility_timeout_seconds, ?)' : '?'
  // The same for all messages of a claim, so that one range of the index has them; none of them runs out before.
  const lookMs = lookSeconds(head, asked) * 1000
  const sql =
    `state = ${STATE.inFlight}, sort_major = ${engine.remembered(`${now} + ?`)}, ` +
    `sort_minor = ?, cycle_queue_id = 0, receipt = ${engine.randomHex}, ` +
    `visible_at_ms = ${now} + ${visibility} * 1000, last_received_at_ms = ${now}, receive_count = receive_count + 1, ` +
    `first_received_at_ms = CASE first_received_at_ms WHEN 0 THEN ${now} ELSE first_received_at_ms END`
  return { sql, parameters: [lookMs, claimNumber, asked ?? head.visibilityTimeoutSeconds] }
}
