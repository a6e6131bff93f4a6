// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** The bodies of answers. */

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
