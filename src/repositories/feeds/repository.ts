/**
 * Feeds as a repository: checks what it is given and runs each operation in transactions of its session.
 * It owns feeds, recentn_feed_entries and what belongs to them, and the feeds' rows of sequences.
 */
import type { DataSource, EntityManager } from 'typeorm'
import type { Parameter, Session, Tx } from '../../database/engine'
import { sessionOf } from '../../database/session'
import { invalidInput } from '../../errors'
import { RECENT_GROUPS } from '../../fields/feeds'
import { checkedPage, PREFIX_PAGE_RULES } from '../../fields/rules'
import { JsonText } from '../../json'
import { asChanges, asEntry } from '../../results/feeds'
import type { Page } from '../types'
import type { Writer } from '../writers'
import { type ChangesRequest, type Reading, readChanges } from './changes'
import * as check from './check'
import { type Cursor, cursorOf, deleteConsumer, getConsumer, putConsumer, readCursor } from './cursors'
import { type FollowedTable, followedEntry, greatestSyncId, recentGroups } from './followed'
import { beginFollowed, dropFeed, type FeedHead, lastSyncIds, readHead } from './heads'
import { hasPending, type Published, pendingSources, publishSource, type Source } from './publish'
import { republish } from './republish'
import { readEntry } from './rows'
import { FeedCounts, listHeads, statusOf } from './status'
import { sweepFeeds } from './sweep'
import type * as Feed from './types'
import { areLocked, deleteEntry, deleteFollowed, type PutDone, type PutRequest, putAll, putBatch } from './write'

/** Consumers of all feeds of one page: a feed may have a thousand, and a page a thousand feeds. */
const MAX_LISTED_CONSUMERS = 2500

/** What a store adds to the repository. */
export interface FeedOptions {
  /** Inside a transaction counts are taken anew. */
  isInside?: boolean | undefined
  /** The followed tables, by feed; the store's, which may change. */
  followed?: Map<string, FollowedTable> | undefined
  /** Told of a feed that has something to publish: committed, unless inside a transaction. */
  onWrite?: ((feed: string) => void) | undefined
}

export class FeedRepository implements Feed.Feeds {
  protected readonly session: Session
  /** The tables whose rows are the entries of feeds. */
  readonly followed: Map<string, FollowedTable>
  readonly #counts = new FeedCounts()
  readonly #isInside: boolean
  readonly #onWrite: (feed: string) => void

  /** On a DataSource each call has transactions of its own; on an EntityManager it is part of that manager's. */
  constructor(source: DataSource | EntityManager | Session, { isInside, followed, onWrite }: FeedOptions = {}) {
    this.session = sessionOf(source)
    this.followed = followed ?? new Map()
    this.#isInside = isInside ?? (!('read' in source) && 'queryRunner' in source)
    this.#onWrite = onWrite ?? (() => {})
  }

  async put(feed: string, key: string, value: unknown): Promise<Feed.WrittenEntry> {
    const row = check.checkedEntry(feed, key, value)
    this.#requireOwn(feed)
    const { versions, nowMs } = await this.putRows({ feed, rows: [row] })
    this.#onWrite(feed)
    const written = { key, version: versions[0] as number, syncId: null, deleted: false, updatedAt: new Date(nowMs) }
    return asEntry({ ...written, value: value instanceof JsonText ? value : JSON.parse(row.text) })
  }

  async putMany(feed: string, entries: readonly Feed.NewEntry[]): Promise<{ entries: Feed.PutEntry[] }> {
    const rows = check.checkedEntries(feed, entries)
    this.#requireOwn(feed)
    const { versions } = await this.putRows({ feed, rows })
    this.#onWrite(feed)
    return { entries: rows.map(({ key }, index) => ({ key, version: versions[index] as number })) }
  }

  /** Writes checked rows, all or nothing. */
  protected async putRows(request: PutRequest): Promise<PutDone> {
    const [done] = await this.session.write((tx) => putAll(tx, [request]))
    return done as PutDone
  }

  /** Writes the requests of many callers in one transaction. Of a writer one batch runs at a time. */
  protected putBatch(
    requests: readonly PutRequest[],
    options: { writer: Writer; retryMs?: number },
  ): Promise<PutDone[]> {
    return putBatch(this.session, requests, options)
  }

  /** For each request whether somebody else holds one of its entries. */
  protected areLocked(requests: readonly PutRequest[]): Promise<boolean[]> {
    return this.session.write((tx) => areLocked(tx, requests))
  }

  async get(feed: string, key: string, options: Feed.ValueOptions = {}): Promise<Feed.Entry | null> {
    check.checkKey(feed, key, options)
    const followed = this.#rowsOf(feed)
    const entry: Feed.Entry | null = await this.session.read((reader) =>
      followed ? followedEntry(reader, followed, key, options) : readEntry(reader, feed, key, options),
    )
    return entry?.deleted ? null : entry
  }

  async delete(feed: string, key: string): Promise<Feed.WrittenEntry | null> {
    check.checkKey(feed, key)
    if (feed === RECENT_GROUPS) this.#requireOwn(feed)
    const isFollowed = this.followed.has(feed)
    return this.#written(feed, (tx) => (isFollowed ? deleteFollowed(tx, feed, key) : deleteEntry(tx, feed, key)))
  }

