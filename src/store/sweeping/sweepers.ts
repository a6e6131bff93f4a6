/**
 * The sweepers of a store: each one calls for the deletion of what has expired, at intervals, and again at once while there
 * is more to delete. Any number of processes may sweep. No SQL.
 */
import { Loop } from '../../kit/loop'
import type { OpenFeeds } from '../feeds'
import type { OpenGroups } from '../groups'
import type { OpenQueues } from '../queues'
import type { WorkCounts } from '../work-counts'

/** How often expired items are deleted. */
const GROUPS_SWEEP_MS = 1000
/** How often messages are promoted whose delay or visibility timeout has expired. */
const QUEUES_SWEEP_MS = 500
/** How often old tombstones are deleted. */
const FEEDS_SWEEP_MS = 5000
const LONGEST_PAUSE_MS = 30_000

interface SweptParts {
  groups: Pick<OpenGroups, 'sweep'>
  queues: Pick<OpenQueues, 'sweep'>
  feeds: Pick<OpenFeeds, 'sweep'>
}

/** Sweepers that run until they are stopped. They keep no process alive. */
export function startSweepers(
  { groups, queues, feeds }: SweptParts,
  counts: WorkCounts,
  onError: (error: unknown, doing: string) => void,
): Loop[] {
  const start = (what: string, intervalMs: number, sweep: () => Promise<{ more: boolean }>) => {
    const loop = new Loop({
      round: async () => {
        const { more } = await sweep()
        counts.sweeperRounds++
        return more ? 0 : intervalMs
      },
      jitter: 0.25,
      faultPauses: { firstMs: 2 * intervalMs, longestMs: LONGEST_PAUSE_MS },
      onFault: (error, isFirst) => {
        counts.sweeperFaults++
        if (isFirst) onError(error, `sweep ${what}`)
      },
      keepsAlive: false,
    })
    loop.wake(intervalMs)
    return loop
  }
  return [
    start('groups', GROUPS_SWEEP_MS, async () => {
      const swept = await groups.sweep()
      counts.itemsSwept += swept.deleted
      return swept
    }),
    start('queues', QUEUES_SWEEP_MS, async () => {
      const swept = await queues.sweep()
      counts.messagesSwept += swept.removed
      return swept
    }),
    start('feeds', FEEDS_SWEEP_MS, async () => {
      const swept = await feeds.sweep()
      counts.tombstonesSwept += swept.removed
      return swept
    }),
  ]
}
