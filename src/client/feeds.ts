/** Feeds: the methods of the library's `store.feeds`. */
import { type CallOptions, everyOf, parted, type Transport } from './transport'
import type Wire from './wire'
import type { Changes, Consumer, Entry, Feed, FeedPage, NewCursor, NewEntry, PutEntries, Republish } from './wire'

export type ChangesOptions = Wire['getChanges']['query'] & CallOptions
export type ConsumerOptions = Omit<NewCursor, 'cursor'> & CallOptions
export type FeedListOptions = Wire['listFeeds']['query'] & CallOptions
/** An entry that this call wrote. Unlike the entries of a feed that follows a table, it has a version and a time. */
export type WrittenEntry = Entry & { version: number; updatedAt: Date }

export class FeedsClient {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /**
   * Writes a value; a publisher gives it a sync id a moment later. A repeated call writes the same value under a higher
   * version.
   */
  async put(feed: string, key: string, value: unknown, options?: CallOptions): Promise<WrittenEntry> {
    const parts = { path: { feed, key }, body: { value } }
    return (await this.#transport.value('putEntry', parts, options)) as WrittenEntry
  }

  /** Writes 1 to 1,000 entries, all or none; if a key is given twice, its last value counts. */
  putMany(feed: string, entries: readonly NewEntry[], options?: CallOptions): Promise<PutEntries> {
    const parts = { path: { feed }, body: { entries } }
    return this.#transport.value('putEntries', parts, { repeat: 'safe', ...options })
  }

  /** The entry; null if there is none, or a tombstone. */
  get(feed: string, key: string, options?: CallOptions): Promise<Entry | null> {
    return this.#transport.valueOrNull('getEntry', { path: { feed, key } }, 'entry_not_found', options)
  }

  /** Leaves a tombstone, which consumers see; null if there was no entry. */
  async delete(feed: string, key: string, options?: CallOptions): Promise<WrittenEntry | null> {
    const parts = { path: { feed, key } }
    return (await this.#transport.valueOrNull('deleteEntry', parts, 'entry_not_found', options)) as WrittenEntry | null
  }

  /** Publishes entries again, unchanged: those of the `keys`, or all whose keys begin with `prefix`. */
  republish(feed: string, selection: Republish, options?: CallOptions): Promise<{ republished: number }> {
    const parts = { path: { feed }, body: selection }
    return this.#transport.value('republishEntries', parts, { repeat: 'safe', ...options })
  }

  /**
   * What was published after a cursor (`after`), or after the stored cursor of a `consumer`, which does not move. With
   * `waitSeconds` the call may take that much longer. Throws `cursor_expired` if a tombstone after the cursor has been
   * removed.
   */
  changes(feed: string, options: ChangesOptions = {}): Promise<Changes> {
    const [query, call] = parted(options)
    const conduct = { waitSeconds: options.waitSeconds, ...call }
    return this.#transport.value('getChanges', { path: { feed }, query }, conduct)
  }

  /** The stored cursor; 0 for an unknown consumer. */
  getConsumer(feed: string, consumer: string, options?: CallOptions): Promise<Consumer> {
    return this.#transport.value('getConsumer', { path: { feed, consumer } }, options)
  }

  /** Moves the cursor forward. It moves backward only if `force` is true. */
  putConsumer(feed: string, consumer: string, cursor: bigint, options: ConsumerOptions = {}): Promise<Consumer> {
    const [more, call] = parted(options)
    return this.#transport.value('putConsumer', { path: { feed, consumer }, body: { cursor, ...more } }, call)
  }

  /** Removes the cursor; false if there was none. */
  deleteConsumer(feed: string, consumer: string, options?: CallOptions): Promise<boolean> {
    const parts = { path: { feed, consumer } }
    return this.#transport.wasThere('deleteConsumer', parts, 'consumer_not_found', options)
  }

  /** Null for a feed that does not exist. */
  getFeed(feed: string, options?: CallOptions): Promise<Feed | null> {
    return this.#transport.valueOrNull('getFeed', { path: { feed } }, 'feed_not_found', options)
  }

  /** Deletes the feed with its entries and consumers; false if there was none. */
  deleteFeed(feed: string, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere('deleteFeed', { path: { feed } }, 'feed_not_found', options)
  }

  /** A page of feeds, by name. */
  list(options: FeedListOptions = {}): Promise<FeedPage> {
    const [query, call] = parted(options)
    return this.#transport.value('listFeeds', { query }, call)
  }

  /** All feeds by name, in pages of `limit`. */
  all(options: FeedListOptions = {}): AsyncGenerator<Feed, void, undefined> {
    return everyOf((page) => this.list(page), 'feeds', options)
  }
}
