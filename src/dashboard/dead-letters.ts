/**
 * What counts as a dead letter: every message of a dead-letter queue that is not archived. The metrics and
 * `recentn doctor` count in the same way.
 */
import type { PeekedMessage, QueueStatus } from '../shared/queue-types'

/** The counts, with dead letters among the dead. */
export function countsOf({ isDeadLetterQueue, counts }: QueueStatus): QueueStatus['counts'] {
  const { ready, inFlight, delayed, blocked, dead, archived } = counts
  return isDeadLetterQueue
    ? { ready: 0, inFlight: 0, delayed: 0, blocked: 0, dead: ready + inFlight + delayed + blocked + dead, archived }
    : counts
}

/**
 * Whether a message died in another queue. That queue may be gone, or hidden from the key, and no queue may name this one
 * as its dead-letter queue any more. A message that was never received has not died.
 */
export function isDeadLetter(message: PeekedMessage, { isDeadLetterQueue }: QueueStatus): boolean {
  const { state, deadLetterFrom, lastReceivedAt } = message
  return deadLetterFrom !== null || (isDeadLetterQueue && state !== 'archived' && lastReceivedAt !== null)
}
