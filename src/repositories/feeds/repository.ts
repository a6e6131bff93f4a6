/**
 * The operations on feeds: checks what callers give, and runs each operation in its session, or hands it to what a store
 * shares between callers. Owns `recentn_feeds`, `recentn_feed_entries` and their companions, and the feeds' sequences.
 */
import type { DataSource, EntityManager } from 'typeorm'
import { sessionOf } from '../../database/attached/attach'
import type { Reader, Session } from '../../database/engine'
import { CHANGES, ENTRY } from '../../fields/answers-feeds'
import { checkedPage, PREFIX_PAGE_RULES } from '../../fields/rules'
import { invalidInput } from '../../shared/errors'
import type * as Feed from '../../shared/feed-types'
import { JsonText } from '../../shared/json'
import type { ListOptions } from '../../shared/types'
import { alone, noWaits, type Runner, type Waits } from '../runners'
import { readChanges } from './changes'
import * as check from './check'
import { cursorOf, dropCursor, moveCursor, readCursor, storedCursor } from './cursors'
import { followedEntry } from './followed'
import { dropFeed, type FeedHead, listHeads, readHead } from './heads'
import { FeedMemory } from './memory'
import { PUTS, type PutDone, type PutRequest } from './put'
import { republish } from './republish'
import { readEntry } from './rows'
import { countFollowed, countOwnEntries, statusOf } from './status'
import { deleteEntry, leaveTombstones } from './write'

/** Consumers of all feeds of one page: a feed may have a thousand, and a page a thousand feeds. */
const MAX_LISTED_CONSUMERS = 2500
/** A request of this many entries gets its own transaction. */
const LARGE = 100

/** Readers wait for changes of a feed, after the last sync id that they have seen. */
export interface FeedWaits extends Waits<bigint> {
  /** Repeats the attempt while another transaction holds the feed, for a while. */
  untilFree(attempt: () => Promise<boolean | 'in_use'>): Promise<boolean | 'in_use'>
}

const noFeedWaits: FeedWaits = { ...noWaits, untilFree: async () => 'in_use' }

export class FeedRepository implements Feed.Feeds {
  readonly #session: Session
  readonly #memory: FeedMemory
  readonly #runner: Runner<FeedMemory>
  readonly #alone: Runner<FeedMemory>
  readonly #waits: FeedWaits

  /**
   * On a DataSource each call has its own transactions; on an EntityManager it is part of that manager's. The further
   * arguments are a store's.
   */
  constructor(
    source: DataSource | EntityManager | Session,
    memory = new FeedMemory(),
    runner?: Runner<FeedMemory>,
    waits = noFeedWaits,
  ) {
    this.#session = sessionOf(source)
    this.#memory = memory
    this.#alone = alone(this.#session, memory)
    this.#runner = runner ?? this.#alone
    this.#waits = waits
  }

  async put<Value = unknown>(
    feed: string,
    key: string,
    value: NoInfer<Value> | JsonText,
    options: Feed.IfVersion = {},
  ): Promise<Feed.WrittenEntry<Value>> {
    const row = check.checkedEntry(feed, key, value, options)
    const { versions, nowMs } = await this.#put({ feed, rows: [row] })
    const written = { key, version: versions[0] as number, syncId: null, deleted: false, updatedAt: new Date(nowMs) }
    const stored: Value = value instanceof JsonText ? value : JSON.parse(row.text)
    return ENTRY.of({ ...written, value: stored })
  }

  async putMany<Value = unknown>(
    feed: string,
    entries: readonly Feed.NewEntry<NoInfer<Value>>[],
  ): Promise<{ entries: Feed.PutEntry[] }> {
    const rows = check.checkedEntries(feed, entries)
    const { versions } = await this.#put({ feed, rows, isList: true })
    return { entries: rows.map(({ key }, index) => ({ key, version: versions[index] as number })) }
  }

