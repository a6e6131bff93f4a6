/**
 * `recentn/testing`: stores for the tests of an app. The real thing in memory, with a clock that the test moves, and with calls
 * that resolve when background work is done, so that no test has to sleep.
 */
import type { DataSourceOptions, EntityTarget, ObjectLiteral } from 'typeorm'
import { invalidInput, RecentnError } from '../shared/errors'
import { delay } from '../shared/platform'
import { openOn } from '../store/open'
import type { OpenOptions } from '../store/option-types'
import { checkOpenOptions } from '../store/options'
import type { BoundStore } from '../store/store'
import type { Store } from '../store/types'
import { MovedClock, type TestClock } from './clock'
import { type TestDatabase, testDatabase } from './databases'
import { closed, opened } from './left-open'

export type { Duration, TestClock } from './clock'

export interface TestStoreOptions extends Omit<OpenOptions, 'url' | 'migrate' | 'clockOffsetMs'> {
  /**
   * Where the store is. Default: in memory. With `mysql://user:password@host:port/` (or `mariadb://`) each store has a
   * database for itself on this server, which is dropped when the store is closed.
   */
  url?: string | undefined
  /** Your own entities: their tables are made from them (`synchronize`), unless you give `migrations` too. */
  entities?: DataSourceOptions['entities'] | undefined
  /** Your own migrations, which make your tables. */
  migrations?: DataSourceOptions['migrations'] | undefined
  subscribers?: DataSourceOptions['subscribers'] | undefined
  namingStrategy?: DataSourceOptions['namingStrategy'] | undefined
}

/** A store, and what a test does with time and with work in the background. */
export interface TestStore extends Store {
  readonly clock: TestClock
  /**
   * Resolves when no message of the queue is ready or in flight, and the workers of this store have settled what they had.
   * Delayed messages are not waited for: advance the clock first. Throws `misuse` when messages are ready and no worker
   * of this store receives them, because it would wait for ever, and `queue_not_found`.
   */
  drain(queue: string): Promise<void>
  /**
   * Resolves when no row of the table is ready or claimed by the pollers of this store; rows that are to be tried again later
   * are not waited for. `target` as it was given to `poll`. Throws `misuse` when no poller of this store polls it by itself.
   */
  polled(target: EntityTarget<ObjectLiteral>): Promise<void>
  /** Resolves when all that was written to feeds is published. */
  published(): Promise<void>
  /**
   * Resolves when all that was written to the feed is published, and the consumers of this store have handled it. Throws
   * `misuse` when this store has no consumer of the feed.
   */
  consumed(feed: string): Promise<void>
}

const PAUSE_MS = 5

/**
 * Opens a store for one test: a new database, the real behaviour, and a clock that only the test moves on. A store that is not
 * closed is closed when the tests of the file are over, in jest, mocha, `node --test`, and vitest with `globals`. Throws
 * what `openStore` throws.
 */
export async function testStore(options: TestStoreOptions = {}): Promise<TestStore> {
  const { url, entities, migrations, subscribers, namingStrategy, ...given } = options
  if ('clockOffsetMs' in given) throw invalidInput([{ pointer: '/clockOffsetMs', detail: 'is what `clock` moves' }])
  checkOpenOptions({ ...given, url: url ?? 'sqlite::memory:' })
  const clock = new MovedClock()
  const parts = { entities, migrations, subscribers, namingStrategy }
  const database = await testDatabase(url, given, parts)
  const opening = openOn(database.connection, { ...given, url: database.url, clockOffsetMs: clock.offsetMs })
  const store = await opening.catch(async (error: unknown) => {
    await database.drop()
    throw error
  })
  clock.store = store
  return asTestStore(store, clock, database)
}

function asTestStore(store: BoundStore, clock: MovedClock, database: TestDatabase): TestStore {
  const close = store.close.bind(store)
  let closing: Promise<void> | null = null
  const closeAndDrop = async () => {
    closed(made)
    await close()
    await database.drop()
  }
  const made: TestStore = Object.assign(store, {
    clock: { advance: (time: Parameters<TestClock['advance']>[0]) => clock.advance(time) },
    drain: (queue: string) => drain(store, queue),
    polled: (target: EntityTarget<ObjectLiteral>) => polled(store, target),
    published: async () => void (await store.feeds.publish()),
    consumed: (feed: string) => consumed(store, feed),
    close: () => {
      closing ??= closeAndDrop()
      return closing
    },
  })
  opened(made)
  return made
}

async function drain(store: BoundStore, queue: string): Promise<void> {
  for (;;) {
    const workers = store.opened.queues.workers.on(queue)
    await Promise.all(workers.map((worker) => worker.settled()))
    // In a transaction, because counts that many callers share may be seconds old.
    const status = await store.transaction((tx) => tx.queues.get(queue))
    if (status === null) throw new RecentnError('queue_not_found', `There is no queue ${queue}`)
    const { counts } = status
    if (counts.ready + counts.inFlight === 0) break
    if (workers.length === 0 && counts.ready > 0) {
      throw new RecentnError(
        'misuse',
        `${counts.ready} messages of the queue ${queue} are ready, and no worker of this store receives them: start one with queues.work, or call once() of a worker with auto: false`,
      )
    }
    await delay(PAUSE_MS)
  }
  // The hooks of the last messages are called after their commit.
  await Promise.all(store.opened.queues.workers.on(queue).map((worker) => worker.settled()))
}

async function polled({ opened: { polls } }: BoundStore, target: EntityTarget<ObjectLiteral>): Promise<void> {
  const pollers = polls.running.on(target)
  if (pollers.length === 0) throw new RecentnError('misuse', 'No poller of this store polls the table by itself')
  for (const poller of pollers) {
    for (;;) {
      const { ready, claimed } = await poller.counts()
      if (ready + claimed === 0) break
      poller.wake()
      await delay(PAUSE_MS)
    }
  }
}

async function consumed(store: BoundStore, feed: string): Promise<void> {
  await store.feeds.publish(feed)
  const consumers = store.opened.feeds.consumers.on(feed)
  if (consumers.length === 0) throw new RecentnError('misuse', `This store has no consumer of the feed ${feed}`)
  for (const consumer of consumers) while (!(await consumer.isCaughtUp())) await delay(PAUSE_MS)
}
