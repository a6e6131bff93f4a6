/** Rounds that a store makes in the background: of the history of queues, and of the report of its receives. */
import type { Store } from '../../../src/index'
import type { BoundStore } from '../../../src/store/store'

export const recorded = (store: Store): Promise<number> => (store as unknown as BoundStore).opened.queues.record()

/** A queue `mail` whose message group waits for a message that a known receiver holds. */
export async function blocked(store: Store): Promise<void> {
  const { queues } = store
  await queues.put('mail', { groupConcurrency: 1 })
  for (const body of [1, 2]) await queues.send('mail', body, { messageGroup: 'tenant-3' })
  await queues.receive('mail')
  await (store as unknown as BoundStore).opened.queues.report()
}
