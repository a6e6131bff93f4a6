/** The shapes of `openStore`, `attachStore` and what they give. */
import type { DataSource, EntityManager, QueryRunner } from 'typeorm'
import type { Queues } from './repositories/queues/types'
import type { Groups } from './repositories/recent/types'
import type { BatchingOptions } from './runtime/appends'
import type { Handler, Worker, WorkOptions } from './runtime/worker-types'

export interface StoreOptions {
  /** Capacity of groups that no policy and no own setting covers: 1 to 10,000, else 10. */
  defaultCapacity?: number
  /** How appends of many callers share commits. */
  batching?: BatchingOptions
  /** Run the sweeper that deletes expired items in the background; true when left out. */
  sweep?: boolean
  /** Milliseconds added to the database's clock: for tests that must not sleep. */
  clockOffsetMs?: () => number
}

export interface OpenOptions extends StoreOptions {
  /** `sqlite:./data/recentn.db`, `sqlite::memory:`, `mysql://user:password@host:port/database` or `mariadb://…`. */
  url: string
  /** False: don't create or upgrade the tables, refuse when they don't fit. */
  migrate?: boolean
  /** Connections of the pool (MySQL and MariaDB), else 10. */
  poolSize?: number
}

/** What happens inside a transaction: every operation commits or rolls back with the others. */
export interface Transaction {
  readonly groups: Groups
  readonly queues: Queues
  /** TypeORM's manager of this transaction, for the caller's own rows. */
  readonly manager: EntityManager
}

export interface TransactionOptions {
  /** How often the whole function may run again after a deadlock or a lost connection; 10 when left out. */
  retries?: number
}

/** The queues of a store, and workers on them. */
export interface StoreQueues extends Queues {
  /**
   * Receives messages and runs the handler on each until it is stopped: at least once, and not at the same time while
   * this process is alive and the database reachable. Throws `invalid_input` for options that are not valid.
   */
  work(queue: string, handler: Handler, options?: WorkOptions): Worker
}

export interface Store {
  readonly groups: Groups
  readonly queues: StoreQueues
  /** The DataSource that the store works on: safe to use directly, under any concurrency. */
  readonly dataSource: DataSource
  /** Where the data is, without the password: for a log line. */
  readonly location: string
  /** One transaction; `work` may run again after a deadlock, as a whole. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** The same operations inside a transaction that the caller's own code opened. Never retried: throws `conflict`. */
  within(transaction: EntityManager | QueryRunner): Transaction
  /** Resolves when the database answers; throws `database_unavailable` else. */
  ping(): Promise<void>
  /** Finishes what was accepted, then lets go of the database. Repeatable. */
  close(): Promise<void>
}
