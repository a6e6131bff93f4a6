/**
 * The feeds of a store as its callers get them: what they write is published in the background, and readers may wait.
 * The operations themselves are the repository's. What runs inside a transaction goes past this.
 */
import type { Session } from '../../database/engine'
import { GroupCommit } from '../../kit/group-commit'
import { laneOf } from '../../kit/lane'
import * as check from '../../repositories/feeds/check'
import { type FollowedTable, followedTable, recentGroups } from '../../repositories/feeds/followed'
import { type Published, type Source, sourceKey } from '../../repositories/feeds/publish'
import { FeedRepository } from '../../repositories/feeds/repository'
import type {
  Changes,
  ChangesOptions,
  Followed,
  FollowedRow,
  FollowOptions,
  FollowTarget,
} from '../../repositories/feeds/types'
import { areLocked, type PutDone, type PutRequest, putBatch } from '../../repositories/feeds/write'
import { marks } from '../../repositories/writers'
import { asChanges } from '../../results/feeds'
import { WorkCounts } from '../work-counts'
import { FeedWatcher } from './feed-watcher'
import type { PublishedFeedsOptions } from './published-feeds-options'
import { Publisher, type Round } from './publisher'

/** Entries of a request that is worth a transaction. */
const LARGE = 100
/** Batches of one feed, before it is the next one's turn. */
const BATCHES = 5
/** So long a store that closes goes on publishing. */
const CLOSING_MS = 2000
const DROP_TRIES = 40
const DROP_PAUSE_MS = 50

export class PublishedFeeds extends FeedRepository {
  readonly #options: PublishedFeedsOptions
  readonly #watcher: FeedWatcher
  /** Of the feeds that have entries of their own. */
  readonly #own: Publisher | null
  /** Of each followed table. */
  readonly #publishers = new Map<string, Publisher>()
  /** Where the publishing of a backlog goes on, by source. */
  readonly #places = new Map<string, Published['place']>()
  /** Feeds that could not be published, and of which was told. */
  readonly #faulty = new Set<string>()
  /** No round publishes later than this, by `performance.now`. */
  #deadline = Number.POSITIVE_INFINITY
  readonly #puts: GroupCommit<PutRequest, PutDone>
  readonly #work: WorkCounts
  #closed = false

