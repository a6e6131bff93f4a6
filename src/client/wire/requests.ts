// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** The bodies of requests. */

export interface NewItem {
  member?: string | null | undefined
  /** Any JSON value of at most 64 KiB and 64 levels; stored and given back unchanged. */
  payload?: unknown
  occurredAt?: Date | null | undefined
  eventId?: string | null | undefined
}

export interface NewGroupItem {
  group: string
  member?: string | null | undefined
  /** Any JSON value of at most 64 KiB and 64 levels; stored and given back unchanged. */
  payload?: unknown
  occurredAt?: Date | null | undefined
  eventId?: string | null | undefined
}

export interface Batch {
  items: readonly NewGroupItem[]
}

export interface OwnSettings {
  /** 1 to 10000. */
  capacity?: number | null | undefined
  mode?: 'history' | 'distinct' | null | undefined
  /** 1 to 315360000000. */
  ttlSeconds?: number | null | undefined
}

export interface NewSettings {
  /** 1 to 10000. */
  capacity?: number | null | undefined
  mode?: 'history' | 'distinct' | null | undefined
  /** 1 to 315360000000. */
  ttlSeconds?: number | null | undefined
  /**
   * The group's own settings as the caller knows them; null: there is no such group. Where they are others by now,
   * nothing is changed, and the answer is 409 `settings_changed`. Without it they are replaced whatever they are.
   */
  replaces?: OwnSettings | null | undefined
}

export interface PolicySettings {
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  /** 1 to 315360000000. */
  ttlSeconds?: number | null | undefined
}

export interface NewPolicy {
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  /** 1 to 315360000000. */
  ttlSeconds?: number | null | undefined
  /**
   * The policy as the caller knows it; null: there is none. Where it is another one by now, nothing is changed,
   * and the answer is 409 `settings_changed`. Without it the policy is replaced whatever it is.
   */
  replaces?: PolicySettings | null | undefined
}

export interface QueueSettings {
  /** How long a receiver has a message for itself; 30 when left out. 0 to 43200. */
  visibilityTimeoutSeconds?: number | null | undefined
  /**
   * A message whose claim ends without a delete after this many receives is dead. Null is no limit; 5 when left
   * out. 1 to 1000000.
   */
  maxReceives?: number | null | undefined
  /** Where dead messages go: a queue that exists. Null, and left out: they stay, with the state `dead`. */
  deadLetterQueue?: string | null | undefined
  /** What happens to a message that its receiver deletes; `remove` when left out. */
  onDelete?: 'remove' | 'archive' | null | undefined
  /** How long archived messages are kept; null, and left out: for ever. 1 to 315360000000. */
  retentionSeconds?: number | null | undefined
}

export interface QueueChanges {
  /** How long a receiver has a message for itself. 0 to 43200. */
  visibilityTimeoutSeconds?: number | undefined
  /**
   * A message whose claim ends without a delete after this many receives is dead. Null is no limit. 1 to 1000000.
   */
  maxReceives?: number | null | undefined
  /** Where dead messages go: a queue that exists. Null: they stay, with the state `dead`. */
  deadLetterQueue?: string | null | undefined
  /** What happens to a message that its receiver deletes. */
  onDelete?: 'remove' | 'archive' | undefined
  /** How long archived messages are kept. Null: for ever. 1 to 315360000000. */
  retentionSeconds?: number | null | undefined
}

export interface Redrive {
  /** At most so many; all when left out. */
  max?: number | null | undefined
  /** True: nothing is changed, and the answer is how many messages it would have been, counted now. */
  dryRun?: boolean | null | undefined
}

export interface Purge {
  /** True: nothing is changed, and the answer is how many messages it would have been, counted now. */
  dryRun?: boolean | null | undefined
}

export interface NewMessage {
  /** Any JSON value of at most 256 KiB and 64 levels; stored and given back unchanged. */
  body: unknown
  /** Not handed out before. 0 to 315360000; `0` when left out. */
  delaySeconds?: number | null | undefined
  /** In place of the queue's, where a receive asks for none. 0 to 43200. */
  visibilityTimeoutSeconds?: number | null | undefined
  /** In place of the queue's. Null is no limit; the queue's when left out. 1 to 1000000. */
  maxReceives?: number | null | undefined
  /** While a message was sent to this queue with it in the last 5 minutes, that one stands for this one. */
  dedupId?: string | null | undefined
  /** Higher first. -1000 to 1000; `0` when left out. */
  priority?: number | null | undefined
  /** Messages of one group take turns with those of other groups. Those without one share one. */
  messageGroup?: string | null | undefined
}

export interface Messages {
  messages: readonly NewMessage[]
}

export type Sending = NewMessage | Messages

export interface Receive {
  /** At most so many messages. 1 to 1000; `1` when left out. */
  max?: number | null | undefined
  /** In place of the messages' own and the queue's. 0 to 43200. */
  visibilityTimeoutSeconds?: number | null | undefined
  /** How long to wait for a message when there is none. 0 to 20; `0` when left out. */
  waitSeconds?: number | null | undefined
  /**
   * `ready`: by priority and fairness. `cycle`: round and round by id, from where the cursor is. `ready` when left
   * out.
   */
  order?: 'ready' | 'cycle' | null | undefined
  /** `cycle`: which cursor goes on; `default` when left out. */
  cursor?: string | null | undefined
}

export interface Receipts {
  receiptHandles: readonly string[]
}

export interface Release {
  receiptHandles: readonly string[]
  /** Handed out again after so long. 0 to 315360000; `0` when left out. */
  delaySeconds?: number | null | undefined
  /** Kept as `lastError`, cut to 1,000 characters. */
  error?: string | null | undefined
  /** Never again: to the dead letters, whatever the receive count. `false` when left out. */
  dead?: boolean | null | undefined
}

export interface Extend {
  receiptHandles: readonly string[]
  /** Counted from now. 0 to 43200. */
  visibilityTimeoutSeconds: number
}

export interface NewValue {
  /** Any JSON value of at most 256 KiB and 64 levels; stored and given back unchanged. */
  value: unknown
}

export interface NewEntry {
  key: string
  /** Any JSON value of at most 256 KiB and 64 levels; stored and given back unchanged. */
  value: unknown
}

export interface NewEntries {
  entries: readonly NewEntry[]
}

/** Exactly one of the two. */
export interface Republish {
  keys?: readonly string[] | null | undefined
  /** What the keys begin with; "" is all of them. */
  prefix?: string | null | undefined
}

export interface NewCursor {
  cursor: bigint
  /** Backwards too. `false` when left out. */
  force?: boolean | null | undefined
}
