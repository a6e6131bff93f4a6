// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** The bodies of answers. */

export interface Queue {
  queue: string
  /** How long a receiver has a message for itself; 30 when left out. 0 to 43200. */
  visibilityTimeoutSeconds: number
  /**
   * A message whose claim ends without a delete after this many receives is dead. Null is no limit; 5 when left
   * out. 1 to 1000000.
   */
  maxReceives: number | null
  /** Where dead messages go: a queue that exists. Null, and left out: they stay, with the state `dead`. */
  deadLetterQueue: string | null
  /** What happens to a message that its receiver deletes; `remove` when left out. */
  onDelete: 'remove' | 'archive'
  /** How long archived messages are kept; null, and left out: for ever. 1 to 315360000000. */
  retentionSeconds: number | null
  /** Whether the queue is paused, by `pauseQueue`: sends are taken, receives get nothing. */
  paused: boolean
  createdAt: Date
}

export interface QueueStatus {
  queue: string
  /** How long a receiver has a message for itself; 30 when left out. 0 to 43200. */
  visibilityTimeoutSeconds: number
  /**
   * A message whose claim ends without a delete after this many receives is dead. Null is no limit; 5 when left
   * out. 1 to 1000000.
   */
  maxReceives: number | null
  /** Where dead messages go: a queue that exists. Null, and left out: they stay, with the state `dead`. */
  deadLetterQueue: string | null
  /** What happens to a message that its receiver deletes; `remove` when left out. */
  onDelete: 'remove' | 'archive'
  /** How long archived messages are kept; null, and left out: for ever. 1 to 315360000000. */
  retentionSeconds: number | null
  /** Whether the queue is paused, by `pauseQueue`: sends are taken, receives get nothing. */
  paused: boolean
  createdAt: Date
  /** Whether another queue names it as its dead-letter queue. What dies there is ready here. */
  isDeadLetterQueue: boolean
  /** At most 5 seconds old; exact once the queue has been still that long. */
  counts: { ready: number; inFlight: number; delayed: number; dead: number; archived: number }
  /** Since when the oldest message that is ready or in flight was sent; null when there is none. */
  oldestAgeSeconds: number | null
}

export interface QueuePage {
  queues: QueueStatus[]
  nextAfter: string | null
}

export interface Moved {
  moved: number
}

export interface Sent {
  id: bigint
}

export interface SentMany {
  ids: bigint[]
}

export type SentOneOrMany = Sent | SentMany

export interface Message {
  id: bigint
  /** Any JSON value. */
  body: unknown
  /** This claim included. */
  receiveCount: number
  /** Names this message and this claim; opaque. */
  receiptHandle: string
  sentAt: Date
  /** When the claim runs out. */
  visibleAt: Date
  /**
   * What the last release with an error said; of a message that died without one, that its visibility timeout ran
   * out.
   */
  lastError: string | null
  messageGroup: string | null
  /** -1000 to 1000. */
  priority: number
}

export interface Received {
  messages: Message[]
}

export interface DeletedReceipts {
  deleted: string[]
  /**
   * `stale_receipt`: the message was claimed again, or settled. `invalid_receipt`: malformed, or there never was
   * one.
   */
  failed: { receiptHandle: string; code: 'stale_receipt' | 'invalid_receipt' }[]
}

export interface ReleasedReceipts {
  released: string[]
  /**
   * `stale_receipt`: the message was claimed again, or settled. `invalid_receipt`: malformed, or there never was
   * one.
   */
  failed: { receiptHandle: string; code: 'stale_receipt' | 'invalid_receipt' }[]
}

export interface ExtendedReceipts {
  extended: string[]
  /**
   * `stale_receipt`: the message was claimed again, or settled. `invalid_receipt`: malformed, or there never was
   * one.
   */
  failed: { receiptHandle: string; code: 'stale_receipt' | 'invalid_receipt' }[]
}

export interface PeekedMessage {
  id: bigint
  state: 'ready' | 'in-flight' | 'delayed' | 'dead' | 'archived'
  /** Any JSON value. */
  body: unknown
  receiveCount: number
  /** In force: its own, or the queue's where it has none. Null is no limit. 1 to 1000000. */
  maxReceives: number | null
  sentAt: Date
  /** When it is, or was, to be handed out again. */
  visibleAt: Date
  lastReceivedAt: Date | null
  archivedAt: Date | null
  /**
   * Of a dead letter, the queue that it died in; null when that one is gone, when the key may not see it, and once
   * the message is archived.
   */
  deadLetterFrom: string | null
  /**
   * What the last release with an error said; of a message that died without one, that its visibility timeout ran
   * out.
   */
  lastError: string | null
  messageGroup: string | null
  /** -1000 to 1000. */
  priority: number
}

export interface MessagePage {
  messages: PeekedMessage[]
  nextAfter: string | null
}
