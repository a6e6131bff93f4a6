// Generated from the OpenAPI document by scripts/client-wire.cjs. Do not edit.

export interface Health {
  status: 'ok'
  /** Only in `readyz`, and only if this process's writes fail because the database's disk is full. */
  warning?: string | undefined
}

export interface Deleted {
  deleted: number
}

export interface Access {
  scopes: ('append' | 'read' | 'queue' | 'feed' | 'admin')[]
  prefix: string | null
}

export interface NewItem<Payload = unknown> {
  member?: string | null | undefined
  /** Any JSON value of at most 64 KiB and 64 levels; stored and given back unchanged. */
  payload?: Payload | undefined
  occurredAt?: Date | null | undefined
  eventId?: string | null | undefined
}

export interface NewGroupItem<Payload = unknown> {
  member?: string | null | undefined
  /** Any JSON value of at most 64 KiB and 64 levels; stored and given back unchanged. */
  payload?: Payload | undefined
  occurredAt?: Date | null | undefined
  eventId?: string | null | undefined
  group: string
}

export interface Batch<Payload = unknown> {
  items: readonly NewGroupItem<Payload>[]
}

export interface Item<Payload = unknown> {
  group: string
  id: bigint
  /** The position in the ring, from 0 to capacity - 1. */
  slot: number
  member: string | null
  /** Any JSON value. */
  payload: Payload
  occurredAt: Date | null
  eventId: string | null
  createdAt: Date
}

export interface Appended {
  items: { group: string; id: bigint; slot: number; appended: boolean }[]
}

export interface Recent<Payload = unknown> {
  group: string
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  totalAppended: bigint
  items: Item<Payload>[]
  nextBefore: bigint | null
}

export interface RecentMany<Payload = unknown> {
  groups: Recent<Payload>[]
}

export interface GroupRemoved {
  id: bigint
}

export interface GroupReset {
  group: string
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  totalAppended: bigint
}

export interface MemberItems<Payload = unknown> {
  items: Item<Payload>[]
  nextBefore: string | null
}

export interface OwnSettings {
  /** 1 to 10000. */
  capacity?: number | null | undefined
  mode?: 'history' | 'distinct' | null | undefined
  /** 1 to 315360000000. */
  ttlSeconds?: number | null | undefined
  /** Seconds after which a group without items is forgotten; null: never. Made again, it begins at id 0. 1 to 315360000000. */
  forgetEmptySeconds?: number | null | undefined
}

/** What is left out stays as it is; with null a setting follows the policy again. */
export interface GroupChanges {
  /** 1 to 10000. */
  capacity?: number | null | undefined
  mode?: 'history' | 'distinct' | null | undefined
  /** 1 to 315360000000. */
  ttlSeconds?: number | null | undefined
  /** Seconds after which a group without items is forgotten. 1 to 315360000000. */
  forgetEmptySeconds?: number | null | undefined
}

export interface PolicySettings {
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  /** 1 to 315360000000. */
  ttlSeconds?: number | null | undefined
  /** Seconds after which a group without items is forgotten; null: never. Made again, it begins at id 0. 1 to 315360000000. */
  forgetEmptySeconds?: number | null | undefined
}

export interface PolicyChanges {
  /** 1 to 10000. */
  capacity?: number | undefined
  mode?: 'history' | 'distinct' | undefined
  /** 1 to 315360000000. */
  ttlSeconds?: number | null | undefined
  /** Seconds after which a group without items is forgotten; null: never. Made again, it begins at id 0. 1 to 315360000000. */
  forgetEmptySeconds?: number | null | undefined
}

export interface Group {
  group: string
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  /** 1 to 315360000000. */
  ttlSeconds: number | null
  /** Seconds after which a group without items is forgotten; null: never. Made again, it begins at id 0. 1 to 315360000000. */
  forgetEmptySeconds: number | null
  /** Only the settings that the group has itself, in the form that PUT takes. */
  own: { capacity?: number | undefined; mode?: 'history' | 'distinct' | undefined; ttlSeconds?: number | null | undefined; forgetEmptySeconds?: number | null | undefined }
  /** The prefix of the policy that gives the other settings; null if they are the defaults. */
  policy: string | null
  /** For `If-Match`: changes with the settings, and with nothing but them. */
  tag: string
  totalAppended: bigint
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
  /** Seconds after which a group without items is forgotten; null: never. Made again, it begins at id 0. 1 to 315360000000. */
  forgetEmptySeconds: number | null
  /** For `If-Match`: changes with the settings, and with nothing but them. */
  tag: string
}

export interface PolicyPage {
  policies: Policy[]
  nextAfter: string | null
}

