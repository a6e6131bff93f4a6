/** The shapes of `openStore`, `attachStore` and what they give. */
import type { DataSource, EntityManager, EntityTarget, ObjectLiteral, QueryRunner } from 'typeorm'
import type { QueryTransaction } from '../database/attached/query-transaction'
import type { Followed, FollowedRow, FollowOptions, FollowTarget } from '../repositories/feeds/follow-types'
import type { Sequences } from '../repositories/sequences'
import type { Feeds } from '../shared/feed-types'
import type { Groups, GroupWatch, Policies, WatchOptions } from '../shared/group-types'
import type { FeedHandle, GroupHandle, HandleOptions, QueueHandle } from '../shared/handle-types'
import type { ConsumeHandler, Handler } from '../shared/handling-shapes'
import type { ApiKey, Keys } from '../shared/key-types'
import type { Overview, OverviewOptions } from '../shared/overview-types'
import type { Queues } from '../shared/queue-types'
import type { Running } from '../shared/running'
import type { Schedules } from '../shared/schedule-types'
import type { As, Form, PayloadAs } from '../shared/types'
import type { ConsumeOptions } from './consumer/consuming'
import type { PolledRow, Poller, PollHandler, PollOptions } from './poller/types'
import type { Worker, WorkOptions } from './worker/types'

/** The background work of a store. `move-…`: rows that plain SQL has inserted; `watch`: reads groups for their listeners; `write`: any write, on a full disk. */
export type BackgroundWork =
  | 'move-appends'
  | 'move-sends'
  | 'publish'
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
  feeds?:
    | {
        /** How long the tombstones of deleted entries are kept for consumers to see, at least 1. Default: 604,800 (7 days). */
        tombstoneSeconds?: number | undefined
      }
    | undefined
  /**
   * `ambient`: inside the callback of the DataSource's `transaction` (or a method that `@Transactional()` of typeorm-transactional
   * or nestjs-cls wraps) and of `store.transaction`, calls of the store take part in that transaction, as those of `tx` do.
   * Calls that `tx` does not have are refused there with `misuse`. Work that `work`, `consume`, `poll` and `watch` start stays
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

/** The store inside a transaction: every operation commits or rolls back with the others. */
export interface Transaction {
  readonly groups: Groups
  readonly policies: Policies
  readonly queues: Queues
  readonly schedules: Schedules
  readonly feeds: Feeds
  readonly sequences: Sequences
  /** One queue, as `store.queue`. */
  queue<In = unknown, Out = In>(queue: string, options?: HandleOptions<Out, In>): QueueHandle<In, Out>
  /** One group, as `store.group`. */
  group<Payload = unknown>(group: string): GroupHandle<Payload>
  /** One feed, as `store.feed`. */
  feed<In = unknown, Out = In>(feed: string, options?: HandleOptions<Out, In>): FeedHandle<In, Out>
  /** TypeORM's manager of this transaction, for the caller's own rows. */
  readonly manager: EntityManager
}

export interface TransactionOptions {
  /** How often the whole function may run again after a deadlock or a lost connection, 0 to 1,000. Default: 10. */
  retries?: number | undefined
  /** Rolls the transaction back when it is aborted: the call throws the signal's reason. Once the commit has begun it has no effect. */
  signal?: AbortSignal | undefined
}

/** The groups of a store, and what happens to them. */
export interface StoreGroups extends Groups {
  /**
   * The events of the group from now on, or since the item `after`, by any process, until the watch is left or the store
   * closes. Events arrive within a second of the commit. Begins at once; the group need not exist. While
   * the database is away no event arrives, and none is missed. Throws `invalid_input`, `closed`, and `misuse` inside a
   * transaction of the store's database.
   */
  watch<Payload = unknown, Asked extends Form = 'value'>(
    group: string,
    options?: WatchOptions<Asked>,
  ): GroupWatch<PayloadAs<Payload, Asked>>
}

/** The queues of a store, and workers on them. */
export interface StoreQueues extends Queues {
  /**
   * Receives messages and runs the handler on each until it is stopped: at least once, and not at the same time while
   * this process is alive and the database reachable. Throws `invalid_input` for options that are not valid, and `closed`.
   */
  work<Body = unknown>(queue: string, handler: Handler<Body>, options?: WorkOptions<Body>): Worker
}

/** The schedules of a store. */
export interface StoreSchedules extends Schedules {
  /**
   * Sends what schedules have due now: for stores that don't do so in the background (`tick: false`), and for tests. Resolves
   * to the messages that were sent, and the schedules that could not send theirs (`onBackgroundError` has the reasons).
   */
  tick(): Promise<{ sent: number; failed: number }>
}

/** The feeds of a store: what is written is published in the background, and readers may wait. */
export interface StoreFeeds extends Feeds {
  /**
   * Gives numbers to what has none yet, of one feed or of all; resolves to how many. For stores that do not publish in
   * the background, and for tests.
   */
  publish(feed?: string): Promise<{ published: number }>
  /**
   * Has a table as a feed: the same publishers number its rows in one of its columns, and `changes` serves
   * them. An entity of the store's DataSource, or the name of a table. Each process that publishes or reads the feed
   * calls it. Throws `invalid_input`, among others for a table whose sync column has no index, with the CREATE INDEX
   * that it needs.
   */
  follow<Row extends FollowedRow>(target: FollowTarget<Row>, options: FollowOptions<Row>): Promise<Followed>
  /**
   * The CREATE TRIGGER, for the database of the store, that clears the sync column of a followed table whenever a row
   * changes. Code that writes rows then needs to know nothing of it. Run it once, in a migration. Throws `invalid_input`.
   */
  followTrigger<Row extends FollowedRow>(
    target: FollowTarget<Row>,
    options: Pick<FollowOptions<Row>, 'syncColumn'>,
  ): Promise<string>
  /**
   * Gives the handler the changes after the consumer's stored cursor, page by page until it is stopped, and stores the
   * cursor when the handler has resolved. Each change is given at least once, in order, with the latest value of each key.
   * Any number of processes may do it for one consumer; the same changes may then be given to several at once. Throws
   * `invalid_input` and `closed`; later errors go to `onError`, and the work is tried again.
   */
  consume<Value = unknown, Asked extends Form = 'value'>(
    feed: string,
    consumer: string,
    handler: ConsumeHandler<As<Value, Asked>>,
    options?: ConsumeOptions<Value, Asked>,
  ): Running
}

