/** Binds the repositories, and what runs for them, to a database. */
import 'reflect-metadata'
import type { DataSource, EntityManager, EntityTarget, ObjectLiteral, QueryRunner } from 'typeorm'
import { type Attached, engineOf } from '../database/attached/attach'
import { joined, type QueryTransaction } from '../database/attached/query-transaction'
import type { Session } from '../database/engine'
import { ping } from '../database/mysql/cluster'
import { connectionUse, onConnection, poolSizeOf } from '../database/pool/connection-use'
import type { Setting } from '../database/statements'
import { describeTable } from '../database/user-tables/table'
import { OVERVIEW_RULES } from '../fields/answers-process'
import { DEFAULT_TOMBSTONE_SECONDS } from '../fields/feeds'
import { faultsOf, refuse } from '../fields/field'
import type { Loop } from '../kit/loop'
import { SharedPoll } from '../kit/shared-poll'
import { CachedCount } from '../repositories/cached-count'
import { type DoorMovers, doorMovers } from '../repositories/door/mover'
import { FeedMemory } from '../repositories/feeds/memory'
import { FeedRepository } from '../repositories/feeds/repository'
import { KeyRepository } from '../repositories/keys/repository'
import { mayCreate } from '../repositories/name-range'
import { overviewOf, readOtherTroubles } from '../repositories/overview/overview'
import { PollRepository } from '../repositories/polls/repository'
import { QueueMemory } from '../repositories/queues/memory'
import { QueueRepository } from '../repositories/queues/repository'
import { GroupMemory } from '../repositories/recent/memory'
import { RecentRepository } from '../repositories/recent/repository'
import { answersTo, type PollAnswer, type PollQuestion } from '../repositories/reminders'
import { schedulesOn } from '../repositories/schedules/repository'
import { SequenceRepository } from '../repositories/sequences'
import { feedHandle, groupHandle, queueHandle } from '../shared/handles'
import type { Overview, OverviewOptions } from '../shared/overview-types'
import { countsOf, readTotals, type StoreCounts, type StoreTotals, WorkCounts } from './counts'
import { feedHandleOn, type OpenFeeds, openFeeds } from './feeds'
import { type OpenGroups, openGroups } from './groups'
import type { InnerStore } from './inner'
import { KnownKeys } from './keys'
import type { StoreOptions } from './option-types'
import { keepsHistory, type Report, reporter } from './options'
import { Polls } from './polls'
import { type OpenQueues, openQueues } from './queues'
import { startLoops } from './sweeping/sweepers'
import { Transactions } from './transactions'
import type { Store, Transaction } from './types'

export class BoundStore implements InnerStore {
  readonly groups: Store['groups']
  readonly policies: Store['policies']
  readonly queues: Store['queues']
  readonly schedules: Store['schedules']
  readonly feeds: Store['feeds']
  readonly sequences: Store['sequences']
  readonly keys: KnownKeys
  readonly dataSource: DataSource
  readonly location: string
  /** The parts that run for the products; users of the library do not see them. */
  readonly opened: {
    groups: OpenGroups
    queues: OpenQueues
    feeds: OpenFeeds
    polls: Polls<EntityTarget<ObjectLiteral>>
    door: DoorMovers
  }
  readonly #base: Attached
  readonly #options: StoreOptions
  readonly #work = new WorkCounts()
  readonly #groupMemory: GroupMemory
  readonly #queueMemory = new QueueMemory()
  readonly #feedMemory = new FeedMemory()
  readonly #totals = new CachedCount<StoreTotals>()
  readonly #otherTroubles = new CachedCount<Awaited<ReturnType<typeof readOtherTroubles>>>()
  readonly #sharedPoll: SharedPoll<PollQuestion, PollAnswer>
  readonly #report: Report
  readonly #sweepers: readonly Loop[]
  readonly #setting: Setting
  readonly #transactions: Transactions
  readonly #unlisten: () => void
  #closing: Promise<void> | null = null

