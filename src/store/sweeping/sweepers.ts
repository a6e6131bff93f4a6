/** The sweepers of a store: of expired items, of queues, and of feeds; what they remove is counted. */
import type { BatchedGroups } from '../groups'
import type { PublishedFeeds } from '../publisher/published-feeds'
import type { BatchedQueues } from '../queues'
import type { WorkCounts } from '../work-counts'
import { Sweeper } from './sweeper'

/** Delays and visibility timeouts that are over are seen to so often. */
const QUEUES_SWEEP_MS = 500
/** Tombstones that have been kept long enough. */
const FEEDS_SWEEP_MS = 5000

interface Swept {
  groups: BatchedGroups
  queues: BatchedQueues
  feeds: PublishedFeeds
}

export function sweepersOf(
  { groups, queues, feeds }: Swept,
  counts: WorkCounts,
  onError: (error: unknown, doing: string) => void,
): Sweeper[] {
  const sweepGroups = async () => {
    const swept = await groups.sweep()
    counts.itemsSwept += swept.deleted
    return swept
  }
  const sweepQueues = async () => {
    const swept = await queues.sweep()
    counts.messagesSwept += swept.removed
    return swept
  }
  const sweepFeeds = async () => {
    const swept = await feeds.sweep()
    counts.tombstonesSwept += swept.removed
    return swept
  }
  return [
    new Sweeper({ sweep: sweepGroups, onError: (error) => onError(error, 'sweep groups'), counts }),
    new Sweeper({
      sweep: sweepQueues,
      onError: (error) => onError(error, 'sweep queues'),
      counts,
      intervalMs: QUEUES_SWEEP_MS,
    }),
    new Sweeper({
      sweep: sweepFeeds,
      onError: (error) => onError(error, 'sweep feeds'),
      counts,
      intervalMs: FEEDS_SWEEP_MS,
    }),
  ]
}
