/**
 * The publishers of a store. There is one for all feeds with their own entries, and one for each followed
 * table, so that a lock on such a table delays no other feed. Owns where the publishing of each backlog continues, and of
 * which feeds a fault was reported. No SQL.
 */

import type { Session } from '../../database/engine'
import type { JoinedPoll, SharedPoll } from '../../kit/shared-poll'
import { type Followed, type FollowedTable, greatestSyncId } from '../../repositories/feeds/followed'
import { beginFollowed } from '../../repositories/feeds/heads'
import type { FeedMemory } from '../../repositories/feeds/memory'
import {
  type FeedRows,
  hasUnpublished,
  type Published,
  publishRows,
  remindedRows,
  rowsKey,
  unpublishedRows,
} from '../../repositories/feeds/publish'
import type { PollAnswer, PollQuestion } from '../../repositories/reminders'
import { performance } from '../../shared/platform'
import { Stoppable } from '../../shared/running'
import type { WorkCounts } from '../counts'
import { Publisher, type PublisherOptions, type PublishingRound } from './publisher'

interface PublishingOptions {
  session: Session
  memory: FeedMemory
  /** False: only `publish` publishes. */
  inBackground: boolean
  isAwaited: () => boolean
  sharedPoll: SharedPoll<PollQuestion, PollAnswer>
  /** Called after a commit that has numbered entries of the feed. */
  onPublished: (feed: string) => void
  onError: (error: unknown) => void
  counts: Pick<WorkCounts, 'entriesPublished' | 'publisherRounds' | 'publisherFaults'>
}

/** The least time between two looks at what others have written, without and with a reader that waits. */
const [LOOK_MS, AWAITED_LOOK_MS] = [500, 150]
/** Batches of one feed in a round, before the next feed has its turn. */
const BATCHES = 5
/** How long a store that closes continues to publish. */
const CLOSING_MS = 2000

/** A followed table, until it is stopped or followed again. */
class FollowedFeed extends Stoppable implements Followed {
  constructor(
    readonly feed: string,
    signal: AbortSignal | undefined,
    private readonly end: () => Promise<void>,
  ) {
    super()
    this.stopBy(signal)
  }

  async stop(): Promise<void> {
    await this.end()
    this.ended()
  }
}

export class Publishing {
  /** The publisher of the feeds with their own entries. */
  readonly #own: Publisher | null
  readonly #looks: JoinedPoll
  /** The publishers of followed tables, by feed. */
  readonly #publishers = new Map<string, Publisher>()
  readonly #places = new Map<string, Published['place']>()
  /** Feeds that could not be published, and whose fault was reported. */
  readonly #faulty = new Set<string>()
  readonly #followed = new Map<string, FollowedFeed>()
  /** No round publishes later than this, by `performance.now`. */
  #deadline = Number.POSITIVE_INFINITY
  #closed = false

