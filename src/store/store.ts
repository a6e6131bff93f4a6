/** Binds the repositories, and what runs for them, to a database. */
import 'reflect-metadata'
import type { DataSource, EntityManager, EntityTarget, ObjectLiteral, QueryRunner } from 'typeorm'
import { connectionUse, poolSizeOf } from '../database/connection-use'
import type { Engine, Session } from '../database/engine'
import { sessionWithin } from '../database/operations'
import { engineOf } from '../database/session'
import { describeTable } from '../database/table'
import type { Database } from '../database/transaction'
import { DEFAULT_TOMBSTONE_SECONDS } from '../fields/feed-rules'
import { Kept } from '../kit/cache'
import type { Loop } from '../kit/loop'
import type { FeedMemory } from '../repositories/feeds/memory'
import { FeedRepository } from '../repositories/feeds/repository'
import { feedTotals } from '../repositories/feeds/status'
import { KeyRepository } from '../repositories/keys/repository'
import { PollRepository } from '../repositories/polls/repository'
import { countAllMessages } from '../repositories/queues/counts'
import { QueueRepository } from '../repositories/queues/repository'
import { GroupMemory } from '../repositories/recent/memory'
import { RecentRepository } from '../repositories/recent/repository'
import { SequenceRepository } from '../repositories/sequences'
import { countsOf, type StoreCounts, type StoreTotals } from './counts'
import { FeedService } from './feeds'
import { type OpenGroups, openGroups } from './groups'
import { KnownKeys } from './keys'
import { checkedTransaction, warn } from './options'
import { PolledTables } from './poller/polled-tables'
import type { Poller, PollHandler, PollOptions } from './poller/types'
import { BatchedQueues } from './queues'
import { startSweepers } from './sweeping/sweepers'
import type { Store, StoreFeeds, StoreGroups, StoreOptions, Transaction, TransactionOptions } from './types'
import { WorkCounts } from './work-counts'

/** What a store works on, and how to let go of it. */
interface Base {
  dataSource: DataSource
  database: Database
  close(): Promise<void>
}

/** The operations of all repositories in one transaction. */
function within(session: Session, groups: GroupMemory, feeds: FeedMemory) {
  return {
    groups: new RecentRepository(session, groups),
    queues: new QueueRepository(session, true),
    feeds: new FeedRepository(session, feeds),
    sequences: new SequenceRepository(session),
  }
}

export class BoundStore implements Store {
  readonly groups: StoreGroups
  readonly queues: BatchedQueues
  readonly feeds: StoreFeeds
  readonly feedService: FeedService
  readonly sequences: SequenceRepository
  readonly keys: KnownKeys
  readonly dataSource: DataSource
  readonly location: string
  readonly #base: Base
  readonly #work = new WorkCounts()
  readonly #totals: Kept<StoreTotals>
  readonly #engine: Engine
  readonly #options: StoreOptions
  /** What runs for the groups; users of the library do not see it. */
  readonly opened: { groups: OpenGroups }
  readonly #groupMemory: GroupMemory
  readonly #sweepers: readonly Loop[]
  readonly #polled: PolledTables<EntityTarget<ObjectLiteral>>
  #closing: Promise<void> | null = null

  constructor(base: Base, options: StoreOptions) {
    this.#base = base
    this.#options = options
    this.#engine = engineOf(base.dataSource)
    this.#groupMemory = new GroupMemory(options.defaultCapacity)
    this.dataSource = base.dataSource
    this.location = base.database.location
    // SQLite has one connection, for which everybody waits in one line.
    const isSqlite = this.#engine.family === 'sqlite'
    const isInside = () => base.database.isInside
    const shared = { counts: this.#work, isInside }
    const { onBackgroundError = warn } = options
    const groups = this.#openGroups(isSqlite)
    this.groups = groups.groups
    this.opened = { groups }
    this.queues = new BatchedQueues(base.database, { ...shared, atOnce: isSqlite ? 1 : 2 })
    this.feedService = new FeedService(base.database, {
      counts: this.#work,
      guard: base.database.requireOutside,
      describe: (target) => describeTable(base.dataSource, base.database, target),
      atOnce: isSqlite ? 1 : 2,
      publish: options.publish !== false,
      recentGroups: options.recentGroupsFeed === true,
      tombstoneSeconds: options.feeds?.tombstoneSeconds ?? DEFAULT_TOMBSTONE_SECONDS,
      onError: (error) => onBackgroundError(error, 'publish'),
    })
    this.feeds = this.feedService.feeds
    this.sequences = new SequenceRepository(base.database)
    this.keys = new KnownKeys(new KeyRepository(base.database))
    this.#polled = new PolledTables((target, shape) => {
      return new PollRepository(base.dataSource, base.database, target, shape)
    }, isInside)
    this.#sweepers =
      options.sweep === false
        ? []
        : startSweepers({ groups, queues: this.queues, feeds: this.feedService }, this.#work, onBackgroundError)
    this.#totals = new Kept(() =>
      base.database.read(async (reader) => ({
        queues: await countAllMessages(reader),
        feeds: await feedTotals(reader, this.feedService.memory.followed.values()),
      })),
    )
  }

  #openGroups(isSqlite: boolean): OpenGroups {
    const { database, dataSource } = this.#base
    const { batching, onBackgroundError = warn } = this.#options
    return openGroups(database, this.#groupMemory, {
      counts: this.#work,
      guard: () => database.requireOutside(),
      readsAtOnce: isSqlite ? 1 : 3,
      longReadsAtOnce: Math.max(1, Math.floor((poolSizeOf(dataSource) ?? 2) / 2)),
      batching: isSqlite ? { ...batching, lanes: 1 } : batching,
      onStreamError: (error) => onBackgroundError(error, 'look at groups'),
    })
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { retries = 10 } = checkedTransaction(work, options)
    const { database } = this.#base
    const result = await database.write(
      (tx, session) => {
        const { memory } = this.feedService
        return database.inside(async () => work({ ...within(session, this.#groupMemory, memory), manager: tx.manager }))
      },
      { retries },
    )
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
    return { ...within(session, this.#groupMemory, this.feedService.memory), manager }
  }

  counts(): StoreCounts {
    return countsOf(this.#work, this.#base.database.counts, {
      connections: connectionUse(this.dataSource, this.#base.database.gate),
      groupListeners: this.opened.groups.streams.listeners,
      pollers: this.#polled.size,
      ...this.feedService.activity,
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
    if (this.#polled.size + this.queues.activity.workers + this.feedService.activity.consumers > 0) {
      await Promise.all([this.#polled.close(), this.queues.stopWorkers(), this.feedService.stopConsuming()])
    }
    await Promise.all([
      this.#polled.close(),
      this.opened.groups.close(),
      this.queues.close(),
      this.feedService.close(),
      this.keys.close(),
    ])
  }
}
