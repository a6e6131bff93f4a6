/** The options of `openStore` and `attachStore`. */

/** The background work of a store. `move-…`: rows that plain SQL has inserted; `watch`: reads groups for their listeners; `write`: any write, on a full disk. */
export type BackgroundWork =
  | 'move-appends'
  | 'move-sends'
  | 'publish'
  | 'record-history'
  | 'report-receivers'
  | 'schedule'
  | 'sweep-groups'
  | 'sweep-queues'
  | 'sweep-feeds'
  | 'watch'
  | 'write'

/** How a store batches appends; each can be left out. */
export interface BatchingOptions {
  /** Transactions at the same time, 1 to 16. Default: 2. On SQLite always 1. */
  lanes?: number | undefined
  /** Unanswered items beyond which an append is refused with `overloaded`. Default: 100,000. */
  maxPendingItems?: number | undefined
  /** Unanswered bytes beyond which an append is refused with `overloaded`. Default: 64 MiB. */
  maxPendingBytes?: number | undefined
}

export interface StoreOptions {
  /**
   * The prefix of the names of the tables: 1 to 32 of a-z, 0-9 and _, a letter first. Default: `recentn_`. With
   * another prefix a second store lives in the same database and shares nothing with the first.
   */
  tablePrefix?: string | undefined
  /** Capacity of groups that no policy and no own setting covers: 1 to 10,000. Default: 10. */
  defaultCapacity?: number | undefined
  /**
   * Bytes of memory for groups that this process has read or written last; 0 for none. Default: 33,554,432 (32 MiB). A read
   * of such a group asks the database only whether it has changed since.
   */
  groupMemoryBytes?: number | undefined
  /** How appends of many callers share commits. */
  batching?: BatchingOptions | undefined
  /** Delete what has expired, and move what plain SQL has inserted, in the background. Default: true. */
  sweep?: boolean | undefined
  /** Publish the entries of feeds in the background. Default: true. */
  publish?: boolean | undefined
  /** Send what schedules have due in the background. Default: true. */
  tick?: boolean | undefined
  /**
   * Keep the history of queues: every 15 seconds one of the processes counts the messages of all queues, and each adds what it
   * has sent and settled. Default: as `sweep`.
   */
  history?: boolean | undefined
  feeds?:
    | {
        /** How long the tombstones of deleted entries are kept for consumers to see, at least 1. Default: 604,800 (7 days). */
        tombstoneSeconds?: number | undefined
      }
    | undefined
  /**
   * `ambient`: inside the callback of `store.transaction` and of the DataSource's `transaction`, calls of the store take part in
   * that transaction, as those of `tx` do. The same holds in a method that `@Transactional()` of typeorm-transactional or nestjs-cls
   * wraps. Calls that `tx` does not have are refused there with `misuse`. Work that `work`, `consume`, `poll` and `watch` start stays
   * outside. Default: all calls inside are refused.
   */
  join?: 'ambient' | undefined
  /**
   * Seconds that a call waits for a database connection, 0.001 to 600. Default: 10. Then it is refused with
   * `overloaded`: all connections of the pool, or SQLite's only one, are in use.
   */
  connectionTimeoutSeconds?: number | undefined
  /**
   * Seconds that a statement may take (MySQL and MariaDB), 1 to 86,400. Default: 30. Then its connection is closed and counts
   * as lost. Migrations have no limit. In your own DataSource it holds for the store's statements, outside of
   * `store.within`, and its default is 10 seconds more than `innodb_lock_wait_timeout`, at least 30.
   */
  statementTimeoutSeconds?: number | undefined
  /** @internal Milliseconds added to the database's clock: for tests that must not sleep. */
  clockOffsetMs?: (() => number) | undefined
  /**
   * Called with errors of background work: once for each kind of it until it succeeds again, and for each schedule that
   * cannot send its tick. While the database is away, once for all of it. Default: a process warning.
   */
  onBackgroundError?: ((error: unknown, work: BackgroundWork) => void) | undefined
}

export interface OpenOptions extends StoreOptions {
  /**
   * `sqlite:./data/recentn.db`, `sqlite::memory:`, `mysql://user:password@host:port/database` or `mariadb://…`. With commas it
   * names several hosts (`mariadb://user:password@a,b:3307/database`): the next one is used when one is away or takes no writes.
   */
  url: string
  /**
   * The password, in place of one in the URL: a text, or a function that is called for each new connection, such as for a token
   * that expires. It has 5 seconds. If the server refuses its answer, it is called once more.
   */
  password?: string | (() => string | Promise<string>) | undefined
  /** False: don't create or upgrade the tables, refuse when they don't fit. */
  migrate?: boolean | undefined
  /** Connections of the pool (MySQL and MariaDB). Default: 10. */
  poolSize?: number | undefined
}
