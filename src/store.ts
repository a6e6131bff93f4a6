/**
 * Binds the repositories to a database: one opened by URL (`openStore`) or the user's own (`attachStore`).
 */
import 'reflect-metadata'
import type { DataSource, DataSourceOptions, EntityManager, EntityTarget, ObjectLiteral, QueryRunner } from 'typeorm'
import { connect, dataSourceOptions, locationOf } from './database/connect'
import type { Engine, Session } from './database/engine'
import { Gate, isInsideTransaction } from './database/gate'
import { migrate, requireSchema, schemaVersion } from './database/migrate'
import { attach, engineOf, recognise } from './database/session'
import { describeTable } from './database/table'
import { Database, sessionWithin, translated } from './database/transaction'
import { invalidInput, RecentnError } from './errors'
import { DEFAULT_TOMBSTONE_SECONDS } from './feed-rules'
import { type FeedOptions, FeedRepository } from './repositories/feeds/repository'
import { KeyRepository } from './repositories/keys/repository'
import { PollRepository } from './repositories/polls/repository'
import { QueueRepository } from './repositories/queues/repository'
import { PolicyCache } from './repositories/recent/policies'
import { RecentRepository } from './repositories/recent/repository'
import { SequenceRepository } from './repositories/sequences'
import { integerFault, MAX_CAPACITY, MAX_TTL_SECONDS } from './rules'
import { MAX_LANES } from './runtime/appends'
import { BatchedGroups } from './runtime/batched-groups'
import { BatchedQueues } from './runtime/batched-queues'
import { KnownKeys } from './runtime/known-keys'
import { PolledTables } from './runtime/polled-tables'
import type { Poller, PollHandler, PollOptions } from './runtime/poller-types'
import { PublishedFeeds } from './runtime/published-feeds'
import { Sweeper } from './runtime/sweeper'
import type { OpenOptions, Store, StoreOptions, Transaction, TransactionOptions } from './store-types'

/** What a store works on, and how to let go of it. */
interface Base {
  dataSource: DataSource
  database: Database
  close(): Promise<void>
}

/** Delays and visibility timeouts that are over are seen to so often. */
const QUEUES_SWEEP_MS = 500
/** Tombstones that have been kept long enough. */
const FEEDS_SWEEP_MS = 5000

/** The operations of all repositories in one transaction. */
function within(session: Session, policies: PolicyCache, feeds: FeedOptions) {
  return {
    groups: new RecentRepository(session, policies),
    queues: new QueueRepository(session, true),
    feeds: new FeedRepository(session, { ...feeds, isInside: true }),
    sequences: new SequenceRepository(session),
  }
}

