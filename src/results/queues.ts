/** The results of queues, and their JSON text for REST, which never parses the bodies that the store keeps. */
import { shownName } from '../fields/keys'
import { jsonTextOf } from '../shared/json'
import type {
  Attributes,
  Message,
  MessagePage,
  PeekedMessage,
  Queue,
  QueuePage,
  QueueStatus,
  Sent,
} from '../shared/queue-types'
import { timeOrNull, timeText } from '../shared/time-text'
import { giveJson, jsonBy, parsedBy } from './json'

const text = JSON.stringify

export class MessageResult implements Message {
  constructor(
    readonly id: bigint,
    public body: unknown,
    readonly receiveCount: number,
    readonly receiptHandle: string,
    readonly sentAt: Date,
    readonly firstReceivedAt: Date | null,
    readonly receivedAt: Date,
    readonly deadAt: Date | null,
    readonly deadReceiveCount: number | null,
    readonly visibleAt: Date,
    readonly maxReceives: number | null,
    readonly lastError: string | null,
    readonly messageGroup: string | null,
    readonly priority: number,
    readonly attributes: Attributes,
  ) {}
}
giveJson(MessageResult, parsedBy(renderMessage))

/** What became of one message that was to be sent. */
export class SentResult implements Sent {
  constructor(
    readonly id: bigint,
    readonly sent: boolean,
  ) {}
}
giveJson(SentResult, parsedBy(renderSent))

export const asPeeked = jsonBy<PeekedMessage>(parsedBy((message) => renderPeeked(message, null)))
export const asQueue = jsonBy<Queue>((queue) => queueBody(queue, null))
export const asQueueStatus = jsonBy<QueueStatus>((queue) => statusBody(queue, null))

export function renderSent({ id, sent }: Sent): string {
  return `{"id":"${id}","sent":${sent}}`
}

export function renderSentMany(messages: readonly Sent[]): string {
  return `{"messages":[${messages.map(renderSent).join(',')}]}`
}

function textOrNull(value: string | null): string {
  return value === null ? 'null' : text(value)
}

export function renderMessages(messages: readonly Message[]): string {
  return `{"messages":[${messages.map(renderMessage).join(',')}]}`
}

function renderMessage(message: Message): string {
  return (
    `{"id":"${message.id}","body":${jsonTextOf(message.body)},"receiveCount":${message.receiveCount},` +
    `"receiptHandle":${text(message.receiptHandle)},"sentAt":"${timeText(message.sentAt)}",` +
    `"receivedAt":"${timeText(message.receivedAt)}","visibleAt":"${timeText(message.visibleAt)}",` +
    `"maxReceives":${message.maxReceives},${renderEnd(message)}}`
  )
}

/** `within`: names of dead-letter queues are shown only if they begin with this. */
export function renderMessagePage({ messages, nextAfter }: MessagePage, within: string | null): string {
  const rendered = messages.map((message) => renderPeeked(message, within))
  return `{"messages":[${rendered.join(',')}],"nextAfter":${textOrNull(nextAfter)}}`
}

export function renderPeeked(message: PeekedMessage, within: string | null): string {
  const from = shownName(message.deadLetterFrom, within)
  return (
    `{"id":"${message.id}","state":"${message.state}","body":${jsonTextOf(message.body)},` +
    `"receiveCount":${message.receiveCount},"maxReceives":${message.maxReceives},` +
    `"sentAt":"${timeText(message.sentAt)}","visibleAt":"${timeText(message.visibleAt)}",` +
    `"lastReceivedAt":${timeOrNull(message.lastReceivedAt)},"archivedAt":${timeOrNull(message.archivedAt)},` +
    `"deadLetterFrom":${textOrNull(from)},${renderEnd(message)}}`
  )
}

function renderEnd(message: Message | PeekedMessage): string {
  const { firstReceivedAt, deadAt, deadReceiveCount, lastError, messageGroup, priority, attributes } = message
  const death = `"deadAt":${timeOrNull(deadAt)},"deadReceiveCount":${deadReceiveCount}`
  const ofGroup = `"messageGroup":${textOrNull(messageGroup)},"priority":${priority}`
  return (
    `"firstReceivedAt":${timeOrNull(firstReceivedAt)},${death},"lastError":${textOrNull(lastError)},` +
    `${ofGroup},"attributes":${text(attributes)}`
  )
}

/** `within`: the name of the dead-letter queue is shown only if it begins with this. */
export function renderQueue(queue: Queue, within: string | null): string {
  return text(queueBody(queue, within))
}

export function renderQueueStatus(queue: QueueStatus, within: string | null): string {
  return text(statusBody(queue, within))
}

export function renderQueuePage({ queues, nextAfter }: QueuePage, within: string | null): string {
  return text({ queues: queues.map((queue) => statusBody(queue, within)), nextAfter })
}

function statusBody(queue: QueueStatus, within: string | null) {
  const { ready, inFlight, delayed, blocked, dead, archived } = queue.counts
  const counts = { ready, inFlight, delayed, blocked, dead, archived }
  const { isDeadLetterQueue } = queue
  return { ...queueBody(queue, within), isDeadLetterQueue, counts, oldestAgeSeconds: queue.oldestAgeSeconds }
}

function queueBody(queue: Queue, within: string | null) {
  return {
    queue: queue.queue,
    visibilityTimeoutSeconds: queue.visibilityTimeoutSeconds,
    maxReceives: queue.maxReceives,
    deadLetterQueue: shownName(queue.deadLetterQueue, within),
    onDelete: queue.onDelete,
    retentionSeconds: queue.retentionSeconds,
    groupConcurrency: queue.groupConcurrency,
    maxMessages: queue.maxMessages,
    tag: queue.tag,
    paused: queue.paused,
    createdAt: timeText(queue.createdAt),
  }
}
