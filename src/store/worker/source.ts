/** What a worker asks of the queues, and what it makes of the messages that it gets. */
import { RAN_OUT } from '../../fields/queues'
import type { Message, Queues } from '../../repositories/queues/types'
import { Claim } from './claims'

/** The operations that a worker needs. */
export interface WorkSource extends Pick<Queues, 'receive' | 'delete' | 'release' | 'extend'> {
  /**
   * Ends claims as if they had not been made: ready again, with the receive count that they had before. Handles that
   * are stale are passed over.
   */
  giveBack(queue: string, receiptHandles: readonly string[]): Promise<unknown>
}

export interface ClaimTimes {
  /** Before the receive was sent, as `performance.now` counts. */
  sentAt: number
  /** What the receive asked for. */
  visibilityTimeoutSeconds: number | null
}

/** The claims of what one receive brought. How long a message is held follows from two times of the database's clock. */
export function claimsOf(messages: readonly Message[], { sentAt, visibilityTimeoutSeconds }: ClaimTimes): Claim[] {
  return messages.map((message) => {
    const heldMs = message.visibleAt.getTime() - message.receivedAt.getTime()
    const claim = new Claim(
      message,
      visibilityTimeoutSeconds === null ? heldMs : visibilityTimeoutSeconds * 1000,
      sentAt,
    )
    const { receiveCount, maxReceives } = message
    claim.isLastReceive = isSuspect(message) && maxReceives !== null && receiveCount >= maxReceives
    return claim
  })
}

/**
 * It was handed out before and nobody said that it failed, as when the process that had it was killed. One that was
 * released with an error did not kill its process then. That its claims ran out once before, until it was dead, is no
 * such error.
 */
export function isSuspect({ receiveCount, lastError }: Pick<Message, 'receiveCount' | 'lastError'>): boolean {
  return receiveCount > 1 && (lastError === null || lastError.startsWith(RAN_OUT))
}
