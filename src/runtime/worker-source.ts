/** What a worker asks of the queues, and what it makes of the messages that it gets. */
import type { Message, Queues, ReceiveOptions } from '../repositories/queues/types'
import { Claim } from './worker-claims'

/** A message that may say, by the database's clock, when it was claimed: one look less where it does. */
export type ReceivedMessage = Message & { claimedAt?: Date }

/** The operations that a worker needs. */
export interface WorkSource extends Pick<Queues, 'delete' | 'release' | 'extend' | 'getMessage'> {
  receive(queue: string, options: ReceiveOptions): Promise<ReceivedMessage[]>
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

const LOOKUPS_AT_ONCE = 8

/**
 * The claims of what one receive brought. How long a message is held follows from the time at which the database says
 * that one of them was claimed; when that can't be learnt, the claim is as good as over, and has to be extended first.
 */
export async function claimsOf(
  source: WorkSource,
  queue: string,
  messages: readonly ReceivedMessage[],
  { sentAt, visibilityTimeoutSeconds }: ClaimTimes,
): Promise<Claim[]> {
  const claimedMs = visibilityTimeoutSeconds === null ? await claimTime(source, queue, messages) : null
  const claims = messages.map((message) => {
    if (visibilityTimeoutSeconds !== null) return new Claim(message, visibilityTimeoutSeconds * 1000, sentAt)
    return new Claim(message, claimedMs === null ? 0 : Math.max(0, message.visibleAt.getTime() - claimedMs), sentAt)
  })
  const suspects = claims.filter(({ message }) => isSuspect(message))
  for (let at = 0; at < suspects.length; at += LOOKUPS_AT_ONCE) {
    const some = suspects.slice(at, at + LOOKUPS_AT_ONCE)
    await Promise.all(some.map((claim) => markLast(source, queue, claim)))
  }
  return claims
}

/**
 * It was handed out before and nobody said that it failed, as when the process that had it was killed. One that was
 * released with an error did not kill its process then.
 */
export function isSuspect({ receiveCount, lastError }: Message): boolean {
  return receiveCount > 1 && lastError === null
}

async function claimTime(
  source: WorkSource,
  queue: string,
  messages: readonly ReceivedMessage[],
): Promise<number | null> {
  try {
    for (const { id, claimedAt } of messages) {
      if (claimedAt) return claimedAt.getTime()
      const message = await source.getMessage(queue, id, { bodies: 'text' })
      if (message?.lastReceivedAt) return message.lastReceivedAt.getTime()
    }
  } catch {
    // The extension that follows meets the same fault, and tells it.
  }
  return null
}

async function markLast(source: WorkSource, queue: string, claim: Claim): Promise<void> {
  const { id, receiveCount } = claim.message
  const found = await source.getMessage(queue, id, { bodies: 'text' }).catch(() => undefined)
  // Of what can't be learnt: as if it were.
  claim.isLastReceive = found ? found.maxReceives > 0 && receiveCount >= found.maxReceives : true
}