/** A setting that is left out gets its default: `visibilityTimeoutSeconds` 30, `maxReceives` 5, `onDelete` `remove`; the others null. */
export interface QueueSettings {
  /** How long a receiver has a message for itself. 0 to 43200. */
  visibilityTimeoutSeconds?: number | null | undefined
  /** A message whose claim ends without an `ack` after this many receives is dead. Null is no limit. 1 to 1000000. */
  maxReceives?: number | null | undefined
  /** Where dead messages go: a queue that exists. Null: they stay, with the state `dead`. */
  deadLetterQueue?: string | null | undefined
  /** What happens to a message that its receiver acknowledges. */
  onDelete?: 'remove' | 'archive' | null | undefined
  /** How long archived messages are kept. Null: for ever. 1 to 315360000000. */
  retentionSeconds?: number | null | undefined
  /** How many messages of one `messageGroup` are ready or in flight at once; the others are blocked, and follow in the order in which they were sent. Null is no limit. 1 to 1000. */
  groupConcurrency?: number | null | undefined
  /** Sends are refused with `queue_full` while the queue has this many messages, or the send would bring more. Null is no limit. 1 to 10000000. */
  maxMessages?: number | null | undefined
}

/** A setting that is left out stays as it is. */
export interface QueueChanges {
  /** How long a receiver has a message for itself. 0 to 43200. */
  visibilityTimeoutSeconds?: number | undefined
  /** A message whose claim ends without an `ack` after this many receives is dead. Null is no limit. 1 to 1000000. */
  maxReceives?: number | null | undefined
  /** Where dead messages go: a queue that exists. Null: they stay, with the state `dead`. */
  deadLetterQueue?: string | null | undefined
  /** What happens to a message that its receiver acknowledges. */
  onDelete?: 'remove' | 'archive' | undefined
  /** How long archived messages are kept. Null: for ever. 1 to 315360000000. */
  retentionSeconds?: number | null | undefined
  /** How many messages of one `messageGroup` are ready or in flight at once; the others are blocked, and follow in the order in which they were sent. Null is no limit. 1 to 1000. */
  groupConcurrency?: number | null | undefined
  /** Sends are refused with `queue_full` while the queue has this many messages, or the send would bring more. Null is no limit. 1 to 10000000. */
  maxMessages?: number | null | undefined
}

export interface Queue {
  queue: string
  /** How long a receiver has a message for itself. 0 to 43200. */
  visibilityTimeoutSeconds: number
  /** A message whose claim ends without an `ack` after this many receives is dead. Null is no limit. 1 to 1000000. */
  maxReceives: number | null
  /** Where dead messages go: a queue that exists. Null: they stay, with the state `dead`. */
  deadLetterQueue: string | null
  /** What happens to a message that its receiver acknowledges. */
  onDelete: 'remove' | 'archive'
  /** How long archived messages are kept. Null: for ever. 1 to 315360000000. */
  retentionSeconds: number | null
  /** How many messages of one `messageGroup` are ready or in flight at once; the others are blocked, and follow in the order in which they were sent. Null is no limit. 1 to 1000. */
  groupConcurrency: number | null
  /** Sends are refused with `queue_full` while the queue has this many messages, or the send would bring more. Null is no limit. 1 to 10000000. */
  maxMessages: number | null
  /** For `If-Match`: changes with the settings, and with nothing but them. */
  tag: string
  /** Whether `pauseQueue` has paused the queue: it accepts sends, but receives get nothing. */
  paused: boolean
  createdAt: Date
}

export interface QueueStatus {
  queue: string
  /** How long a receiver has a message for itself. 0 to 43200. */
  visibilityTimeoutSeconds: number
  /** A message whose claim ends without an `ack` after this many receives is dead. Null is no limit. 1 to 1000000. */
  maxReceives: number | null
  /** Where dead messages go: a queue that exists. Null: they stay, with the state `dead`. */
  deadLetterQueue: string | null
  /** What happens to a message that its receiver acknowledges. */
  onDelete: 'remove' | 'archive'
  /** How long archived messages are kept. Null: for ever. 1 to 315360000000. */
  retentionSeconds: number | null
  /** How many messages of one `messageGroup` are ready or in flight at once; the others are blocked, and follow in the order in which they were sent. Null is no limit. 1 to 1000. */
  groupConcurrency: number | null
  /** Sends are refused with `queue_full` while the queue has this many messages, or the send would bring more. Null is no limit. 1 to 10000000. */
  maxMessages: number | null
  /** For `If-Match`: changes with the settings, and with nothing but them. */
  tag: string
  /** Whether `pauseQueue` has paused the queue: it accepts sends, but receives get nothing. */
  paused: boolean
  createdAt: Date
  /** Whether another queue names it as its dead-letter queue. Messages that die there are ready here. */
  isDeadLetterQueue: boolean
  /** At most 5 seconds old; exact once the queue has not changed for 5 seconds. */
  counts: { ready: number; inFlight: number; delayed: number; blocked: number; dead: number; archived: number }
  /** The age of the oldest message that is ready, blocked or in flight; null if there is none. */
  oldestAgeSeconds: number | null
}

export interface QueuePage {
  queues: QueueStatus[]
  nextAfter: string | null
}

export interface Redrive {
  /** True: nothing changes, and the answer is the number of messages that would be affected now. */
  dryRun?: boolean | null | undefined
  /** Only these messages. */
  ids?: readonly bigint[] | null | undefined
  /** Maximum number of messages; all when left out. */
  limit?: number | null | undefined
}

export interface Promote {
  ids: readonly bigint[]
}

export interface Purge {
  /** True: nothing changes, and the answer is the number of messages that would be affected now. */
  dryRun?: boolean | null | undefined
}