  constructor(base: Attached, options: StoreOptions) {
    const { database, dataSource } = base
    this.#base = base
    this.#options = options
    this.#report = reporter(options, database.pool)
    database.counts.onDiskFull.add(this.#diskFull)
    this.#setting = { engine: engineOf(dataSource), tables: database.tables, clockOffsetMs: options.clockOffsetMs }
    this.#groupMemory = new GroupMemory(options.defaultCapacity, options.groupMemoryBytes)
    this.#unlisten = onConnection(dataSource, () => this.#groupMemory.forgetWindows())
    for (const memory of [this.#groupMemory, this.#queueMemory, this.#feedMemory]) memory.counts = this.#work
    this.dataSource = dataSource
    this.location = database.location
    this.#sharedPoll = new SharedPoll({ ask: (questions) => database.read((reader) => answersTo(reader, questions)) })
    this.opened = this.#open()
    this.#transactions = new Transactions({
      database,
      setting: this.#setting,
      joins: options.join === 'ambient',
      operationsOn: (session) => this.#within(session),
    })
    const { groups, queues, feeds } = this.opened
    this.groups = this.#transactions.on('groups', groups.groups)
    this.policies = this.#transactions.on('policies', groups.policies)
    this.queues = this.#transactions.on('queues', queues.queues)
    this.schedules = this.#transactions.on('schedules', queues.schedules)
    this.feeds = this.#transactions.on('feeds', feeds.feeds)
    this.sequences = this.#transactions.on('sequences', new SequenceRepository(database))
    this.keys = new KnownKeys(new KeyRepository(database))
    this.#sweepers = startLoops(options, this.opened, this.#sharedPoll, this.#work, this.#report)
  }

  #open(): BoundStore['opened'] {
    const { database, dataSource } = this.#base
    const { batching, feeds = {}, publish, tick } = this.#options
    const { oneConnection } = this.#setting.engine
    const shared = { counts: this.#work, guard: database.requireOutside }
    return {
      groups: openGroups(database, this.#groupMemory, {
        ...shared,
        readsAtOnce: oneConnection ? 1 : 3,
        longReadsAtOnce: Math.max(1, Math.floor((poolSizeOf(dataSource) ?? 2) / 2)),
        batching: oneConnection ? { ...batching, lanes: 1 } : batching,
        onStreamError: (error) => this.#report(error, 'watch'),
      }),
      queues: openQueues(database, this.#queueMemory, {
        ...shared,
        sharedPoll: this.#sharedPoll,
        atOnce: oneConnection ? 1 : 2,
        tick: tick !== false,
        history: keepsHistory(this.#options),
        onError: this.#report,
      }),
      feeds: openFeeds(database, this.#feedMemory, {
        ...shared,
        sharedPoll: this.#sharedPoll,
        describe: (target) => describeTable(dataSource, database, target),
        atOnce: oneConnection ? 1 : 2,
        publish: publish !== false,
        tombstoneSeconds: feeds.tombstoneSeconds ?? DEFAULT_TOMBSTONE_SECONDS,
        onError: (error) => this.#report(error, 'publish'),
      }),
      polls: new Polls(
        (target, shape) => new PollRepository(dataSource, database, target, shape),
        database.requireOutside,
      ),
      door: doorMovers(database, this.#queueMemory, this.#groupMemory),
    }
  }

  /** The operations of all products in one transaction: the repositories without what shares calls. */
  #within(session: Session): Omit<Transaction, 'manager'> {
    const groups = new RecentRepository(session, this.#groupMemory)
    const queues = new QueueRepository(session, this.#queueMemory)
    const feeds = new FeedRepository(session, this.#feedMemory)
    return {
      groups,
      policies: groups.policies,
      queues,
      schedules: schedulesOn(session, this.#queueMemory),
      feeds,
      sequences: new SequenceRepository(session),
      group: (name) => groupHandle(groups, name),
      queue: (name, options) => queueHandle(queues, name, options),
      feed: (name, options) => feedHandle(feeds, name, options),
    }
  }

  readonly queue: Store['queue'] = (name, options) => queueHandle(this.queues, name, options, ' work workMany')
  readonly group: Store['group'] = (name) => groupHandle(this.groups, name, ' watch')
  readonly feed: Store['feed'] = (name, options) => feedHandleOn(this.feeds, name, options)

  readonly transaction: Store['transaction'] = (work, options) => this.#transactions.run(work, options)

  readonly poll: Store['poll'] = (target, handler, options) => this.opened.polls.poll(target, handler as never, options)

  readonly pollMany: Store['pollMany'] = (target, handler, options) =>
    this.opened.polls.pollMany(target, handler as never, options)

  readonly within = ((transaction: EntityManager | QueryRunner | QueryTransaction) => {
    const { session, ...own } = joined(transaction, this.#setting, this.location)
    return { ...this.#within(session), ...own }
  }) as Store['within']

  counts(): StoreCounts {
    return countsOf(this.#work, this.#base.database.counts, {
      connections: connectionUse(this.dataSource, this.#base.database),
      groupListeners: this.opened.groups.streams.listeners,
      pollers: this.opened.polls.running.size,
      ...this.opened.feeds.activity(),
      ...this.opened.queues.activity(),
    })
  }

  totals(): Promise<StoreTotals> {
    const read = () => this.#base.database.read((reader) => readTotals(reader, this.#feedMemory.followed.values()))
    return this.#totals.get(read)
  }

  async overview(options: OverviewOptions = {}): Promise<Overview> {
    refuse(faultsOf(options, OVERVIEW_RULES))
    const { database } = this.#base
    database.requireOutside()
    const others = await this.#otherTroubles.get(() => database.read(readOtherTroubles))
    const look = await database.read((reader) => this.#queueMemory.totals.look(reader))
    return overviewOf(look, others, options.prefix ?? '')
  }

  readonly mayCreate: InnerStore['mayCreate'] = (...asked) =>
    this.#base.database.read((reader) => mayCreate(reader, ...asked))

  readonly ping = (): Promise<void> => this.#base.database.read(ping)
  readonly [Symbol.asyncDispose] = () => this.close()

  readonly #diskFull = (error: unknown): void => this.#report(error, 'write')

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#transactions.isClosed = true
    // Both at once: nothing new is taken, however long a sweep still runs.
    await Promise.all([...this.#sweepers.map((one) => one.stop()), this.#sharedPoll.stop(), this.#closeOperations()])
    await this.opened.queues.leave()
    this.#unlisten()
    await this.#base.database.drain()
    this.#base.database.counts.onDiskFull.delete(this.#diskFull)
    await this.#base.close()
  }

  async #closeOperations(): Promise<void> {
    // Handlers that end in time find all of the store open until they have.
    const { groups, queues, feeds, polls } = this.opened
    if (polls.running.size + queues.workers.size + feeds.consumers.size > 0) {
      await Promise.all([polls.running.stop(), queues.workers.stop(), feeds.consumers.stop()])
    }
    await Promise.all([polls.running.stop(), groups.close(), queues.close(), feeds.close(), this.keys.close()])
  }
}