/** The handle of `store.queue`. */
export interface StoreQueueHandle<In = unknown, Out = In> extends QueueHandle<In, Out> {
  /** Receives messages and runs the handler on each until it is stopped, as `queues.work`. */
  work(handler: Handler<Out>, options?: WorkOptions<Out>): Worker
}

/** The handle of `store.group`. */
export interface StoreGroupHandle<Payload = unknown> extends GroupHandle<Payload> {
  /** The events of the group from now on, or since the item `after`, as `groups.watch`. */
  watch<Asked extends Form = 'value'>(options?: WatchOptions<Asked>): GroupWatch<PayloadAs<Payload, Asked>>
}

/** The handle of `store.feed`. */
export interface StoreFeedHandle<In = unknown, Out = In> extends FeedHandle<In, Out> {
  /** Gives numbers to what has none yet; resolves to how many. */
  publish(): Promise<{ published: number }>
  /** Has a table as this feed, as `feeds.follow`. */
  follow<Row extends FollowedRow>(
    target: FollowTarget<Row>,
    options: Omit<FollowOptions<Row>, 'feed'>,
  ): Promise<Followed>
  /** Gives the handler what comes after the consumer's stored cursor until it is stopped, as `feeds.consume`. */
  consume<Asked extends Form = 'value'>(
    consumer: string,
    handler: ConsumeHandler<As<Out, Asked>>,
    options?: ConsumeOptions<Out, Asked>,
  ): Running
}

/** The API keys of a store, for `access: 'keys'` of `createRouter` and for an app's own checks. */
export interface StoreKeys extends Keys {
  /**
   * The key whose text (`rk_…`) this is; null when there is no such key, or it was revoked: a revocation applies within 5
   * seconds. Takes the same time whether or not the id exists. The time of use is written in the background, at most
   * once a minute. Throws `overloaded` when too many unknown keys come at once.
   */
  verify(key: string): Promise<ApiKey | null>
}

export interface Store {
  readonly groups: StoreGroups
  readonly policies: Policies
  readonly queues: StoreQueues
  readonly schedules: StoreSchedules
  readonly feeds: StoreFeeds
  readonly sequences: Sequences
  readonly keys: StoreKeys
  /**
   * One queue, whose bodies have this type: `store.queue<Mail>('mail').send(mail)`. With a `schema` they are checked, and its
   * types are theirs. Sends nothing, not even to ask whether there is such a queue.
   */
  queue<In = unknown, Out = In>(queue: string, options?: HandleOptions<Out, In>): StoreQueueHandle<In, Out>
  /** One group, whose payloads have this type; nothing checks it. */
  group<Payload = unknown>(group: string): StoreGroupHandle<Payload>
  /** One feed, whose values have this type, as `queue`. */
  feed<In = unknown, Out = In>(feed: string, options?: HandleOptions<Out, In>): StoreFeedHandle<In, Out>
  /**
   * Everything wrong now, the worst first: dead messages, messages that no process receives or that are held, schedules that
   * cannot send, entries without a publisher, consumers that are behind. Some seconds old at most. Throws `invalid_input`, and
   * `misuse` inside a transaction of the store's database.
   */
  overview(options?: OverviewOptions): Promise<Overview>
  /** The DataSource that the store works on: safe to use directly, under any concurrency. */
  readonly dataSource: DataSource
  /** Where the data is, without the password: for a log line. */
  readonly location: string
  /**
   * One transaction; `work` may run again after a deadlock, as a whole. Inside it use the `tx` that it is given: calls of
   * the store itself are refused with `misuse`, or take part in it (`join: 'ambient'`). With that option a transaction inside
   * of another is a savepoint of it, and never retried. Throws `invalid_input`, and what `work` throws.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** The same inside an open transaction of TypeORM's, or of what `recentn/adapters` takes. Never retried: throws `conflict`. */
  within(transaction: EntityManager | QueryRunner): Transaction
  within(transaction: QueryTransaction): Omit<Transaction, 'manager'>
  /**
   * Polls a table of the caller's as a queue: claims rows, runs the handler on each, and records each result. The target is
   * an entity of the store's DataSource or the name of a table; any number of pollers may work on it. Each row is handled at
   * least once; not by two at the same time while this process is alive and the database reachable. It begins at once,
   * unless `auto` is false. Throws `closed`, and `invalid_input` for invalid options; the table's faults go to `onError`.
   */
  poll<T extends ObjectLiteral, const O extends PollOptions<T> = PollOptions<T>>(
    target: EntityTarget<T>,
    handler: PollHandler<PolledRow<T, O>>,
    options?: O,
  ): Poller
  /** Resolves when the database answers; throws `database_unavailable` if it does not, or is a member outside of its group. */
  ping(): Promise<void>
  /**
   * Finishes what was accepted, then closes the database. Repeatable. It waits for open transactions of the store: inside
   * one, do not await it.
   */
  close(): Promise<void>
  /** `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}