  constructor(session: Session, options: PublishedFeedsOptions) {
    super(session, { onWrite: (feed) => this.wrote([feed]) })
    this.#options = options
    const { counts = new WorkCounts() } = options
    this.#work = counts
    this.#watcher = new FeedWatcher({
      look: (feeds) => this.lastSyncIds(feeds),
      onWaiting: () => {
        for (const publisher of this.#allPublishers()) publisher.hurry()
      },
      onOverload: () => counts.overloaded++,
    })
    this.#puts = new GroupCommit({
      what: 'entries',
      lanes: options.atOnce,
      session,
      marks,
      batches: counts.entryBatches,
      onOverload: () => counts.overloaded++,
      run: putBatch,
      areLocked,
    })
    this.#own = this.#publisherOf((feeds) => this.#publishOwn(feeds))
  }

  /** What many put at the same time shares a commit. What is large has one of its own. */
  protected override async putRows(request: PutRequest): Promise<PutDone> {
    const done = await this.#put(request)
    this.#work.entriesWritten += request.rows.length
    return done
  }

  async #put(request: PutRequest): Promise<PutDone> {
    const items = request.rows.length
    if (this.#options.isInside() || items >= LARGE) return super.putRows(request)
    const bytes = request.rows.reduce((sum, { key, text }) => sum + key.length + text.length, 0)
    // By the first key: what somebody else holds goes aside without the other keys of its feed.
    const { key } = request.rows[0] as PutRequest['rows'][0]
    return this.#puts.add(laneOf(`${request.feed}/${key}`), request, { items, bytes })
  }

  /** Something was written to these feeds that is to be published, and is committed. */
  wrote(feeds: Iterable<string>): void {
    for (const feed of feeds) {
      this.#own?.wake(feed)
      this.#publishers.get(feed)?.wake(feed)
    }
  }

  override async changes(feed: string, options: ChangesOptions = {}): Promise<Changes> {
    const request = check.checkedChanges(feed, options)
    const { waitSeconds = 0, signal } = options
    if (waitSeconds === 0 || this.#options.isInside()) return super.changes(feed, options)
    const deadline = performance.now() + waitSeconds * 1000
    const cursor = await this.cursorFrom(feed, options)
    for (let known = -1n; ; ) {
      const { value, ...changes } = await this.read(request, cursor)
      const leftMs = deadline - performance.now()
      const isOver = leftMs <= 0 || signal?.aborted || this.#closed
      if (changes.changes.length > 0 || changes.hasMore || isOver) return asChanges(changes)
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
    const sources = await this.pending(feed === undefined ? null : new Set([feed]))
    for (const { source } of this.followed.values()) {
      if (feed === undefined || source.feed === feed) sources.push(source)
    }
    let published = 0
    for (const source of sources) {
      const { count } = await this.publishSource(source, { batches: Number.POSITIVE_INFINITY })
      if (count > 0) this.#watcher.published([source.feed])
      this.#work.entriesPublished += count
      published += count
    }
    return { published }
  }

  /** A round of the background: some batches of each feed in turn, and no more once the store has to be closed. */
  async #publishOwn(feeds: ReadonlySet<string> | null): Promise<Round> {
    const since = performance.now()
    const sources = await this.pending(feeds)
    const round = { lookMs: performance.now() - since, again: [] as string[], isBusy: false }
    for (const source of sources) {
      if (performance.now() > this.#deadline) break
      try {
        await this.#publishSome(source, round)
        this.#faulty.delete(source.feed)
      } catch (error) {
        this.#work.publisherFaults++
        // What is wrong with one feed must not keep the others waiting. The next look finds it again.
        if (!this.#faulty.has(source.feed)) this.#options.onError(error)
        this.#faulty.add(source.feed)
      }
    }
    return round
  }

  async #publishSome(source: Source, round: { again: string[]; isBusy: boolean }): Promise<void> {
    const key = sourceKey(source)
    const done = await this.publishSource(source, { batches: BATCHES, place: this.#places.get(key), skip: true })
    this.#work.entriesPublished += done.count
    if (done.place === null) this.#places.delete(key)
    else this.#places.set(key, done.place)
    if (done.count > 0) this.#watcher.published([source.feed])
    if (done.more && done.count > 0) round.again.push(source.feed)
    else if (done.more) round.isBusy = true
  }

  /** Drops the feed. What waits for a lock on its row makes all writers wait behind it: so it is tried without first. */
  override async deleteFeed(feed: string): Promise<boolean> {
    check.checkFeed(feed)
    if (this.#options.isInside() || this.followed.has(feed)) return super.deleteFeed(feed)
    for (let tries = 0; tries < DROP_TRIES; tries++) {
      const dropped = await this.dropFeed(feed, true)
      if (dropped !== null) return dropped
      await new Promise((resolve) => setTimeout(resolve, DROP_PAUSE_MS))
    }
    return super.deleteFeed(feed)
  }

  /** Has a table as a feed. It has a publisher of its own: whoever locks the table keeps no other feed waiting. */
  async follow<Row extends FollowedRow>(target: FollowTarget<Row>, options: FollowOptions<Row>): Promise<Followed> {
    const described = await this.#options.describe(target)
    const table = followedTable(described, options as FollowOptions)
    await this.#begin(table)
    const { feed } = table
    return {
      feed,
      stop: () => {
        if (this.followed.get(feed) !== table) return
        this.followed.delete(feed)
        this.#publishers.get(feed)?.stop()
        this.#publishers.delete(feed)
      },
    }
  }

  /** Begins the feeds that are no user's. */
  async beginBuiltIn(): Promise<void> {
    if (this.#options.recentGroups) await this.#begin(recentGroups(this.session.tables))
  }

  async #begin(table: FollowedTable): Promise<void> {
    await this.begin(table)
    const { feed, source } = table
    await this.#publishers.get(feed)?.stop()
    const publisher = this.#publisherOf(async () => {
      const since = performance.now()
      const isPending = await this.hasPending(source)
      const round = { lookMs: performance.now() - since, again: [], isBusy: false }
      if (isPending) await this.#publishSome(source, round)
      return round
    })
    if (publisher) this.#publishers.set(feed, publisher)
    publisher?.wake(feed)
  }

  #publisherOf(publish: (feeds: ReadonlySet<string> | null) => Promise<Round>): Publisher | null {
    if (!this.#options.publish || this.#closed) return null
    const isAwaited = () => this.#watcher.isAwaited
    return new Publisher({ publish, isAwaited, onError: this.#options.onError, counts: this.#work })
  }

  /** One round of what time does to feeds. */
  sweep(): Promise<{ removed: number; more: boolean }> {
    return this.sweepFeeds(this.#options.tombstoneSeconds * 1000)
  }

  #allPublishers(): Publisher[] {
    return [...(this.#own ? [this.#own] : []), ...this.#publishers.values()]
  }

  /** Readers that wait for changes. */
  get waiting(): number {
    return this.#watcher.waiting
  }

  /** Answers who waits, publishes what this process has written. */
  async close(): Promise<void> {
    this.#closed = true
    this.#deadline = performance.now() + CLOSING_MS
    await Promise.all([this.#watcher.close(), this.#puts.close()])
    await Promise.all(this.#allPublishers().map((publisher) => publisher.stop()))
  }
}
