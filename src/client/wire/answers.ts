// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** The bodies of answers. */

export interface Health {
  status: 'ok'
}

export interface Deleted {
  deleted: number
}

export interface Item {
  group: string
  id: bigint
  /** Its place in the ring: from 0 to capacity - 1. */
  slot: number
  member: string | null
  /** Any JSON value. */
  payload: unknown
  occurredAt: Date | null
  eventId: string | null
  createdAt: Date
}

export interface Appended {
  items: { group: string; id: bigint; slot: number }[]
}

export interface Recent {
  group: string
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  total: bigint
  items: Item[]
  nextBefore: bigint | null
}

export interface RecentMany {
  groups: {
    group: string
    capacity: number
    mode: 'history' | 'distinct'
    total: bigint
    items: Item[]
    nextBefore?: bigint
  }[]
}

export interface GroupRemoved {
  id: bigint
}

export interface GroupReset {
  group: string
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  total: bigint
}

export interface MemberItems {
  items: Item[]
  nextAfter: string | null
}

export interface Group {
  group: string
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  /** 1 to 315360000000. */
  ttlSeconds: number | null
  total: bigint
  createdAt: Date
}

export interface GroupPage {
  groups: Group[]
  nextAfter: string | null
}

export interface Policy {
  prefix: string
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  /** 1 to 315360000000. */
  ttlSeconds: number | null
}

export interface PolicyPage {
  policies: Policy[]
  nextAfter: string | null
}

export interface Queue {
  queue: string
  /** How long a receiver has a message for itself; 30 when left out. 0 to 43200. */
  visibilityTimeoutSeconds: number
  /**
   * A message whose claim ends without a delete after so many receives is dead; 0, and left out: no limit. 0 to
   * 1000000.
   */
  maxReceives: number
  /** Where dead messages go: a queue that exists. Null, and left out: they stay, with the state `dead`. */
  deadLetterQueue: string | null
  /** What happens to a message that its receiver deletes; `remove` when left out. */
  onDelete: 'remove' | 'archive'
  /** How long archived messages are kept; null, and left out: for ever. 1 to 315360000000. */
  retentionSeconds: number | null
  /** Sends are taken, receives get nothing; false when left out. */
  paused: boolean
  createdAt: Date
}

export interface QueueStatus {
  queue: string
  /** How long a receiver has a message for itself; 30 when left out. 0 to 43200. */
  visibilityTimeoutSeconds: number
  /**
   * A message whose claim ends without a delete after so many receives is dead; 0, and left out: no limit. 0 to
   * 1000000.
   */
  maxReceives: number
  /** Where dead messages go: a queue that exists. Null, and left out: they stay, with the state `dead`. */
  deadLetterQueue: string | null
  /** What happens to a message that its receiver deletes; `remove` when left out. */
  onDelete: 'remove' | 'archive'
  /** How long archived messages are kept; null, and left out: for ever. 1 to 315360000000. */
  retentionSeconds: number | null
  /** Sends are taken, receives get nothing; false when left out. */
  paused: boolean
  createdAt: Date
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
  /** What the last release said. */
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
  /** In force: its own, else the queue's; 0: no limit. */
  maxReceives: number
  sentAt: Date
  /** When it is, or was, to be handed out again. */
  visibleAt: Date
  lastReceivedAt: Date | null
  archivedAt: Date | null
  lastError: string | null
  messageGroup: string | null
  /** -1000 to 1000. */
  priority: number
}

export interface MessagePage {
  messages: PeekedMessage[]
  nextAfter: string | null
}

export interface PutEntries {
  entries: { key: string; version: number }[]
}

export interface Entry {
  key: string
  /** Any JSON value; null for a tombstone. */
  value: unknown
  /** Null in a feed that follows a table. */
  version: number | null
  /** The number that a publisher gave it; null until one has. */
  syncId: bigint | null
  /** It is a tombstone. */
  deleted: boolean
  /** Null in a feed that follows a table. */
  updatedAt: Date | null
}

export interface Republished {
  republished: number
}

export interface Changes {
  changes: { syncId: bigint; key: string; value: unknown; version: number | null; deleted: boolean }[]
  /** Where to go on from. */
  cursor: bigint
  /** There is more after the cursor already. */
  hasMore: boolean
}

export interface Consumer {
  consumer: string
  cursor: bigint
  /** Sync ids from the cursor to the last one. */
  lag: number
}

export interface Feed {
  feed: string
  /** "0" before anything is published. */
  lastSyncId: bigint
  /** Without tombstones; at most 5 seconds old. */
  entries: number
  /** Entries and tombstones that no publisher has numbered yet; at most 5 seconds old. */
  unpublished: number
  /** Since when the oldest of them waits; null when there is none. At most 5 seconds old. */
  oldestUnpublishedSeconds: number | null
  /** By name, at most the first 1,000. */
  consumers: { consumer: string; cursor: bigint; lag: number }[]
}

export interface FeedPage {
  feeds: Feed[]
  nextAfter: string | null
}

/** Problem details, RFC 9457. */
export interface Problem {
  type: string
  title: string
  /** 400 to 599. */
  status: number
  detail: string
  /** A stable word for programs. */
  code:
    | 'invalid_input'
    | 'malformed_json'
    | 'not_found'
    | 'group_not_found'
    | 'item_not_found'
    | 'policy_not_found'
    | 'queue_not_found'
    | 'message_not_found'
    | 'queue_in_use'
    | 'dead_letter_cycle'
    | 'feed_not_found'
    | 'entry_not_found'
    | 'consumer_not_found'
    | 'cursor_expired'
    | 'method_not_allowed'
    | 'unsupported_media_type'
    | 'body_too_large'
    | 'unauthorized'
    | 'forbidden'
    | 'overloaded'
    | 'sequence_exhausted'
    | 'conflict'
    | 'database_unavailable'
    | 'database_refused'
    | 'outcome_unknown'
    | 'schema_missing'
    | 'schema_outdated'
    | 'schema_too_new'
    | 'closed'
    | 'draining'
    | 'internal'
  /** Every fault of a refused input. */
  errors?: { pointer?: string; parameter?: string; detail: string }[]
}
