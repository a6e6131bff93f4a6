/**
 * The public shapes of feeds. Sync ids and cursors are bigints; times are Dates in UTC; durations are in seconds.
 */
import type { AsJson, JsonText } from './json'
import type { As, Form, ListOptions } from './types'

/** One key of a feed and its latest value. */
export interface Entry<Value = unknown> {
  key: string
  /** Null for a tombstone. */
  value: Value
  /** Starts at 1; every put and delete raises it, a republish does not. Null for a row of a followed table. */
  version: number | null
  /** The number that a publisher gave the entry; null until then. */
  syncId: bigint | null
  deleted: boolean
  /** Null for a row of a followed table. */
  updatedAt: Date | null
}

/** An entry of the feed's own table, as a write leaves it. */
export interface WrittenEntry<Value = unknown> extends Entry<Value> {
  version: number
  updatedAt: Date
}

/** For a write that counts only if no other write came first. */
export interface IfVersion {
  /**
   * The `version` of the entry as the caller has read it; 0: there is no entry. If it has another one now, nothing is written,
   * and the call throws `version_changed`.
   */
  ifVersion?: number | undefined
}

export interface NewEntry<Value = unknown> extends IfVersion {
  key: string
  /** Any JSON value of at most 256 KiB as text, or a `JsonText`. */
  value: Value | JsonText
}

export interface PutEntry {
  key: string
  version: number
}

/** The members of every change. */
export interface ChangeBase {
  syncId: bigint
  key: string
  /** Null for a row of a followed table. */
  version: number | null
}

/** An entry as a consumer sees it: its latest value, or that it was deleted. */
export type Change<Value = unknown> = ChangeBase & ({ deleted: false; value: Value } | { deleted: true; value: null })

export interface Changes<Value = unknown> {
  /** In the order of their sync ids. */
  changes: Change<Value>[]
  /**
   * Pass it as `after` to read on: the last sync id, or the cursor of the request when there is no change. For a consumer
   * that started over on a feed with removed tombstones it is greater than any sync id until it has read past them.
   */
  cursor: bigint
  /** There are more changes after the cursor. */
  hasMore: boolean
}

export interface ValueOptions<Asked extends Form = Form> {
  /** `'text'` gives values as `JsonText`, unparsed. */
  values?: Asked | undefined
}

export interface ChangesOptions<Asked extends Form = Form> extends ValueOptions<Asked> {
  /** A cursor. Default: 0, the beginning. */
  after?: bigint | undefined
  /** Start at this consumer's stored cursor, in place of `after`. The stored cursor is not moved. */
  consumer?: string | undefined
  /** Maximum number of changes, 1 to 1,000. Default: 100. */
  limit?: number | undefined
  /** How long to wait when there is no change, 0 to 20. Default: 0. Inside a transaction only 0. */
  waitSeconds?: number | undefined
  /** Ends the wait early: the call resolves to no changes. */
  signal?: AbortSignal | undefined
}

/** Which entries to publish again: exactly one of the two properties. */
export interface RepublishSelection {
  /** 1 to 1,000 keys. Unknown keys are ignored. */
  keys?: readonly string[] | undefined
  /** All keys that begin with it; '' selects all keys. */
  prefix?: string | undefined
}

export interface Consumer {
  consumer: string
  cursor: bigint
  /** Number of sync ids after the cursor. */
  lag: number
  /** When the cursor was last moved; null for one that no consumer has stored. */
  movedAt: Date | null
}

export interface MoveCursorOptions {
  /** Also move the cursor backwards. */
  force?: boolean | undefined
  /**
   * The cursor that the finished page was read from. If the consumer was put back before it since, to start over, the
   * stored cursor stays there.
   */
  from?: bigint | undefined
}

export interface FeedStatus {
  feed: string
  /** 0 until an entry is published. */
  lastSyncId: bigint
  /** Number of entries, without tombstones. */
  entries: number
  /** Number of entries and tombstones that no publisher has numbered yet. */
  unpublished: number
  /** Age of the oldest of them; null when there is none. */
  oldestUnpublishedSeconds: number | null
  consumers: Consumer[]
}

export interface FeedPage {
  feeds: FeedStatus[]
  nextAfter: string | null
}

/**
 * The operations on feeds: `store.feeds` and `tx.feeds`. `Value` is the type that the caller says values have: nothing checks
 * it, except the `schema` of a handle or a consumer.
 */
export interface Feeds {
  /** Writes a value and clears its sync id in one statement. The first entry begins the feed. */
  put<Value = unknown, Given extends Value | JsonText = Value | JsonText>(
    feed: string,
    key: string,
    value: Given & AsJson<Given>,
    options?: IfVersion,
  ): Promise<WrittenEntry<Value>>
  /** Writes 1 to 1,000 entries, all or nothing. If a key is given twice, its last value is stored. */
  putMany<Value = unknown>(feed: string, entries: readonly NewEntry<NoInfer<Value>>[]): Promise<{ entries: PutEntry[] }>
  /** The entry; null when there is none or it is deleted. */
  get<Value = unknown, Asked extends Form = 'value'>(
    feed: string,
    key: string,
    options?: ValueOptions<Asked>,
  ): Promise<Entry<As<Value, Asked>> | null>
  /** Replaces the entry by a tombstone, which consumers read as a deletion. Resolves to null when there was no entry. */
  delete(feed: string, key: string, options?: IfVersion): Promise<WrittenEntry<null> | null>
  /** Publishes entries and tombstones again, unchanged. With a prefix in batches, each in its own transaction. */
  republish(feed: string, selection: RepublishSelection): Promise<{ republished: number }>
  /**
   * The changes after a cursor. Throws `cursor_expired` when a tombstone after it has been removed, or when it is beyond the
   * last sync id.
   */
  changes<Value = unknown, Asked extends Form = 'value'>(
    feed: string,
    options?: ChangesOptions<Asked>,
  ): Promise<Changes<As<Value, Asked>>>
  /** The stored cursor; 0 for an unknown consumer. */
  cursor(feed: string, consumer: string): Promise<Consumer>
  /**
   * Moves the stored cursor forward, and backward only with `force`. Resolves to the stored cursor. Throws `invalid_input`
   * for a cursor beyond the last sync id.
   */
  moveCursor(feed: string, consumer: string, cursor: bigint, options?: MoveCursorOptions): Promise<Consumer>
  /** Removes the stored cursor. Resolves to false when there was none. */
  dropCursor(feed: string, consumer: string): Promise<boolean>
  /** The counts of the feed, and its consumers; null for an unknown feed. */
  status(feed: string): Promise<FeedStatus | null>
  /** Drops the feed, its entries and its consumers. A new feed of this name continues with greater sync ids. */
  drop(feed: string): Promise<boolean>
  /** Feeds in the order of their names. */
  list(options?: ListOptions): Promise<FeedPage>
}