export interface Moved {
  moved: number
}

export interface Promoted {
  promoted: number
}

export interface NewMessage<Body = unknown> {
  /** Any JSON value of at most 256 KiB and 64 levels; stored and given back unchanged. */
  body: Body
  /** The time until the message is handed out. 0 to 315360000; `0` when left out. */
  delaySeconds?: number | null | undefined
  /** In place of the queue's, where a receive asks for none. 0 to 43200. */
  visibilityTimeoutSeconds?: number | null | undefined
  /** In place of the queue's. Null is no limit; the queue's when left out. 1 to 1000000. */
  maxReceives?: number | null | undefined
  /** If a message with it was sent to this queue in the last 5 minutes, nothing is sent, and the answer is that message. */
  dedupId?: string | null | undefined
  /** Higher first. -1000 to 1000; `0` when left out. */
  priority?: number | null | undefined
  /** Messages of one group take turns with those of other groups. Those without one share one. */
  messageGroup?: string | null | undefined
  /** Handed to the receiver as they are, such as `traceparent`. */
  attributes?: Readonly<Record<string, string>> | null | undefined
}

export interface Messages<Body = unknown> {
  messages: readonly NewMessage<Body>[]
}

export type Sending<Body = unknown> = NewMessage<Body> | Messages<Body>

export interface Sent {
  id: bigint
  /** False: a message with this `dedupId` was sent before; `id` is that of that message. */
  sent: boolean
}

export interface SentMany {
  messages: Sent[]
}

export type SentOneOrMany = Sent | SentMany

export interface Receive {
  /** Maximum number of messages to return. 1 to 1000; `1` when left out. */
  limit?: number | null | undefined
  /** In place of the messages' own and the queue's. 0 to 43200. */
  visibilityTimeoutSeconds?: number | null | undefined
  /** How long to wait for a message when there is none. 0 to 20; `0` when left out. */
  waitSeconds?: number | null | undefined
}

export interface Cycle {
  /** Maximum number of messages to return. 1 to 1000; `1` when left out. */
  limit?: number | null | undefined
  /** In place of the messages' own and the queue's. 0 to 43200. */
  visibilityTimeoutSeconds?: number | null | undefined
  /** The name of the cursor; `default` when left out. */
  cursor?: string | null | undefined
}

export interface Message<Body = unknown> {
  id: bigint
  /** Any JSON value. */
  body: Body
  /** The number of receives, including this one. */
  receiveCount: number
  /** Opaque; identifies the message and this claim. */
  receiptHandle: string
  sentAt: Date
  /** The beginning of the claim. */
  receivedAt: Date
  /** The end of the claim. */
  visibleAt: Date
  /** The limit in force: the message's own, otherwise the queue's. Null is no limit. 1 to 1000000. */
  maxReceives: number | null
  /** When it was received for the first time, in whatever queue. */
  firstReceivedAt: Date | null
  /** When it died, for a dead message, and for a dead letter until it is redriven; otherwise null. */
  deadAt: Date | null
  /** How often it had been received when it died. */
  deadReceiveCount: number | null
  /** The error of the last `nack`; for a message that died without one, that its visibility timeout ended. */
  lastError: string | null
  messageGroup: string | null
  /** -1000 to 1000. */
  priority: number
  /** As they were sent; empty if there are none. */
  attributes: Readonly<Record<string, string>>
}

export interface Received<Body = unknown> {
  messages: Message<Body>[]
}

/** Either `receiptHandle` or `receiptHandles` is given. */
export interface Ack {
  /** One claim: the answer is 204, or 409 if the claim has ended. */
  receiptHandle?: string | undefined
  /** Many claims: the answer is 200 and says what became of each. */
  receiptHandles?: readonly string[] | undefined
}

/** Either `receiptHandle` or `receiptHandles` is given. */
export interface Nack {
  /** One claim: the answer is 204, or 409 if the claim has ended. */
  receiptHandle?: string | undefined
  /** Many claims: the answer is 200 and says what became of each. */
  receiptHandles?: readonly string[] | undefined
  /** The time until the messages are handed out again. 0 to 315360000; `0` when left out. */
  delaySeconds?: number | null | undefined
  /** Kept as `lastError`, cut to 1,000 characters. */
  error?: string | null | undefined
  /** True: the messages become dead letters, whatever their receive counts. `false` when left out. */
  dead?: boolean | null | undefined
}

/** Either `receiptHandle` or `receiptHandles` is given. */
export interface Extend {
  /** One claim: the answer is 204, or 409 if the claim has ended. */
  receiptHandle?: string | undefined
  /** Many claims: the answer is 200 and says what became of each. */
  receiptHandles?: readonly string[] | undefined
  /** Counted from now. 0 to 43200. */
  visibilityTimeoutSeconds: number
}

export interface AckedReceipts {
  acked: string[]
  /** `stale_receipt`: the claim has ended. `invalid_receipt`: not a handle of this queue. */
  failed: { receiptHandle: string; code: 'stale_receipt' | 'invalid_receipt' }[]
}

