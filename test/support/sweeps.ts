/** Rounds of the sweepers, run by tests where a store was opened with `sweep: false`. */
import type { Store } from '../../src/index'
import type { BoundStore } from '../../src/store/store'

/** One round of removing old tombstones and the entries of dropped feeds. */
export function sweepFeeds(store: Store): Promise<{ removed: number; more: boolean }> {
  return (store as BoundStore).opened.feeds.sweep()
}