  async republish(feed: string, selection: Feed.RepublishSelection): Promise<{ republished: number }> {
    const selected = check.checkedSelection(feed, selection)
    const republished = await republish(this.session, feed, selected, this.#rowsOf(feed))
    this.#onWrite(feed)
    return { republished }
  }

  async changes(feed: string, options: Feed.ChangesOptions = {}): Promise<Feed.Changes> {
    const request = check.checkedChanges(feed, options)
    if (options.waitSeconds) {
      throw invalidInput([{ pointer: '/waitSeconds', detail: 'must be 0 inside a transaction, and without a store' }])
    }
    const { value: _, ...changes } = await this.read(request, await this.cursorFrom(feed, options))
    return asChanges(changes)
  }

  /** Where a reading begins. */
  protected async cursorFrom(feed: string, { after = 0n, consumer }: Feed.ChangesOptions): Promise<Cursor> {
    if (consumer === undefined) return cursorOf(after)
    return this.session.read((reader) => readCursor(reader, feed, consumer))
  }

  /** What there is after the cursor. */
  protected read(request: ChangesRequest, cursor: Cursor): Promise<Reading> {
    const followed = this.#rowsOf(request.feed)
    return this.session.read((reader) => readChanges(reader, request, cursor, followed))
  }

  async getConsumer(feed: string, consumer: string): Promise<Feed.Consumer> {
    check.checkConsumer(feed, consumer)
    return this.session.read((reader) => getConsumer(reader, feed, consumer))
  }

  async putConsumer(
    feed: string,
    consumer: string,
    cursor: bigint,
    options: Feed.PutConsumerOptions = {},
  ): Promise<Feed.Consumer> {
    check.checkCursor(feed, consumer, cursor, options)
    const { force = false, from } = options
    const asked = { cursor: cursorOf(cursor), isForced: force, from: from === undefined ? undefined : cursorOf(from) }
    return this.session.write((tx) => putConsumer(tx, feed, consumer, asked))
  }

  async deleteConsumer(feed: string, consumer: string): Promise<boolean> {
    check.checkConsumer(feed, consumer)
    return this.session.write((tx) => deleteConsumer(tx, feed, consumer))
  }

  async getFeed(feed: string): Promise<Feed.FeedStatus | null> {
    check.checkFeed(feed)
    const head = await this.session.read((reader) => readHead(reader, feed))
    return head && this.#statusOf(head)
  }

  async deleteFeed(feed: string): Promise<boolean> {
    check.checkFeed(feed)
    this.#requireOwn(feed)
    return (await this.dropFeed(feed, false)) as boolean
  }

  /** `skip`: resolves to null while somebody has written to the feed and has not committed. */
  protected dropFeed(feed: string, skip: boolean): Promise<boolean | null> {
    return this.session.write((tx) => dropFeed(tx, feed, skip))
  }

  async list(options: Page & { prefix?: string | undefined } = {}): Promise<Feed.FeedPage> {
    const { limit, after, prefix } = checkedPage(options, PREFIX_PAGE_RULES)
    const heads = await this.session.read((reader) => listHeads(reader, { limit: limit + 1, after, prefix }))
    const feeds: Feed.FeedStatus[] = []
    let consumers = 0
    for (const head of heads.slice(0, limit)) {
      const status = await this.#statusOf(head)
      consumers += status.consumers.length
      if (feeds.length > 0 && consumers > MAX_LISTED_CONSUMERS) break
      feeds.push(status)
    }
    return { feeds, nextAfter: heads.length > feeds.length ? (feeds.at(-1)?.feed ?? null) : null }
  }

  /** The feeds that have entries of their own without number, of these or of all. */
  protected pending(feeds: ReadonlySet<string> | null): Promise<Source[]> {
    return this.session.read((reader) => pendingSources(reader, feeds))
  }

  protected hasPending(source: Source): Promise<boolean> {
    return this.session.read((reader) => hasPending(reader, source))
  }

  /** Numbers what has no number in one of them. */
  protected publishSource(
    source: Source,
    options: { batches: number; place?: Parameter; skip?: boolean },
  ): Promise<Published> {
    return this.session.whole((whole) => publishSource(whole, source, options))
  }

  /** The last sync ids of these feeds; those that have not begun are left out. */
  protected lastSyncIds(feeds: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    return this.session.read((reader) => lastSyncIds(reader, feeds))
  }

  /** Begins a feed that has the rows of a table as its entries. */
  protected async begin(table: FollowedTable): Promise<void> {
    await this.session.write(async (tx) => {
      await beginFollowed(tx, table.feed, table.source.table, await greatestSyncId(tx, table))
    })
    this.followed.set(table.feed, table)
  }

  protected sweepFeeds(tombstoneMs: number): Promise<{ removed: number; more: boolean }> {
    return sweepFeeds(this.session, tombstoneMs)
  }

  #statusOf(head: FeedHead): Promise<Feed.FeedStatus> {
    const followed = this.#rowsOf(head.feed)
    return this.session.read(async (reader) =>
      statusOf(reader, head, await this.#counts.of(reader, head, followed, this.#isInside)),
    )
  }

  /** Runs a write, and tells once it is done that there is something to publish. */
  async #written<T>(feed: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const result = await this.session.write(work)
    this.#onWrite(feed)
    return result
  }

  /** The table whose rows are the entries. That of the groups is known to all. */
  #rowsOf(feed: string): FollowedTable | null {
    return this.followed.get(feed) ?? (feed === RECENT_GROUPS ? recentGroups(this.session.tables) : null)
  }

  /** Throws `invalid_input` for a feed whose entries are the rows of another table. */
  #requireOwn(feed: string): void {
    if (feed !== RECENT_GROUPS && !this.followed.has(feed)) return
    throw invalidInput([{ parameter: 'feed', detail: 'has the rows of a table as its entries' }])
  }
}