export interface NackedReceipts {
  nacked: string[]
  /** `stale_receipt`: the claim has ended. `invalid_receipt`: not a handle of this queue. */
  failed: { receiptHandle: string; code: 'stale_receipt' | 'invalid_receipt' }[]
}

export interface ExtendedReceipts {
  extended: string[]
  /** `stale_receipt`: the claim has ended. `invalid_receipt`: not a handle of this queue. */
  failed: { receiptHandle: string; code: 'stale_receipt' | 'invalid_receipt' }[]
}

export interface PeekedMessage<Body = unknown> {
  id: bigint
  state: 'ready' | 'in-flight' | 'delayed' | 'blocked' | 'dead' | 'archived'
  /** Any JSON value. */
  body: Body
  receiveCount: number
  /** The limit in force: the message's own, otherwise the queue's. Null is no limit. 1 to 1000000. */
  maxReceives: number | null
  sentAt: Date
  /** When the message becomes, or became, visible again. */
  visibleAt: Date
  lastReceivedAt: Date | null
  archivedAt: Date | null
  /** The queue in which a dead letter died; null if that queue no longer exists, if the key may not see it, or if the message is archived. */
  deadLetterFrom: string | null
  /** When it was received for the first time, in whatever queue. */
  firstReceivedAt: Date | null
  /** When it died, for a dead message, and for a dead letter until it is redriven; otherwise null. */
  deadAt: Date | null
  /** How often it had been received when it died. */
  deadReceiveCount: number | null
  /** The error of the last `nack`; for a message that died without one, that its visibility timeout ended. */
  lastError: string | null
  messageGroup: string | null
  /** -1000 to 1000. */
  priority: number
  /** As they were sent; empty if there are none. */
  attributes: Readonly<Record<string, string>>
}

export interface MessagePage<Body = unknown> {
  messages: PeekedMessage<Body>[]
  nextAfter: string | null
}

export interface NewSchedule<Body = unknown> {
  /** Any JSON value of at most 256 KiB and 64 levels; stored and given back unchanged. */
  body: Body
  /** The time until the message is handed out. 0 to 315360000; `0` when left out. */
  delaySeconds?: number | null | undefined
  /** In place of the queue's, where a receive asks for none. 0 to 43200. */
  visibilityTimeoutSeconds?: number | null | undefined
  /** In place of the queue's. Null is no limit; the queue's when left out. 1 to 1000000. */
  maxReceives?: number | null | undefined
  /** Higher first. -1000 to 1000; `0` when left out. */
  priority?: number | null | undefined
  /** Messages of one group take turns with those of other groups. Those without one share one. */
  messageGroup?: string | null | undefined
  /** Up to 14. Each message also has `recentn.schedule`, the name of the schedule, and `recentn.tick`, the planned time. */
  attributes?: Readonly<Record<string, string>> | null | undefined
  /** The queue that gets the messages. It must exist. */
  queue: string
  /** If every tick that is due is more than a minute late: `send-once` sends the newest of them, `skip` sends none. `send-once` when left out. */
  missed?: 'send-once' | 'skip' | null | undefined
  /** A cron pattern of 5 fields (minute, hour, day of the month, month, day of the week), or of 6 with seconds first. Either this or `everySeconds`. */
  cron?: string | null | undefined
  /** The time between two ticks. Either this or `cron`. 1 to 315360000. */
  everySeconds?: number | null | undefined
  /** The IANA name of the time zone of `cron`; `UTC` when left out. */
  timeZone?: string | null | undefined
}

/** What is left out stays as it is. */
export interface ScheduleChanges<Body = unknown> {
  /** Any JSON value of at most 256 KiB and 64 levels; stored and given back unchanged. */
  body?: Body | undefined
  /** 0 to 315360000. */
  delaySeconds?: number | undefined
  /** In place of the queue's, where a receive asks for none. 0 to 43200. */
  visibilityTimeoutSeconds?: number | null | undefined
  /** In place of the queue's. Null is no limit; the queue's when left out. 1 to 1000000. */
  maxReceives?: number | null | undefined
  /** -1000 to 1000. */
  priority?: number | undefined
  /** Messages of one group take turns with those of other groups. Those without one share one. */
  messageGroup?: string | null | undefined
  /** Up to 14. Each message also has `recentn.schedule`, the name of the schedule, and `recentn.tick`, the planned time. */
  attributes?: Readonly<Record<string, string>> | null | undefined
  /** The queue that gets the messages. It must exist. */
  queue?: string | undefined
  missed?: 'send-once' | 'skip' | undefined
  /** A cron pattern of 5 fields (minute, hour, day of the month, month, day of the week), or of 6 with seconds first. Either this or `everySeconds`. */
  cron?: string | null | undefined
  /** The time between two ticks. Either this or `cron`. 1 to 315360000. */
  everySeconds?: number | null | undefined
  /** The IANA name of the time zone of `cron`; `UTC` when left out. */
  timeZone?: string | null | undefined
}

