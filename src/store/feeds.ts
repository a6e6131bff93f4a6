/**
 * The feeds of a store: what its callers get, and what runs for them: puts that share commits, readers that wait, publishers,
 * and consumers. Owns that all of these have ended before the store closes.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Session } from '../database/engine'
import type { Table } from '../database/table'
import { RecentnError } from '../errors'
import { GroupCommit } from '../kit/group-commit'
import { laneOf } from '../kit/lane'
import { checkFeed } from '../repositories/feeds/check'
import { followedTable, recentGroups } from '../repositories/feeds/followed'
import { lastSyncIds } from '../repositories/feeds/heads'
import { FeedMemory } from '../repositories/feeds/memory'
import { FeedRepository, type FeedRunners } from '../repositories/feeds/repository'
import { sweepFeeds } from '../repositories/feeds/sweep'
import type { Followed, FollowedRow, FollowOptions, FollowTarget } from '../repositories/feeds/types'
import { areEntriesLocked, type PutDone, type PutRequest, putEntries } from '../repositories/feeds/write'
import { marks } from '../repositories/writers'
import { type ConsumerLoop, consume } from './consumer/consuming'
import type { ConsumeHandler, ConsumeOptions, Consuming } from './consumer/types'
import { FeedNews } from './publisher/feed-news'
import { Publishing } from './publisher/publishing'
import type { StoreFeeds } from './types'
import type { WorkCounts } from './work-counts'

export interface FeedServiceOptions {
  /** Describes a table that is to be followed. */
  describe: (target: FollowTarget<FollowedRow>) => Promise<Table>
  /** Publish the groups of recent items as a feed. */
  recentGroups: boolean
  /** Transactions of puts at once. */
  atOnce: number
  /** Publish in the background. */
  publish: boolean
  tombstoneSeconds: number
  /** Throws inside a transaction of the store's database. */
  guard: () => void
  onError: (error: unknown) => void
  counts: WorkCounts
}

/** How long handlers of consumers have to finish when the store closes. */
const STOP_SECONDS = 10
const DROP_TRIES = 40
const DROP_PAUSE_MS = 50

export class FeedService {
  readonly feeds: StoreFeeds
  readonly memory = new FeedMemory()
  readonly #session: Session
  readonly #options: FeedServiceOptions
  readonly #puts: GroupCommit<PutRequest, PutDone>
  readonly #news: FeedNews
  readonly #publishing: Publishing
  readonly #consumers = new Set<ConsumerLoop>()
  #isClosed = false

  constructor(session: Session, options: FeedServiceOptions) {
    this.#session = session
    this.#options = options
    const { memory } = this
    const { counts } = options
    const onOverload = () => counts.overloaded++
    this.#news = new FeedNews({
      look: (feeds) => session.read((reader) => lastSyncIds(reader, feeds)),
      onWaiting: () => this.#publishing.hurry(),
      onOverload,
    })
    this.#puts = new GroupCommit<PutRequest, PutDone>({
      what: 'entries',
      lanes: options.atOnce,
      session,
      marks,
      guard: options.guard,
      batches: counts.entryBatches,
      onOverload,
      run: (tx, requests, { writer }) => putEntries(tx, requests, memory, writer),
      areLocked: areEntriesLocked,
    })
    this.#publishing = new Publishing({
      session,
      memory,
      inBackground: options.publish,
      isAwaited: () => this.#news.waiting > 0,
      onPublished: (feed) => this.#news.published(feed),
      onError: options.onError,
      counts,
    })
    if (options.publish) memory.onWritten = (feeds) => this.#publishing.wake(feeds)
    const runners: FeedRunners = { puts: this.#puts, laneOf, news: this.#news, untilFree, counts }
    this.feeds = Object.assign(new FeedRepository(session, memory, runners), {
      publish: async (feed?: string) => {
        if (feed !== undefined) checkFeed(feed)
        return this.#publishing.publish(feed)
      },
      follow: <Row extends FollowedRow>(target: FollowTarget<Row>, how: FollowOptions<Row>) => {
        return this.#follow(target, how as FollowOptions)
      },
      consume: (...given: Parameters<StoreFeeds['consume']>) => this.#consume(...given),
    })
  }

  async #follow(target: FollowTarget<FollowedRow>, how: FollowOptions): Promise<Followed> {
    return this.#publishing.follow(followedTable(await this.#options.describe(target), how))
  }

  #consume(feed: string, consumer: string, handler: ConsumeHandler, options: ConsumeOptions = {}): Consuming {
    if (this.#isClosed) throw new RecentnError('closed')
    const loop = consume(this.feeds, [feed, consumer], handler, options)
    this.#consumers.add(loop)
    loop.ended.finally(() => this.#consumers.delete(loop))
    return { stop: (how) => loop.stop(how) }
  }

  /** Begins the built-in feeds that the store was asked for. */
  async begin(): Promise<void> {
    if (this.#options.recentGroups) await this.#publishing.follow(recentGroups(this.#session.tables))
  }

  /** One round of removing what was kept long enough. */
  sweep(): Promise<{ removed: number; more: boolean }> {
    return sweepFeeds(this.#session, this.#options.tombstoneSeconds * 1000)
  }

  /** Readers that wait for changes, and consumers that run. */
  get activity(): { changesWaiting: number; consumers: number } {
    return { changesWaiting: this.#news.waiting, consumers: this.#consumers.size }
  }

  /** Resolves when the handlers that run have finished, or after 10 seconds. */
  async stopConsuming(): Promise<void> {
    await Promise.all([...this.#consumers].map((loop) => loop.stop({ timeoutSeconds: STOP_SECONDS })))
  }

  /** Stops the consumers, answers readers that wait, and publishes what this process has written. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.stopConsuming()
    await this.#publishing.close(Promise.all([this.#news.close(), this.#puts.close()]))
  }
}

/** Resolves to `in_use` when every attempt did. */
async function untilFree(attempt: () => Promise<boolean | 'in_use'>): Promise<boolean | 'in_use'> {
  for (let tries = 0; tries < DROP_TRIES; tries++) {
    const dropped = await attempt()
    if (dropped !== 'in_use') return dropped
    await delay(DROP_PAUSE_MS)
  }
  return 'in_use'
}