  constructor(private readonly options: PublishingOptions) {
    this.#own = this.#publisherOf({ publish: (feeds) => this.#publishOwn(feeds) })
    this.#looks = options.sharedPoll.joinDue(options.memory.reminders, {
      isOn: () => this.#own !== null && !this.#closed,
      call: () => this.#own?.look(),
      leastMs: this.#leastMs,
    })
  }

  wake(feeds: Iterable<string>): void {
    for (const feed of feeds) {
      this.#own?.wake(feed)
      this.#publishers.get(feed)?.wake(feed)
    }
  }

  hurry(): void {
    this.#looks.begin()
    for (const publisher of this.#publishers.values()) publisher.hurry()
  }

  /** Publishes everything there is, of one feed or of all. */
  async publish(feed?: string): Promise<{ published: number }> {
    const { session, memory } = this.options
    const pending = await session.read((reader) => unpublishedRows(reader, feed === undefined ? null : new Set([feed])))
    for (const { source } of memory.followed.values()) {
      if (feed === undefined || source.feed === feed) pending.push(source)
    }
    let published = 0
    for (const rows of pending) {
      const { count } = await session.whole((whole) => publishRows(whole, rows, { batches: Number.POSITIVE_INFINITY }))
      this.#published(rows, count)
      published += count
    }
    return { published }
  }

  async follow(table: FollowedTable, signal?: AbortSignal): Promise<Followed> {
    const { session, memory } = this.options
    const { feed, source } = table
    signal?.throwIfAborted()
    await session.write(async (tx) => beginFollowed(tx, feed, source.table, await greatestSyncId(tx, table)))
    memory.followed.set(feed, table)
    await this.#followed.get(feed)?.stop()
    // A separate look: a lock on the user's table must delay no other part of the store.
    const publisher = this.#publisherOf({ publish: () => this.#publishFollowed(source), leastMs: this.#leastMs })
    if (publisher) this.#publishers.set(feed, publisher)
    publisher?.wake(feed)
    const followed: FollowedFeed = new FollowedFeed(feed, signal, async () => {
      if (memory.followed.get(feed) === table) memory.followed.delete(feed)
      if (this.#publishers.get(feed) === publisher) this.#publishers.delete(feed)
      if (this.#followed.get(feed) === followed) this.#followed.delete(feed)
      await publisher?.stop()
    })
    if (!this.#closed) this.#followed.set(feed, followed)
    return followed
  }

  /** Publishes what this process has written, also until `written` resolves, and ends within a time. */
  async close(written: Promise<unknown>): Promise<void> {
    this.#closed = true
    this.#deadline = performance.now() + CLOSING_MS
    await written
    await Promise.all([this.#own, ...this.#publishers.values()].map((publisher) => publisher?.stop()))
    await Promise.all([...this.#followed.values()].map((one) => one.stop()))
  }

  readonly #leastMs = () => (this.options.isAwaited() ? AWAITED_LOOK_MS : LOOK_MS)

  #publisherOf(how: Pick<PublisherOptions, 'publish' | 'leastMs'>): Publisher | null {
    const { inBackground, onError, counts } = this.options
    return inBackground && !this.#closed ? new Publisher({ ...how, onError, counts }) : null
  }

  /** One round: some batches of each feed in turn, and none after the deadline. */
  async #publishOwn(feeds: ReadonlySet<string> | null): Promise<PublishingRound> {
    const { session, memory, onError, counts } = this.options
    const since = performance.now()
    const { feeds: pending, more } =
      feeds === null
        ? await session.read((reader) => remindedRows(reader, memory.reminders))
        : { feeds: (await session.read((reader) => unpublishedRows(reader, feeds))).map(unreminded), more: false }
    const round = { lookMs: performance.now() - since, published: 0, again: [] as string[], isBusy: more }
    const done: bigint[] = []
    for (const { rows, reminders } of pending) {
      if (performance.now() > this.#deadline) break
      try {
        if (rows === null || (await this.#publishSome(rows, round))) for (const id of reminders) done.push(id)
        if (rows !== null) this.#faulty.delete(rows.feed)
      } catch (error) {
        if (rows === null) throw error
        // A fault of one feed must not delay the others. The next look finds the feed again.
        counts.publisherFaults++
        if (!this.#faulty.has(rows.feed)) onError(error)
        this.#faulty.add(rows.feed)
      }
    }
    if (done.length > 0) await session.write((tx) => memory.reminders.done(tx, done), { arrived: async () => false })
    return round
  }

  async #publishFollowed(rows: FeedRows): Promise<PublishingRound> {
    const since = performance.now()
    const isPending = await this.options.session.read((reader) => hasUnpublished(reader, rows))
    const round = { lookMs: performance.now() - since, published: 0, again: [] as string[], isBusy: false }
    if (isPending) await this.#publishSome(rows, round)
    return round
  }

  /** False while another process publishes the feed: it may not see what was written last. */
  async #publishSome(rows: FeedRows, round: PublishingRound & { again: string[] }): Promise<boolean> {
    const key = rowsKey(rows)
    const options = { batches: BATCHES, place: this.#places.get(key), skip: true }
    const { count, more, place } = await this.options.session.whole((whole) => publishRows(whole, rows, options))
    this.#published(rows, count)
    round.published += count
    if (place === null) this.#places.delete(key)
    else this.#places.set(key, place)
    if (more && count > 0) round.again.push(rows.feed)
    else if (more) round.isBusy = true
    return !more
  }

  #published({ feed }: FeedRows, count: number): void {
    if (count === 0) return
    this.options.counts.entriesPublished += count
    this.options.onPublished(feed)
  }
}

const unreminded = (rows: FeedRows): { rows: FeedRows; reminders: bigint[] } => ({ rows, reminders: [] })