export interface Schedule<Body = unknown> {
  schedule: string
  queue: string
  cron: string | null
  /** 1 to 315360000. */
  everySeconds: number | null
  /** Null without `cron`. */
  timeZone: string | null
  missed: 'send-once' | 'skip'
  delaySeconds: number
  /** 0 to 43200. */
  visibilityTimeoutSeconds: number | null
  /** Left out if the queue's limit applies; null is no limit. 1 to 1000000. */
  maxReceives?: number | null | undefined
  /** -1000 to 1000. */
  priority: number
  messageGroup: string | null
  /** Those of the definition. */
  attributes: Readonly<Record<string, string>>
  /** The planned time of the next tick; in the past while it cannot be sent. */
  nextTickAt: Date
  /** The planned time of the last tick that was sent. */
  lastTickAt: Date | null
  /** When it was sent. */
  lastSentAt: Date | null
  /** Why the next tick could not be sent so far; it is tried again each minute. */
  lastError: string | null
  /** For `If-Match`: changes with the settings, and with nothing but them. */
  tag: string
  createdAt: Date
  /** Any JSON value. */
  body: Body
}

export interface ListedSchedule {
  schedule: string
  queue: string
  cron: string | null
  /** 1 to 315360000. */
  everySeconds: number | null
  /** Null without `cron`. */
  timeZone: string | null
  missed: 'send-once' | 'skip'
  delaySeconds: number
  /** 0 to 43200. */
  visibilityTimeoutSeconds: number | null
  /** Left out if the queue's limit applies; null is no limit. 1 to 1000000. */
  maxReceives?: number | null | undefined
  /** -1000 to 1000. */
  priority: number
  messageGroup: string | null
  /** Those of the definition. */
  attributes: Readonly<Record<string, string>>
  /** The planned time of the next tick; in the past while it cannot be sent. */
  nextTickAt: Date
  /** The planned time of the last tick that was sent. */
  lastTickAt: Date | null
  /** When it was sent. */
  lastSentAt: Date | null
  /** Why the next tick could not be sent so far; it is tried again each minute. */
  lastError: string | null
  /** For `If-Match`: changes with the settings, and with nothing but them. */
  tag: string
  createdAt: Date
}

export interface SchedulePage {
  schedules: ListedSchedule[]
  nextAfter: string | null
}

export interface NewValue<Value = unknown> {
  /** Any JSON value of at most 256 KiB and 64 levels; stored and given back unchanged. */
  value: Value
}

export interface NewEntry<Value = unknown> {
  key: string
  /** Any JSON value of at most 256 KiB and 64 levels; stored and given back unchanged. */
  value: Value
}

export interface NewEntries<Value = unknown> {
  entries: readonly NewEntry<Value>[]
}

export interface PutEntries {
  entries: { key: string; version: number }[]
}

export interface Entry<Value = unknown> {
  key: string
  /** Any JSON value; null for a tombstone. */
  value: Value
  /** Null in a feed that follows a table. */
  version: number | null
  /** The number that a publisher gave the entry; null until then. */
  syncId: bigint | null
  /** Whether it is a tombstone. */
  deleted: boolean
  /** Null in a feed that follows a table. */
  updatedAt: Date | null
}

/** Exactly one of the two. */
export interface Republish {
  keys?: readonly string[] | null | undefined
  /** What the keys begin with; "" is all of them. */
  prefix?: string | null | undefined
}

export interface Republished {
  republished: number
}

export interface Changes<Value = unknown> {
  changes: { syncId: bigint; key: string; value: Value; version: number | null; deleted: boolean }[]
  /** The cursor to continue from. */
  cursor: bigint
  /** Whether there are more changes after the cursor. */
  hasMore: boolean
}

export interface NewCursor {
  cursor: bigint
  /** Backwards too. `false` when left out. */
  force?: boolean | null | undefined
  /** The cursor that the finished page was read from. If the stored cursor was put back before it meanwhile, it stays there. */
  from?: bigint | null | undefined
}

export interface Consumer {
  consumer: string
  cursor: bigint
  /** The number of sync ids after the cursor. */
  lag: number
}

export interface Feed {
  feed: string
  /** "0" until the first entry is published. */
  lastSyncId: bigint
  /** The number of entries without tombstones; at most 5 seconds old. */
  entries: number
  /** Entries and tombstones that no publisher has numbered yet; at most 5 seconds old. */
  unpublished: number
  /** How long the oldest of them has waited; null if there is none. At most 5 seconds old. */
  oldestUnpublishedSeconds: number | null
  /** The consumers by name, at most the first 1,000. */
  consumers: { consumer: string; cursor: bigint; lag: number }[]
}

export interface FeedPage {
  feeds: Feed[]
  nextAfter: string | null
}

