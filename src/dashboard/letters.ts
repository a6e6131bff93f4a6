/** What is a dead letter: in a dead-letter queue all but the archive, which is how the metrics and `recentn doctor` count. */
import type { Counts, Message, Queue } from './types'

type Counted = Pick<Queue, 'isDeadLetterQueue' | 'counts'>

/** The counts with dead letters among the dead. */
export function asCounted({ isDeadLetterQueue, counts }: Counted): Counts {
  const { ready, inFlight, delayed, dead, archived } = counts
  return isDeadLetterQueue
    ? { ready: 0, inFlight: 0, delayed: 0, dead: ready + inFlight + delayed + dead, archived }
    : counts
}

/**
 * Whether a message died elsewhere. The queue that it died in may be gone, or hidden from the key; the one that it is in
 * may be named by none any more. What was never received has not died.
 */
export function isLetter(message: Message, { isDeadLetterQueue }: Queue): boolean {
  const { state, deadLetterFrom, lastReceivedAt } = message
  return deadLetterFrom !== null || (isDeadLetterQueue && state !== 'archived' && lastReceivedAt !== null)
}
