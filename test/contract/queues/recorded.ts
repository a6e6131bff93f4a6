/** A round of the history of queues, of which a store makes one each 15 seconds. */
import type { Store } from '../../../src/index'
import type { BoundStore } from '../../../src/store/store'

export const recorded = (store: Store): Promise<number> => (store as unknown as BoundStore).opened.queues.record()