class BoundStore implements Store {
  readonly groups: BatchedGroups
  readonly queues: BatchedQueues
  readonly feeds: PublishedFeeds
  readonly sequences: SequenceRepository
  readonly keys: KnownKeys
  readonly dataSource: DataSource
  readonly location: string
  readonly #base: Base
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
    this.location = locationOf(base.dataSource.options)
    // SQLite has one connection, for which everybody waits in one line.
    const isSqlite = this.#engine.family === 'sqlite'
    this.groups = new BatchedGroups(base.database, this.#policies, {
      readsAtOnce: isSqlite ? 1 : 3,
      isInside: isInsideTransaction,
      appends: isSqlite ? { ...options.batching, lanes: 1 } : options.batching,
      onStreamError: (error) => process.emitWarning(`recentn could not look at groups: ${String(error)}`),
    })
    this.queues = new BatchedQueues(base.database, { atOnce: isSqlite ? 1 : 2, isInside: isInsideTransaction })
    this.feeds = new PublishedFeeds(base.database, {
      describe: (target) => describeTable(base.dataSource, base.database, target),
      atOnce: isSqlite ? 1 : 2,
      publish: options.publish !== false,
      recentGroups: options.recentGroupsFeed === true,
      tombstoneSeconds: options.feeds?.tombstoneSeconds ?? DEFAULT_TOMBSTONE_SECONDS,
      isInside: isInsideTransaction,
      onError: (error) => process.emitWarning(`recentn could not publish: ${String(error)}`),
    })
    this.sequences = new SequenceRepository(base.database)
    this.keys = new KnownKeys(new KeyRepository(base.database))
    this.#polled = new PolledTables((target, shape) => {
      return new PollRepository(base.dataSource, base.database, target, shape)
    }, isInsideTransaction)
    const onError = (error: unknown) => process.emitWarning(`recentn could not sweep: ${String(error)}`)
    const sweepers = [
      { sweep: () => this.groups.sweep(), onError },
      { sweep: () => this.queues.sweep(), onError, intervalMs: QUEUES_SWEEP_MS },
      { sweep: () => this.feeds.sweep(), onError, intervalMs: FEEDS_SWEEP_MS },
    ]
    this.#sweepers = options.sweep === false ? [] : sweepers.map((one) => new Sweeper(one))
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>, { retries = 10 }: TransactionOptions = {}): Promise<T> {
    const caches: PolicyCache[] = []
    const written = new Set<string>()
    const onWrite = (feed: string) => written.add(feed)
    const feeds = { followed: this.feeds.followed, onWrite }
    const result = await this.#base.database.write(
      (tx, session) => {
        const policies = this.#policies.forTransaction()
        caches.push(policies)
        return work({ ...within(session, policies, feeds), manager: tx.manager })
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
    const session = sessionWithin(transaction, this.#engine, this.#options.clockOffsetMs)
    const manager = 'startTransaction' in transaction ? transaction.manager : transaction
    const { followed } = this.feeds
    return { ...within(session, this.#policies.forTransaction(), { followed }), manager }
  }

  async ping(): Promise<void> {
    await this.#base.database.read((reader) => reader.rows('SELECT 1'))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    // Both at once: from the call on nothing new is taken, however long a sweep still runs.
    await Promise.all([
      ...this.#sweepers.map((one) => one.stop()),
      this.#polled.close(),
      this.groups.close(),
      this.queues.close(),
      this.feeds.close(),
      this.keys.close(),
    ])
    await this.#base.database.drain()
    await this.#base.close()
  }
}

/** The store, with the feeds that it was asked for. */
async function begun(store: BoundStore): Promise<Store> {
  try {
    await store.feeds.beginBuiltIn()
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

function checkOptions({ defaultCapacity, batching = {}, feeds = {} }: StoreOptions): void {
  const given: [string, unknown, number][] = [
    ['defaultCapacity', defaultCapacity, MAX_CAPACITY],
    ['batching.lanes', batching.lanes, MAX_LANES],
    ['batching.maxPendingItems', batching.maxPendingItems, Number.MAX_SAFE_INTEGER],
    ['batching.maxPendingBytes', batching.maxPendingBytes, Number.MAX_SAFE_INTEGER],
    ['feeds.tombstoneSeconds', feeds.tombstoneSeconds, MAX_TTL_SECONDS],
  ]
  const faults = given.flatMap(([parameter, value, max]) => {
    const detail = value === undefined ? null : integerFault(value, 1, max)
    return detail === null ? [] : [{ parameter, detail }]
  })
  if (faults.length > 0) throw invalidInput(faults)
}

/** What is no fault of the network is one of the address, the password, the privileges or the file: worth no retry. */
function openingFault(engine: Engine, options: DataSourceOptions, error: unknown): unknown {
  const told = translated(error, engine)
  const isFile = options.type === 'better-sqlite3'
  if (told instanceof RecentnError && !(isFile && told.code === 'database_unavailable')) return told
  const reason = (error as Error).message
  return new RecentnError('database_refused', `${locationOf(options)} can't be used: ${reason}`, { cause: error })
}

/**
 * Opens a store on a database of its own connections, creating or upgrading the tables (unless `migrate` is false);
 * of several processes that do so at once one migrates and the others wait.
 *
 * `openStore({ url: 'sqlite::memory:' })` is a fresh store for one test.
 * Throws `invalid_input` for a bad URL, `database_unavailable` when nobody answers, `database_refused`
 * when it answers but can't be used (a wrong password, no such database, no database file), `schema_too_new` for a database
 * that newer code has migrated, and with `migrate: false` also `schema_missing` and `schema_outdated`.
 */
export async function openStore(options: OpenOptions): Promise<Store> {
  checkOptions(options)
  const gate = new Gate()
  const connection = dataSourceOptions(options)
  const engine = engineOf({ options: connection } as DataSource)
  const { clockOffsetMs } = options
  const dataSource = await connect(connection, gate).catch((error: unknown) => {
    throw openingFault(engine, connection, error)
  })
  try {
    const database = new Database({
      engine: await recognise(dataSource),
      gate,
      clockOffsetMs,
      createRunner: () => dataSource.createQueryRunner(),
    })
    if (options.migrate === false) requireSchema(await schemaVersion(database))
    else await migrate(dataSource, database, engine)
    return await begun(new BoundStore({ dataSource, database, close: () => dataSource.destroy() }, options))
  } catch (error) {
    await dataSource.destroy()
    throw openingFault(engine, connection, error)
  }
}

/**
 * Attaches a store to the user's own, initialized DataSource of type mysql, mariadb or better-sqlite3. The tables must
 * be there: list the exported `migrations` in the DataSource and run them, or run `recentn migrate`.
 *
 * SQLite in a file is used through a connection of the store's own, so that the user's open transaction and the
 * store's never mix; SQLite in memory through the user's one connection, where transactions must go through
 * `store.transaction`. `close()` leaves the user's DataSource open.
 * Throws `schema_missing`, `schema_outdated` or `schema_too_new`.
 */
export async function attachStore(dataSource: DataSource, options: StoreOptions = {}): Promise<Store> {
  checkOptions(options)
  const attached = await attach(dataSource, options.clockOffsetMs)
  try {
    requireSchema(await schemaVersion(attached.database))
  } catch (error) {
    await attached.close()
    throw error
  }
  return begun(new BoundStore(attached, options))
}
