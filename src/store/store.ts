/** Binds the repositories, and what runs for them, to a database. */
import 'reflect-metadata'
import type { DataSource, EntityManager, EntityTarget, ObjectLiteral, QueryRunner } from 'typeorm'
import { connectionUse, poolSizeOf } from '../database/connection-use'
import type { Engine, Session } from '../database/engine'
import { sessionWithin } from '../database/operations'
import { engineOf } from '../database/session'
import { describeTable } from '../database/table'
import type { Database } from '../database/transaction'
import { DEFAULT_TOMBSTONE_SECONDS } from '../fields/feeds'
import { Kept } from '../kit/cache'
import { type FeedOptions, FeedRepository } from '../repositories/feeds/repository'
import { feedTotals } from '../repositories/feeds/totals'
import { KeyRepository } from '../repositories/keys/repository'
import { PollRepository } from '../repositories/polls/repository'
import { countAllMessages } from '../repositories/queues/counts'
import { QueueRepository } from '../repositories/queues/repository'
import { PolicyCache } from '../repositories/recent/policies'
import { RecentRepository } from '../repositories/recent/repository'
import { SequenceRepository } from '../repositories/sequences'
import { countsOf, type StoreCounts, type StoreTotals } from './counts'
import { ConsumedFeeds } from './feeds'
import { BatchedGroups } from './groups'
import { KnownKeys } from './keys'
import { checkedTransaction, warn } from './options'
import { PolledTables } from './poller/polled-tables'
import type { Poller, PollHandler, PollOptions } from './poller/types'
import { BatchedQueues } from './queues'
import type { Sweeper } from './sweeping/sweeper'
import { sweepersOf } from './sweeping/sweepers'
import type { Store, StoreOptions, Transaction, TransactionOptions } from './types'
import { WorkCounts } from './work-counts'

/** What a store works on, and how to let go of it. */
interface Base {
  dataSource: DataSource
  database: Database
  close(): Promise<void>
}

/** The operations of all repositories in one transaction. */
function within(session: Session, policies: PolicyCache, feeds: FeedOptions) {
  return {
    groups: new RecentRepository(session, policies),
    queues: new QueueRepository(session, true),
    feeds: new FeedRepository(session, { ...feeds, isInside: true }),
    sequences: new SequenceRepository(session),
  }
}

export class BoundStore implements Store {
  readonly groups: BatchedGroups
  readonly queues: BatchedQueues
  readonly feeds: ConsumedFeeds
  readonly sequences: SequenceRepository
  readonly keys: KnownKeys
  readonly dataSource: DataSource
  readonly location: string
  readonly #base: Base
  readonly #work = new WorkCounts()
  readonly #totals: Kept<StoreTotals>
  readonly #engine: Engine
  readonly #options: StoreOptions
  readonly #policies: PolicyCache
  readonly #sweepers: readonly Sweeper[]
  readonly #polled: PolledTables<EntityTarget<ObjectLiteral>>
  #closing: Promise<void> | null = null