/** Problem details, RFC 9457. */
export interface Problem<Existing = unknown> {
  /** The address of the code in the error reference, relative to the request. */
  type: string
  title: string
  /** 400 to 599. */
  status: number
  detail: string
  /** A stable word for programs. */
  code: 'invalid_input' | 'malformed_json' | 'not_found' | 'group_not_found' | 'item_not_found' | 'policy_not_found' | 'queue_not_found' | 'message_not_found' | 'schedule_not_found' | 'settings_changed' | 'already_exists' | 'stale_receipt' | 'invalid_receipt' | 'queue_in_use' | 'queue_full' | 'too_many' | 'dead_letter_queue_not_found' | 'dead_letter_cycle' | 'feed_not_found' | 'entry_not_found' | 'consumer_not_found' | 'cursor_expired' | 'method_not_allowed' | 'unsupported_media_type' | 'request_timeout' | 'target_too_long' | 'expectation_failed' | 'headers_too_large' | 'body_too_large' | 'unauthorized' | 'forbidden' | 'overloaded' | 'sequence_exhausted' | 'conflict' | 'database_unavailable' | 'database_refused' | 'outcome_unknown' | 'schema_missing' | 'schema_outdated' | 'schema_too_new' | 'closed' | 'draining' | 'misuse' | 'internal'
  /** The `X-Request-Id` of the answer, as the log of the server has it. */
  requestId?: string | undefined
  /** Every fault of a refused input. */
  errors?: { pointer?: string | undefined; parameter?: string | undefined; detail: string }[] | undefined
  /** Only with `already_exists`: what is there, if the key may see it. */
  existing?: Existing | undefined
}

type Nothing = Record<never, never>