  #put(request: PutRequest): Promise<PutDone> {
    this.#requireOwn(request.feed)
    // A refusal must not have the puts of others fail with it.
    const isAlone = request.rows.length >= LARGE || request.rows.some(check.hasCondition)
    const runner = isAlone ? this.#alone : this.#runner
    return new Promise((resolve, reject) => runner.hand(PUTS, request, { resolve, reject }))
  }

  async get<Value = unknown>(
    feed: string,
    key: string,
    options: Feed.ValueOptions = {},
  ): Promise<Feed.Entry<Value> | null> {
    check.checkKey(feed, key, options)
    const followed = this.#memory.followed.get(feed) ?? null
    const entry: Feed.Entry | null = await this.#session.read((reader) =>
      followed ? followedEntry(reader, followed, key, options) : readEntry(reader, feed, key, options),
    )
    return entry?.deleted ? null : (entry as Feed.Entry<Value> | null)
  }

  async delete(feed: string, key: string, options: Feed.IfVersion = {}): Promise<Feed.WrittenEntry<null> | null> {
    check.checkDelete(feed, key, options)
    if (options.ifVersion !== undefined) this.#requireOwn(feed)
    const memory = this.#memory
    const tombstone = await this.#session.write(async (tx) => {
      if (!memory.followed.has(feed)) return deleteEntry(tx, feed, { key, ...options }, memory)
      // The user's code has deleted the row.
      const id = await leaveTombstones(tx, feed, [key])
      if (id === null) return null
      await memory.wrote(tx, [{ id, feed }])
      return readEntry(tx, feed, key)
    })
    return tombstone as Feed.WrittenEntry<null> | null
  }

  async republish(feed: string, selection: Feed.RepublishSelection): Promise<{ republished: number }> {
    const selected = check.checkedSelection(feed, selection)
    return { republished: await republish(this.#session, feed, selected, this.#memory) }
  }

  async changes<Value = unknown>(feed: string, options: Feed.ChangesOptions = {}): Promise<Feed.Changes<Value>> {
    const request = check.checkedChanges(feed, options)
    const { after = 0n, consumer, waitSeconds = 0, signal } = options
    // Only reads that wait count against the limit of readers.
    const waits = waitSeconds === 0 ? noWaits : this.#waits
    const reader = waits.enter(feed, { waitMs: waitSeconds * 1000, signal })
    try {
      const cursor =
        consumer === undefined
          ? cursorOf(after)
          : await this.#session.read((snapshot) => readCursor(snapshot, feed, consumer))
      for (let known = cursor.syncId; ; ) {
        reader.look()
        const followed = this.#memory.followed.get(feed) ?? null
        const read = (snapshot: Reader) => readChanges(snapshot, request, cursor, followed)
        const { value, ...changes } = await this.#session.read(read)
        const isAnswer = waitSeconds === 0 || changes.changes.length > 0 || changes.hasMore
        if (isAnswer) return CHANGES.of(changes) as Feed.Changes<Value>
        // A publication between the reads of rows and value is looked for before the wait begins.
        if (value > known) known = value
        else if (!(await reader.again(known))) return CHANGES.of(changes) as Feed.Changes<Value>
      }
    } finally {
      reader.leave()
    }
  }

  async cursor(feed: string, consumer: string): Promise<Feed.Consumer> {
    check.checkConsumer(feed, consumer)
    return this.#session.read((reader) => storedCursor(reader, feed, consumer))
  }

  async moveCursor(
    feed: string,
    consumer: string,
    cursor: bigint,
    options: Feed.MoveCursorOptions = {},
  ): Promise<Feed.Consumer> {
    check.checkCursor(feed, consumer, cursor, options)
    const { force = false, from } = options
    const asked = { cursor: cursorOf(cursor), isForced: force, from: from === undefined ? undefined : cursorOf(from) }
    return this.#session.write((tx) => moveCursor(tx, feed, consumer, asked))
  }

  async dropCursor(feed: string, consumer: string): Promise<boolean> {
    check.checkConsumer(feed, consumer)
    return this.#session.write((tx) => dropCursor(tx, feed, consumer))
  }

  async status(feed: string): Promise<Feed.FeedStatus | null> {
    check.checkFeed(feed)
    const head = await this.#session.read((reader) => readHead(reader, feed))
    return head && this.#statusOf(head)
  }

  async drop(feed: string): Promise<boolean> {
    check.checkFeed(feed)
    this.#requireOwn(feed)
    const drop = (skip: boolean) => this.#session.write((tx) => dropFeed(tx, feed, skip))
    // A transaction that waits for the lock on the feed's row makes all writers wait behind it.
    const dropped = await this.#waits.untilFree(() => drop(true))
    return (dropped === 'in_use' ? await drop(false) : dropped) === true
  }

  async list(options: ListOptions = {}): Promise<Feed.FeedPage> {
    const { limit, ...names } = checkedPage(options, PREFIX_PAGE_RULES)
    const heads = await this.#session.read((reader) => listHeads(reader, { ...names, limit: limit + 1 }))
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

  #statusOf(head: FeedHead): Promise<Feed.FeedStatus> {
    const session = this.#session
    return session.read(async (reader) => {
      const followed = this.#memory.followed.get(head.feed)
      const count = () => (followed ? countFollowed(reader, head.id, followed) : countOwnEntries(reader, head.id))
      // A transaction must see what it did itself, and no other may.
      const counts = await (session.inTransaction ? count() : this.#memory.entryCounts.get(head.id, count))
      return statusOf(reader, head, counts)
    })
  }

  #requireOwn(feed: string): void {
    if (!this.#memory.followed.has(feed)) return
    throw invalidInput([{ parameter: 'feed', detail: 'has the rows of a table as its entries' }])
  }
}