  constructor(base: Base, options: StoreOptions) {
    this.#base = base
    this.#options = options
    this.#engine = engineOf(base.dataSource)
    this.#policies = new PolicyCache(options.defaultCapacity ?? 10)
    this.dataSource = base.dataSource
    this.location = base.database.location
    // SQLite has one connection, for which everybody waits in one line.
    const isSqlite = this.#engine.family === 'sqlite'
    const isInside = () => base.database.isInside
    const shared = { counts: this.#work, isInside }
    const { onBackgroundError = warn } = options
    this.groups = new BatchedGroups(base.database, this.#policies, {
      ...shared,
      readsAtOnce: isSqlite ? 1 : 3,
      longReadsAtOnce: Math.max(1, Math.floor((poolSizeOf(base.dataSource) ?? 2) / 2)),
      appends: isSqlite ? { ...options.batching, lanes: 1 } : options.batching,
      onStreamError: (error) => onBackgroundError(error, 'look at groups'),
    })
    this.queues = new BatchedQueues(base.database, { ...shared, atOnce: isSqlite ? 1 : 2 })
    this.feeds = new ConsumedFeeds(base.database, {
      ...shared,
      describe: (target) => describeTable(base.dataSource, base.database, target),
      atOnce: isSqlite ? 1 : 2,
      publish: options.publish !== false,
      recentGroups: options.recentGroupsFeed === true,
      tombstoneSeconds: options.feeds?.tombstoneSeconds ?? DEFAULT_TOMBSTONE_SECONDS,
      onError: (error) => onBackgroundError(error, 'publish'),
    })
    this.sequences = new SequenceRepository(base.database)
    this.keys = new KnownKeys(new KeyRepository(base.database))
    this.#polled = new PolledTables((target, shape) => {
      return new PollRepository(base.dataSource, base.database, target, shape)
    }, isInside)
    this.#sweepers = options.sweep === false ? [] : sweepersOf(this, this.#work, onBackgroundError)
    this.#totals = new Kept(() =>
      base.database.read(async (reader) => ({
        queues: await countAllMessages(reader),
        feeds: await feedTotals(reader, this.feeds.followed.values()),
      })),
    )
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { retries = 10 } = checkedTransaction(work, options)
    const { database } = this.#base
    const caches: PolicyCache[] = []
    const written = new Set<string>()
    const onWrite = (feed: string) => written.add(feed)
    const feeds = { followed: this.feeds.followed, onWrite }
    const result = await database.write(
      (tx, session) => {
        const policies = this.#policies.forTransaction()
        caches.push(policies)
        return database.inside(async () => work({ ...within(session, policies, feeds), manager: tx.manager }))
      },
      { retries },
    )
    if (caches.at(-1)?.changed) this.#policies.forget()
    this.groups.streams.wakeAll()
    this.feeds.wrote(written)
    return result
  }

  poll<T extends ObjectLiteral>(target: EntityTarget<T>, handler: PollHandler<T>, options?: PollOptions<T>): Poller {
    return this.#polled.poll(target, handler, options)
  }

  within(transaction: EntityManager | QueryRunner): Transaction {
    const session = sessionWithin(transaction, {
      engine: this.#engine,
      tables: this.#base.database.tables,
      clockOffsetMs: this.#options.clockOffsetMs,
    })
    const manager = 'startTransaction' in transaction ? transaction.manager : transaction
    const { followed } = this.feeds
    return { ...within(session, this.#policies.forTransaction(), { followed }), manager }
  }

  counts(): StoreCounts {
    return countsOf(this.#work, this.#base.database.counts, {
      connections: connectionUse(this.dataSource, this.#base.database.gate),
      changesWaiting: this.feeds.waiting,
      groupListeners: this.groups.streams.listeners,
      pollers: this.#polled.size,
      consumers: this.feeds.consuming,
      ...this.queues.activity,
    })
  }

  totals(): Promise<StoreTotals> {
    return this.#totals.get()
  }

  async ping(): Promise<void> {
    await this.#base.database.read((reader) => reader.rows('SELECT 1'))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    // Both at once: nothing new is taken, however long a sweep still runs.
    await Promise.all([...this.#sweepers.map((one) => one.stop()), this.#closeOperations()])
    await this.#base.database.drain()
    await this.#base.close()
  }

  async #closeOperations(): Promise<void> {
    // Handlers that end in time find all of the store open until they have.
    if (this.#polled.size + this.queues.activity.workers + this.feeds.consuming > 0) {
      await Promise.all([this.#polled.close(), this.queues.stopWorkers(), this.feeds.stopConsuming()])
    }
    await Promise.all([
      this.#polled.close(),
      this.groups.close(),
      this.queues.close(),
      this.feeds.close(),
      this.keys.close(),
    ])
  }
}
