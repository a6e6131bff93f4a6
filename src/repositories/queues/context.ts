/** What the operations on queues work with, and whom they tell what they did. */
import type { Session } from '../../database/engine'
import type { QueueMemory } from './memory'

/** Told where messages became ready: of which queue, at which place of its line. */
export type OnReady = (queueId: bigint, major: number, minor: number) => void

export interface QueueContext {
  session: Session
  memory: QueueMemory
  onReady: OnReady
}
