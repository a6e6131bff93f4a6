/** What the feeds of a store are given. */
import type { Table } from '../../database/table'
import type { FollowedRow, FollowTarget } from '../../repositories/feeds/types'
import type { WorkCounts } from '../work-counts'

export interface PublishedFeedsOptions {
  /** What there is to know of a table that is to be followed. */
  describe: (target: FollowTarget<FollowedRow>) => Promise<Table>
  /** Have the feed of the groups of recent items. */
  recentGroups: boolean
  /** Transactions at once: one where there is one connection. */
  atOnce: number
  /** Publish in the background. */
  publish: boolean
  tombstoneSeconds: number
  /** True for code inside a transaction that has the only connection: its calls must not wait behind others. */
  isInside: () => boolean
  onError: (error: unknown) => void
  counts?: WorkCounts
}
