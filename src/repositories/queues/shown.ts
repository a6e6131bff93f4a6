/** A queue as callers see it, and its tag. */
import type { Queue } from '../../shared/queue-types'
import { settingsTag } from '../settings'
import { limitOf, type QueueHead } from './heads'

/** A queue that is made again has another tag. It names the dead-letter queue by its id: a caller may not know its name. */
export function tagOf({ id, deadLetterQueueId, rates, ...head }: QueueHead): string {
  const { visibilityTimeoutSeconds, maxReceives, onDelete, retentionSeconds, groupConcurrency, maxMessages } = head
  const settings = [visibilityTimeoutSeconds, maxReceives, onDelete, retentionSeconds, groupConcurrency, maxMessages]
  if (rates !== null) return settingsTag([String(id), String(deadLetterQueueId), ...settings, rates])
  return settingsTag([String(id), deadLetterQueueId === null ? null : String(deadLetterQueueId), ...settings])
}

export function queueOf(head: QueueHead, deadLetterQueue: string | null): Queue {
  return {
    queue: head.queue,
    tag: tagOf(head),
    visibilityTimeoutSeconds: head.visibilityTimeoutSeconds,
    maxReceives: limitOf(head.maxReceives),
    deadLetterQueue,
    onDelete: head.onDelete,
    retentionSeconds: head.retentionSeconds,
    groupConcurrency: limitOf(head.groupConcurrency),
    maxMessages: limitOf(head.maxMessages),
    rateLimit: head.rateLimit,
    groupRateLimit: head.groupRateLimit,
    holdEndsAt: head.heldMs > 0 ? new Date(head.heldUntilMs) : null,
    paused: head.paused,
    createdAt: new Date(head.createdAtMs),
  }
}