/** What each operation takes and answers. */
interface Wire {
  /** Append an item: `POST /v1/groups/{group}/items` */
  appendItem: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: NewItem
    answer: Item
  }
  /** Read the newest items of a group, newest first: `GET /v1/groups/{group}/items` */
  recentItems: {
    path: {
      /** The group. */
      group: string
    }
    query: {
      /** The maximum number to return. 1 to 10000; `10` when left out. */
      limit?: number | undefined
      /** Return only items with a smaller id: the `nextBefore` of the previous page. */
      before?: bigint | undefined
      /** Leave out the items of these members. */
      exclude?: readonly string[] | undefined
      /** `none`: null in place of each payload. `value` when left out. */
      payloads?: 'value' | 'none' | undefined
    }
    body: undefined
    answer: Recent
  }
  /** Remove all items of a group: `DELETE /v1/groups/{group}/items` */
  clearGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: undefined
    answer: Deleted
  }
  /** Read one item: `GET /v1/groups/{group}/items/{id}` */
  getItem: {
    path: {
      /** The group. */
      group: string
      /** The id of the item. */
      id: bigint
    }
    query: Nothing
    body: undefined
    answer: Item
  }
  /** Remove one item: `DELETE /v1/groups/{group}/items/{id}` */
  removeItem: {
    path: {
      /** The group. */
      group: string
      /** The id of the item. */
      id: bigint
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Append up to 1000 items to any groups: `POST /v1/items` */
  appendItems: {
    path: Nothing
    query: Nothing
    body: Batch
    answer: Appended
  }
  /** Read the newest items of up to 100 groups, in the order given: `GET /v1/items` */
  recentItemsOfMany: {
    path: Nothing
    query: {
      /** The groups, each once. */
      group: readonly string[]
      /** The maximum number to return. 1 to 10000; `10` when left out. */
      limit?: number | undefined
      /** Leave out the items of these members. */
      exclude?: readonly string[] | undefined
      /** `none`: null in place of each payload. `value` when left out. */
      payloads?: 'value' | 'none' | undefined
    }
    body: undefined
    answer: RecentMany
  }
  /** List groups by name: `GET /v1/groups` */
  listGroups: {
    path: Nothing
    query: {
      /** Return only groups whose names begin with this. */
      prefix?: string | undefined
      /** The maximum number to return. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before. */
      after?: string | undefined
    }
    body: undefined
    answer: GroupPage
  }
  /** Read a group: its settings in force, its own settings, and how often it was appended to: `GET /v1/groups/{group}` */
  getGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: undefined
    answer: Group
  }
  /** Create a group, or replace a group's own settings: `PUT /v1/groups/{group}` */
  putGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: OwnSettings
    answer: Group
  }
  /** Change some of a group's own settings: `PATCH /v1/groups/{group}` */
  updateGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: GroupChanges
    answer: Group
  }
  /** Delete a group with its items: `DELETE /v1/groups/{group}` */
  deleteGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Stream the changes of a group as server-sent events: `GET /v1/groups/{group}/stream` */
  streamGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: {
      /** Start after this item, if there is no `Last-Event-ID`. */
      after?: bigint | undefined
    }
    body: undefined
    answer: string
  }
  /** Read the items of a member in all groups, newest first: `GET /v1/members/{member}/items` */
  memberItems: {
    path: {
      /** The member. */
      member: string
    }
    query: {
      /** Only in groups whose names begin with this. */
      prefix?: string | undefined
      /** `none`: null in place of each payload. `value` when left out. */
      payloads?: 'value' | 'none' | undefined
      /** The maximum number to return. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextBefore` of the page before: opaque. */
      before?: string | undefined
    }
    body: undefined
    answer: MemberItems
  }
  /** Erase the items that a member has in all groups when the request arrives: `DELETE /v1/members/{member}/items` */
  eraseMember: {
    path: {
      /** The member. */
      member: string
    }
    query: {
      /** Only in groups whose names begin with this. */
      prefix?: string | undefined
    }
    body: undefined
    answer: Deleted
  }
  /** List policies by prefix: `GET /v1/policies` */
  listPolicies: {
    path: Nothing
    query: {
      /** Return only policies whose prefixes begin with this. */
      prefix?: string | undefined
      /** The maximum number to return. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before. */
      after?: string | undefined
    }
    body: undefined
    answer: PolicyPage
  }
  /** Read a policy: `GET /v1/policies/{prefix}` */
  getPolicy: {
    path: {
      /** The prefix of the groups' names. */
      prefix: string
    }
    query: Nothing
    body: undefined
    answer: Policy
  }
  /** Create or replace a policy: `PUT /v1/policies/{prefix}` */
  putPolicy: {
    path: {
      /** The prefix of the groups' names. */
      prefix: string
    }
    query: Nothing
    body: PolicySettings
    answer: Policy
  }
  /** Change some settings of a policy: `PATCH /v1/policies/{prefix}` */
  updatePolicy: {
    path: {
      /** The prefix of the groups' names. */
      prefix: string
    }
    query: Nothing
    body: PolicyChanges
    answer: Policy
  }
  /** Delete a policy: `DELETE /v1/policies/{prefix}` */
  deletePolicy: {
    path: {
      /** The prefix of the groups' names. */
      prefix: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** List queues by name: `GET /v1/queues` */
  listQueues: {
    path: Nothing
    query: {
      /** Return only queues whose names begin with this. */
      prefix?: string | undefined
      /** The maximum number to return. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before. */
      after?: string | undefined
    }
    body: undefined
    answer: QueuePage
  }
  /** Read a queue: its settings, the number of messages in each state, and the age of the oldest: `GET /v1/queues/{queue}` */
  getQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: undefined
    answer: QueueStatus
  }
  /** Create a queue, or replace all of its settings: `PUT /v1/queues/{queue}` */
  putQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: QueueSettings
    answer: Queue
  }
  /** Drop a queue with its messages: `DELETE /v1/queues/{queue}` */
  deleteQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Change some settings of a queue: `PATCH /v1/queues/{queue}` */
  updateQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: QueueChanges
    answer: Queue
  }
  /** Send dead messages back to where they came from: `POST /v1/queues/{queue}/redrive` */
  redriveQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Redrive
    answer: Moved
  }
  /** Make delayed messages due now: `POST /v1/queues/{queue}/promote` */
  promoteMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Promote
    answer: Promoted
  }
  /** Drop the ready, blocked and delayed messages: `POST /v1/queues/{queue}/purge` */
  purgeQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Purge
    answer: Deleted
  }
  /** Pause a queue: `POST /v1/queues/{queue}/pause` */
  pauseQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Record<string, never>
    answer: Queue
  }
  /** Resume a paused queue: `POST /v1/queues/{queue}/resume` */
  resumeQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Record<string, never>
    answer: Queue
  }
  /** Send a message, or up to 1000 of them: `POST /v1/queues/{queue}/messages` */
  sendMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Sending
    answer: SentOneOrMany
  }
  /** Read the messages in one state without claiming them: `GET /v1/queues/{queue}/messages` */
  peekMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: {
      /** Return only messages in this state. `ready` when left out. */
      state?: 'ready' | 'in-flight' | 'delayed' | 'blocked' | 'dead' | 'archived' | undefined
      /** `preview`: in place of each body, the first 200 characters of its JSON as a string, with `…` if it is longer. `value` when left out. */
      bodies?: 'value' | 'preview' | undefined
      /** The maximum number to return. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before: opaque. */
      after?: string | undefined
    }
    body: undefined
    answer: MessagePage
  }
  /** Read one message, in any state: `GET /v1/queues/{queue}/messages/{id}` */
  getMessage: {
    path: {
      /** The queue. */
      queue: string
      /** The id of the message. */
      id: bigint
    }
    query: Nothing
    body: undefined
    answer: PeekedMessage
  }
  /** Remove one message, in any state: `DELETE /v1/queues/{queue}/messages/{id}` */
  deleteMessage: {
    path: {
      /** The queue. */
      queue: string
      /** The id of the message. */
      id: bigint
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Claim messages: `POST /v1/queues/{queue}/receive` */
  receiveMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Receive
    answer: Received
  }
  /** Claim the next messages behind a stored cursor, by id, over and over: `POST /v1/queues/{queue}/cycle` */
  cycleMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Cycle
    answer: Received
  }
  /** Acknowledge received messages: they are done, and are removed or archived: `POST /v1/queues/{queue}/ack` */
  ackMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Ack
    answer: AckedReceipts | undefined
  }
  /** Return received messages: they failed, and are handed out again after a delay, or never: `POST /v1/queues/{queue}/nack` */
  nackMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Nack
    answer: NackedReceipts | undefined
  }
  /** Extend the claims of received messages, counted from now: `POST /v1/queues/{queue}/extend` */
  extendMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Extend
    answer: ExtendedReceipts | undefined
  }
  /** List schedules by name, without their bodies: `GET /v1/schedules` */
  listSchedules: {
    path: Nothing
    query: {
      /** Return only schedules whose names begin with this. */
      prefix?: string | undefined
      /** The maximum number to return. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before. */
      after?: string | undefined
    }
    body: undefined
    answer: SchedulePage
  }
  /** Read a schedule: what it sends, its last tick and its next: `GET /v1/schedules/{schedule}` */
  getSchedule: {
    path: {
      /** The schedule. */
      schedule: string
    }
    query: Nothing
    body: undefined
    answer: Schedule
  }
  /** Create a schedule, or replace it: `PUT /v1/schedules/{schedule}` */
  putSchedule: {
    path: {
      /** The schedule. */
      schedule: string
    }
    query: Nothing
    body: NewSchedule
    answer: Schedule
  }
  /** Change some of what a schedule sends, or when: `PATCH /v1/schedules/{schedule}` */
  updateSchedule: {
    path: {
      /** The schedule. */
      schedule: string
    }
    query: Nothing
    body: ScheduleChanges
    answer: Schedule
  }
  /** End a schedule: `DELETE /v1/schedules/{schedule}` */
  deleteSchedule: {
    path: {
      /** The schedule. */
      schedule: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** List feeds by name: `GET /v1/feeds` */
  listFeeds: {
    path: Nothing
    query: {
      /** Return only feeds whose names begin with this. */
      prefix?: string | undefined
      /** The maximum number to return. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before. */
      after?: string | undefined
    }
    body: undefined
    answer: FeedPage
  }
  /** Read the state of a feed: its last sync id, its entries, those not published yet, and its consumers: `GET /v1/feeds/{feed}` */
  getFeedStatus: {
    path: {
      /** The feed. */
      feed: string
    }
    query: Nothing
    body: undefined
    answer: Feed
  }
  /** Drop a feed with its entries and consumers: `DELETE /v1/feeds/{feed}` */
  dropFeed: {
    path: {
      /** The feed. */
      feed: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Publish entries again, unchanged: `POST /v1/feeds/{feed}/republish` */
  republishEntries: {
    path: {
      /** The feed. */
      feed: string
    }
    query: Nothing
    body: Republish
    answer: Republished
  }
  /** Read an entry: `GET /v1/feeds/{feed}/entries/{key}` */
  getEntry: {
    path: {
      /** The feed. */
      feed: string
      /** The key of the entry. */
      key: string
    }
    query: Nothing
    body: undefined
    answer: Entry
  }
  /** Write an entry: `PUT /v1/feeds/{feed}/entries/{key}` */
  putEntry: {
    path: {
      /** The feed. */
      feed: string
      /** The key of the entry. */
      key: string
    }
    query: Nothing
    body: NewValue
    answer: Entry
  }
  /** Delete an entry and leave a tombstone, which consumers read: `DELETE /v1/feeds/{feed}/entries/{key}` */
  deleteEntry: {
    path: {
      /** The feed. */
      feed: string
      /** The key of the entry. */
      key: string
    }
    query: Nothing
    body: undefined
    answer: Entry
  }
  /** Write up to 1000 entries: `POST /v1/feeds/{feed}/entries` */
  putEntries: {
    path: {
      /** The feed. */
      feed: string
    }
    query: Nothing
    body: NewEntries
    answer: PutEntries
  }
  /** Read the changes after a cursor, in the order of their sync ids: `GET /v1/feeds/{feed}/changes` */
  getChanges: {
    path: {
      /** The feed. */
      feed: string
    }
    query: {
      /** A `cursor`: return only changes after it. Default: the beginning of the feed. */
      after?: bigint | undefined
      /** Start at the stored cursor of this consumer, in place of `after`. */
      consumer?: string | undefined
      /** The maximum number to return. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** How long to wait for a change when there is none. 0 to 20; `0` when left out. */
      waitSeconds?: number | undefined
    }
    body: undefined
    answer: Changes
  }
  /** Read the stored cursor of a consumer, and how far behind it is: `GET /v1/feeds/{feed}/consumers/{consumer}` */
  getCursor: {
    path: {
      /** The feed. */
      feed: string
      /** The consumer. */
      consumer: string
    }
    query: Nothing
    body: undefined
    answer: Consumer
  }
  /** Move the stored cursor of a consumer: `PUT /v1/feeds/{feed}/consumers/{consumer}` */
  moveCursor: {
    path: {
      /** The feed. */
      feed: string
      /** The consumer. */
      consumer: string
    }
    query: Nothing
    body: NewCursor
    answer: Consumer
  }
  /** Forget a consumer: `DELETE /v1/feeds/{feed}/consumers/{consumer}` */
  dropCursor: {
    path: {
      /** The feed. */
      feed: string
      /** The consumer. */
      consumer: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Read what the caller may do: `GET /v1/access` */
  getAccess: {
    path: Nothing
    query: Nothing
    body: undefined
    answer: Access
  }
  /** Check that the process answers: `GET /livez` */
  livez: {
    path: Nothing
    query: Nothing
    body: undefined
    answer: Health
  }
  /** Check that the process and its database answer: `GET /readyz` */
  readyz: {
    path: Nothing
    query: Nothing
    body: undefined
    answer: Health
  }
  /** Read metrics for Prometheus: `GET /metrics` */
  metrics: {
    path: Nothing
    query: Nothing
    body: undefined
    answer: string
  }
}

// The default, because the package exports what is exported by name.
export default Wire
