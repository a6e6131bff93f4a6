/** The parts that run for a store's products, which users of the library do not see. */
import type { Store } from '../../src'
import type { BoundStore } from '../../src/store/store'

export function openedOf(store: Store): BoundStore['opened'] {
  return (store as unknown as BoundStore).opened
}

/** The store, which from now on reports its receives only when told: no report comes between two steps of a test. */
export function withoutReports(store: Store): Store {
  openedOf(store).queues.receiver.onBegin = () => {}
  return store
}

/** Deletes all that has expired in groups. */
export async function sweepGroups(store: Store): Promise<void> {
  while ((await openedOf(store).groups.sweep()).more);
}

/** One round of removing old tombstones and the entries of dropped feeds. */
export function sweepFeeds(store: Store): Promise<{ removed: number; more: boolean }> {
  return openedOf(store).feeds.sweep()
}
