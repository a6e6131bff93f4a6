/** Counts of queues as they are shown. */
import type { QueueStatus } from '../shared/queue-types'
import { Num } from './parts'

/**
 * The counts, with dead letters among the dead: every message of a dead-letter queue that is not archived, as the metrics and
 * `recentn doctor` count.
 */
export function countsOf({ isDeadLetterQueue, counts }: QueueStatus): QueueStatus['counts'] {
  const { ready, inFlight, delayed, blocked, dead, archived } = counts
  return isDeadLetterQueue
    ? { ready: 0, inFlight: 0, delayed: 0, blocked: 0, dead: ready + inFlight + delayed + blocked + dead, archived }
    : counts
}

/** A number, of which zero recedes. */
export function Few({ value }: { value: number }) {
  return value === 0 ? <span class="zero">0</span> : <Num value={value} />
}
