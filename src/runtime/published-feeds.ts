/**
 * The feeds of a store as its callers get them: what they write is published in the background, and readers may wait.
 * The operations themselves are the repository's. What runs inside a transaction goes past this.
 */
import type { Session } from '../database/engine'
import type { Table } from '../database/table'
import * as check from '../repositories/feeds/check'
import { type FollowedTable, followedTable, recentGroups } from '../repositories/feeds/followed'
import { FeedRepository } from '../repositories/feeds/repository'
import type {
  Changes,
  ChangesOptions,
  Followed,
  FollowedRow,
  FollowOptions,
  FollowTarget,
} from '../repositories/feeds/types'
import type { PutDone, PutRequest } from '../repositories/feeds/write'
import { forgetWriters } from '../repositories/writers'
import { BatchedWrites } from './batched-writes'
import { FeedWatcher } from './feed-watcher'
import { laneOf } from './lane'
import { Publisher } from './publisher'

export interface PublishedFeedsOptions {
  /** What there is to know of a table that is to be followed. */
  describe: (target: FollowTarget<FollowedRow>) => Promise<Table>
  /** Have the feed of the groups of recent items. */
  recentGroups: boolean
  /** Transactions at once: one where there is one connection. */
  atOnce: number
  /** Publish in the background. */
  publish: boolean
  tombstoneSeconds: number
  /** True for code inside a transaction that has the only connection: its calls must not wait behind others. */
  isInside: () => boolean
  onError: (error: unknown) => void
}

/** Entries of a request that is worth a transaction. */
const LARGE = 100

export class PublishedFeeds extends FeedRepository {
  readonly #options: PublishedFeedsOptions
  readonly #watcher: FeedWatcher
  readonly #publisher: Publisher | null
  readonly #puts: BatchedWrites<PutRequest, PutDone>
  #closed = false

  constructor(session: Session, options: PublishedFeedsOptions) {
    super(session, { onWrite: (feed) => this.wrote([feed]) })
    this.#options = options
    this.#watcher = new FeedWatcher({
      look: (feeds) => this.lastSyncIds(feeds),
      onWaiting: () => this.#publisher?.hurry(),
    })
    this.#puts = new BatchedWrites({
      what: 'entries',
      lanes: options.atOnce,
      run: (requests, writing) => this.putBatch(requests, writing),
      forget: (writers) => forgetWriters(session, writers),
    })
    const { publish, onError } = options
    const isAwaited = () => this.#watcher.isAwaited
    this.#publisher = publish ? new Publisher({ publish: (feeds) => this.#publish(feeds), isAwaited, onError }) : null
  }

  /** What many put at the same time shares a commit. What is large has one of its own. */
  protected override putRows(request: PutRequest): Promise<PutDone> {
    const items = request.rows.length
    if (this.#options.isInside() || items >= LARGE) return super.putRows(request)
    const bytes = request.rows.reduce((sum, { key, text }) => sum + key.length + text.length, 0)
    return this.#puts.add(laneOf(request.feed), request, { items, bytes })
  }

  /** Something was written to these feeds that is to be published, and is committed. */
  wrote(feeds: Iterable<string>): void {
    for (const feed of feeds) this.#publisher?.wake(feed)
  }

  override async changes(feed: string, options: ChangesOptions = {}): Promise<Changes> {
    const { waitSeconds = 0, signal } = options
    if (waitSeconds === 0 || this.#options.isInside()) return super.changes(feed, options)
    const request = check.checkedChanges(feed, options)
    const deadline = performance.now() + waitSeconds * 1000
    const cursor = await this.cursorFrom(feed, options)
    for (let known = -1n; ; ) {
      const { value, ...changes } = await this.read(request, cursor)
      const leftMs = deadline - performance.now()
      const isOver = leftMs <= 0 || signal?.aborted || this.#closed
      if (changes.changes.length > 0 || changes.hasMore || isOver) return changes
      // What was published between the rows and the value is looked for before the waiting begins.
      if (value > known) known = value
      else await this.#watcher.wait(feed, known, leftMs, signal)
    }
  }

  /**
   * Gives numbers to what has none yet, of one feed or of all; resolves to how many. In the background this is done by
   * itself, unless the store was opened with `publish: false`.
   */
  async publish(feed?: string): Promise<{ published: number }> {
    if (feed !== undefined) check.checkFeed(feed)
    return { published: await this.#publish(feed === undefined ? null : new Set([feed])) }
  }

  async #publish(feeds: ReadonlySet<string> | null): Promise<number> {
    const { published, feeds: news } = await this.publishPending(feeds)
    this.#watcher.published(news)
    return published
  }

  /** Has a table as a feed. */
  async follow<Row extends FollowedRow>(target: FollowTarget<Row>, options: FollowOptions<Row>): Promise<Followed> {
    const described = await this.#options.describe(target)
    const table = followedTable(described, options as FollowOptions)
    await this.#begin(table)
    const { feed } = table
    return {
      feed,
      stop: () => {
        if (this.followed.get(feed) === table) this.followed.delete(feed)
      },
    }
  }

  /** Begins the feeds that are no user's. */
  async beginBuiltIn(): Promise<void> {
    if (this.#options.recentGroups) await this.#begin(recentGroups)
  }

  async #begin(table: FollowedTable): Promise<void> {
    await this.begin(table.feed)
    this.followed.set(table.feed, table)
    this.wrote([table.feed])
  }

  /** One round of what time does to feeds. */
  async sweep(): Promise<{ more: boolean }> {
    return this.sweepFeeds(this.#options.tombstoneSeconds * 1000)
  }

  /** Answers who waits, publishes what this process has written. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([this.#watcher.close(), this.#puts.close()])
    await this.#publisher?.stop()
  }
}
