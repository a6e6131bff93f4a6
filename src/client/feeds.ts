/** Feeds, as `store.feeds` of the library has them. */
import { everyOf, orNull, parted, wasThere } from './results'
import type { CallOptions, Transport } from './transport'
import type { Changes, Consumer, Entry, Feed, FeedPage, PutEntries } from './wire/answers'
import type { Operations } from './wire/operations'
import type { NewCursor, NewEntry, Republish } from './wire/requests'

export type ChangesOptions = Operations['getChanges']['query'] & CallOptions
export type ConsumerOptions = Omit<NewCursor, 'cursor'> & CallOptions
export type FeedListOptions = Operations['listFeeds']['query'] & CallOptions
/** An entry of the feed's own, as a write leaves it. */
export type WrittenEntry = Entry & { version: number; updatedAt: Date }

export class FeedsClient {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Writes a value; a publisher gives it a sync id a moment later. Made again it is the same value, of a higher version. */
  async put(feed: string, key: string, value: unknown, options?: CallOptions): Promise<WrittenEntry> {
    const input = { path: { feed, key }, body: { value } }
    return (await this.#transport.call('putEntry', input, options)).value as WrittenEntry
  }

  /** Writes 1 to 1,000 entries, all or nothing; of a key given twice the last value stays. */
  async putMany(feed: string, entries: readonly NewEntry[], options?: CallOptions): Promise<PutEntries> {
    const input = { path: { feed }, body: { entries } }
    return (await this.#transport.call('putEntries', input, { repeat: 'safe', ...options })).value
  }

  /** The entry; null when there is none, or a tombstone. */
  async get(feed: string, key: string, options?: CallOptions): Promise<Entry | null> {
    const answer = await orNull(this.#transport.call('getEntry', { path: { feed, key } }, options), 'entry_not_found')
    return answer?.value ?? null
  }

  /** Leaves a tombstone, which consumers see; null when there was no entry. */
  async delete(feed: string, key: string, options?: CallOptions): Promise<WrittenEntry | null> {
    const answer = await orNull(
      this.#transport.call('deleteEntry', { path: { feed, key } }, options),
      'entry_not_found',
    )
    return (answer?.value ?? null) as WrittenEntry | null
  }

  /** Has entries published again, unchanged: those of the `keys`, or all whose keys begin with `prefix`. */
  async republish(feed: string, selection: Republish, options?: CallOptions): Promise<{ republished: number }> {
    const input = { path: { feed }, body: selection }
    return (await this.#transport.call('republishEntries', input, { repeat: 'safe', ...options })).value
  }

  /**
   * What was published after a cursor (`after`), or after the stored one of a `consumer`, which is not moved. With
   * `waitSeconds` it may take so much longer. Throws `cursor_expired` when a tombstone after the cursor has been removed.
   */
  async changes(feed: string, options: ChangesOptions = {}): Promise<Changes> {
    const [query, call] = parted(options)
    const conduct = { waitSeconds: options.waitSeconds, ...call }
    return (await this.#transport.call('getChanges', { path: { feed }, query }, conduct)).value
  }

  /** The stored cursor; 0 for a consumer that is not known. */
  async getConsumer(feed: string, consumer: string, options?: CallOptions): Promise<Consumer> {
    return (await this.#transport.call('getConsumer', { path: { feed, consumer } }, options)).value
  }

  /** Moves the cursor forward; backwards it stays as it is, unless `force` is true. */
  async putConsumer(feed: string, consumer: string, cursor: bigint, options: ConsumerOptions = {}): Promise<Consumer> {
    const [more, call] = parted(options)
    const input = { path: { feed, consumer }, body: { cursor, ...more } }
    return (await this.#transport.call('putConsumer', input, call)).value
  }

  /** Forgets the cursor; false when there was none. */
  deleteConsumer(feed: string, consumer: string, options?: CallOptions): Promise<boolean> {
    return wasThere(this.#transport.call('deleteConsumer', { path: { feed, consumer } }, options), 'consumer_not_found')
  }

  /** Null for a feed that has not begun. */
  async getFeed(feed: string, options?: CallOptions): Promise<Feed | null> {
    const answer = await orNull(this.#transport.call('getFeed', { path: { feed } }, options), 'feed_not_found')
    return answer?.value ?? null
  }

  /** Drops the feed, its entries and consumers; false when there was none. */
  deleteFeed(feed: string, options?: CallOptions): Promise<boolean> {
    return wasThere(this.#transport.call('deleteFeed', { path: { feed } }, options), 'feed_not_found')
  }

  /** Feeds by name: a page. */
  async list(options: FeedListOptions = {}): Promise<FeedPage> {
    const [query, call] = parted(options)
    return (await this.#transport.call('listFeeds', { query }, call)).value
  }

  /** All feeds by name, page by page of `limit`. */
  all(options: FeedListOptions = {}): AsyncGenerator<Feed, void, undefined> {
    const page = async (after: string | undefined) => {
      const { feeds, nextAfter } = await this.list({ ...options, after })
      return { all: feeds, nextAfter }
    }
    return everyOf(page, options.after)
  }
}
