/**
 * The public shapes of feeds. Sync ids and cursors are bigints; times are Dates in UTC; durations are in seconds.
 */
import type { EntityTarget, ObjectLiteral } from 'typeorm'
import type { Page } from '../types'

/** One key of a feed and its latest value. */
export interface Entry {
  key: string
  /** Null for a tombstone. */
  value: unknown
  /** 1 for the first value, raised by every put and delete; a republish leaves it. Null for a row of a followed table. */
  version: number | null
  /** The number that a publisher gave it; null until one has. */
  syncId: bigint | null
  deleted: boolean
  /** Null for a row of a followed table. */
  updatedAt: Date | null
}

/** An entry of the feed's own, as a write leaves it. */
export interface WrittenEntry extends Entry {
  version: number
  updatedAt: Date
}

export interface NewEntry {
  key: string
  /** Any JSON value, 256 KiB as text; or `JsonText`. */
  value: unknown
}

export interface PutEntry {
  key: string
  version: number
}

/** An entry as a consumer sees it. */
export interface Change {
  syncId: bigint
  key: string
  /** Null when it was deleted. */
  value: unknown
  /** Null in the feed of a followed table that has no version. */
  version: number | null
  deleted: boolean
}

export interface Changes {
  /** In the order of their sync ids. */
  changes: Change[]
  /**
   * Where to go on from: the last sync id, or what was asked with when there is none. For a consumer that started over
   * on a feed whose old tombstones are removed it is greater than any sync id until it has read past them.
   */
  cursor: bigint
  /** There is more after the cursor already. */
  hasMore: boolean
}

export interface ValueOptions {
  /** `'text'` gives values as `JsonText`, unparsed. */
  values?: 'value' | 'text' | undefined
}

export interface ChangesOptions extends ValueOptions {
  /** A cursor; 0, and left out: from the beginning. */
  after?: bigint | undefined
  /** Start at the cursor that is stored for this consumer, in place of `after`. Nothing is moved. */
  consumer?: string | undefined
  /** At most so many changes, 1 to 1,000; 100 when left out. */
  limit?: number | undefined
  /** How long to wait for a change when there is none; 0 to 20, 0 when left out. Inside a transaction only 0. */
  waitSeconds?: number | undefined
  /** Ends the waiting early: resolves to no changes. */
  signal?: AbortSignal | undefined
  /** Stop after about so many bytes of values, always giving at least one change. */
  maxBytes?: number | undefined
}

/** Which entries to publish again: exactly one of the two. */
export interface RepublishSelection {
  /** 1 to 1,000 keys; those that are not there count for nothing. */
  keys?: readonly string[] | undefined
  /** All keys that begin with it; '' is all. */
  prefix?: string | undefined
}

export interface Consumer {
  consumer: string
  cursor: bigint
  /** Sync ids from the cursor to the last one. */
  lag: number
}

export interface PutConsumerOptions {
  /** Moves it backwards, too. */
  force?: boolean | undefined
  /**
   * The cursor from which was read what is done now: where somebody has put the consumer back behind it meanwhile, to start
   * over, it stays there.
   */
  from?: bigint | undefined
}

export interface FeedStatus {
  feed: string
  /** 0 before the first is published. */
  lastSyncId: bigint
  /** Without tombstones. */
  entries: number
  /** Entries, and tombstones, that no publisher has numbered yet. */
  unpublished: number
  /** Since when the oldest of them waits; null when there is none. */
  oldestUnpublishedSeconds: number | null
  consumers: Consumer[]
}

export interface FeedPage {
  feeds: FeedStatus[]
  nextAfter: string | null
}

/** The operations on feeds: `store.feeds`, `tx.feeds`, and the exported `FeedRepository`. */
export interface Feeds {
  /** Writes a value and clears its sync id, in one statement; the feed begins with its first entry. */
  put(feed: string, key: string, value: unknown): Promise<WrittenEntry>
  /** Writes 1 to 1,000 entries, all or nothing; of a key given twice the last value stays. */
  putMany(feed: string, entries: readonly NewEntry[]): Promise<{ entries: PutEntry[] }>
  /** The entry; null when there is none, or a tombstone. */
  get(feed: string, key: string, options?: ValueOptions): Promise<Entry | null>
  /** Leaves a tombstone, which consumers see; null when there was no entry. */
  delete(feed: string, key: string): Promise<WrittenEntry | null>
  /** Has entries published again, unchanged, tombstones too. A prefix goes in batches, each a transaction of its own. */
  republish(feed: string, selection: RepublishSelection): Promise<{ republished: number }>
  /** What was published after a cursor. Throws `cursor_expired` when a tombstone after it has been removed. */
  changes(feed: string, options?: ChangesOptions): Promise<Changes>
  /** The stored cursor; 0 for a consumer that is not known. */
  getConsumer(feed: string, consumer: string): Promise<Consumer>
  /**
   * Moves the cursor forward; backwards it stays as it is, unless forced. Resolves to where it is then. Throws
   * `invalid_input` for a cursor beyond the last sync id.
   */
  putConsumer(feed: string, consumer: string, cursor: bigint, options?: PutConsumerOptions): Promise<Consumer>
  /** Forgets the cursor; false when there was none. */
  deleteConsumer(feed: string, consumer: string): Promise<boolean>
  /** Null for a feed that has not begun. */
  getFeed(feed: string): Promise<FeedStatus | null>
  /** Drops the feed, its entries and consumers; one begun anew goes on with greater sync ids. */
  deleteFeed(feed: string): Promise<boolean>
  /** Feeds by name. */
  list(options?: Page & { prefix?: string | undefined }): Promise<FeedPage>
}

/** What of a row of a followed table is published, and under which key. */
export interface FollowOptions<Row extends FollowedRow = FollowedRow> {
  /** The feed; the name of the table when left out. */
  feed?: string | undefined
  /**
   * The nullable BIGINT property (of an entity) or column (of a table named as text) that gets the sync id. The user's own code sets it to null with every change
   * of a row. An index must begin with it.
   */
  syncColumn: string
  /** The property or column that is the key of the entry: unique, a text or a whole number. */
  key: string
  /** The value: one property or column, several as an object, or what the function makes of the row. All when left out. */
  value?: string | readonly string[] | ((row: Row) => unknown) | undefined
}

/** A table that is followed. */
export interface Followed {
  readonly feed: string
  /** No longer published and served by this process. */
  stop(): void
}

/** A row of a followed table. */
export type FollowedRow = ObjectLiteral

/** An entity of the store's DataSource, or the name of a table. */
export type FollowTarget<Row extends FollowedRow> = EntityTarget<Row>
