/** The shapes of a store and of its transactions. */
import type { DataSource, EntityManager, EntityTarget, ObjectLiteral, QueryRunner } from 'typeorm'
import type { QueryTransaction } from '../database/attached/query-transaction'
import type { Followed, FollowedRow, FollowOptions, FollowTarget } from '../repositories/feeds/followed'
import type { Sequences } from '../repositories/sequences'
import type { Feeds } from '../shared/feed-types'
import type { Groups, GroupWatch, Policies, WatchOptions } from '../shared/group-types'
import type { FeedHandle, GroupHandle, HandleOptions, QueueHandle } from '../shared/handle-types'
import type { BatchHandler, ConsumeHandler, Handler } from '../shared/handler-types'
import type { ApiKey, Keys } from '../shared/key-types'
import type { Overview, OverviewOptions } from '../shared/overview-types'
import type { Message, Queues } from '../shared/queue-types'
import type { Running } from '../shared/running'
import type { Schedules } from '../shared/schedule-types'
import type { As, Form, PayloadAs } from '../shared/types'
import type { ConsumeOptions } from './consumer/consuming'
import type {
  NamedResult,
  PolledRow,
  Poller,
  PollHandler,
  PollManyContext,
  PollManyOptions,
  PollOptions,
} from './poller/types'
import type { Worker, WorkManyOptions, WorkOptions } from './worker/types'

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
  /**
   * The same with a handler that gets up to `batchSize` messages at once: those that are there, or that come within `waitSeconds` of
   * the first. Resolving acknowledges all, or all but those in `{ failed: [[message, error]] }`; throwing nacks all.
   */
  workMany<Body = unknown>(queue: string, handler: BatchHandler<Message<Body>>, options?: WorkManyOptions<Body>): Worker
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
  /** The same with a handler that gets many messages at once, as `queues.workMany`. */
  workMany(handler: BatchHandler<Message<Out>>, options?: WorkManyOptions<Out>): Worker
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
    handler: PollHandler<PolledRow<T, O>, NamedResult<O>>,
    options?: O,
  ): Poller
  /**
   * The same with a handler that gets up to `batchSize` rows at once: those that are there, or that come within `waitSeconds` of the
   * first. Resolving marks all as done, or all but those in `{ failed: [[row, error]] }`; throwing fails all.
   */
  pollMany<T extends ObjectLiteral, const O extends PollManyOptions<T> = PollManyOptions<T>>(
    target: EntityTarget<T>,
    handler: BatchHandler<PolledRow<T, O>, PollManyContext>,
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
