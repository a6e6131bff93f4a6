/** Feeds: the methods of the library's `store.feeds`, without `consume`. */

import type {
  Changes,
  ChangesOptions,
  Consumer,
  Entry,
  FeedPage,
  FeedStatus,
  Feeds,
  MoveCursorOptions,
  NewEntry,
  PutEntry,
  RepublishSelection,
  WrittenEntry,
} from '../shared/feed-types'
import type { AsJson, JsonText } from '../shared/json'
import type { ListOptions } from '../shared/types'
import * as operations from './operations'
import { type CallOptions, everyOf, parted, type Transport, type WithCall } from './transport'

/** `Value` is the type that the caller says values have: nothing checks it. */
export class FeedCalls implements Omit<Feeds, 'get' | 'put'> {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /**
   * Writes a value; a publisher gives it a sync id a moment later. A repeated call writes the same value under a higher
   * version.
   */
  put<Value = unknown, Given extends Value | JsonText = Value | JsonText>(
    feed: string,
    key: string,
    value: Given & AsJson<Given>,
    options?: CallOptions,
  ): Promise<WrittenEntry<Value>> {
    const parts = { path: { feed, key }, body: { value } }
    return this.#transport.value(operations.putEntry, parts, options) as Promise<WrittenEntry<Value>>
  }

  /** Writes 1 to 1,000 entries, all or none; if a key is given twice, its last value counts. */
  putMany<Value = unknown>(
    feed: string,
    entries: readonly NewEntry<NoInfer<Value>>[],
    options?: CallOptions,
  ): Promise<{ entries: PutEntry[] }> {
    const parts = { path: { feed }, body: { entries } }
    return this.#transport.value(operations.putEntries, parts, { repeat: 'safe', ...options })
  }

  /** The entry; null if there is none, or a tombstone. */
  get<Value = unknown>(feed: string, key: string, options?: CallOptions): Promise<Entry<Value> | null> {
    const found = this.#transport.valueOrNull(operations.getEntry, { path: { feed, key } }, 'entry_not_found', options)
    return found as Promise<Entry<Value> | null>
  }

  /** Leaves a tombstone, which consumers see; null if there was no entry. */
  delete(feed: string, key: string, options?: CallOptions): Promise<WrittenEntry<null> | null> {
    const tombstone = this.#transport.valueOrNull(
      operations.deleteEntry,
      { path: { feed, key } },
      'entry_not_found',
      options,
    )
    return tombstone as Promise<WrittenEntry<null> | null>
  }

  /** Publishes entries again, unchanged: those of the `keys`, or all whose keys begin with `prefix`. */
  republish(feed: string, selection: RepublishSelection, options?: CallOptions): Promise<{ republished: number }> {
    const parts = { path: { feed }, body: selection }
    return this.#transport.value(operations.republishEntries, parts, { repeat: 'safe', ...options })
  }

  /**
   * The changes after a cursor (`after`), or after the stored cursor of a `consumer`, which does not move. With
   * `waitSeconds` the call may take that much longer. Throws `cursor_expired` if a tombstone after the cursor has been
   * removed, or if the cursor is beyond the last sync id.
   */
  changes<Value = unknown>(feed: string, options: WithCall<ChangesOptions> = {}): Promise<Changes<Value>> {
    const [query, call] = parted(options)
    return this.#transport.value(operations.getChanges, { path: { feed }, query }, call) as Promise<Changes<Value>>
  }

  /** The stored cursor; 0 for an unknown consumer. Throws `feed_not_found`. */
  cursor(feed: string, consumer: string, options?: CallOptions): Promise<Consumer> {
    return this.#transport.value(operations.getCursor, { path: { feed, consumer } }, options)
  }

  /** Moves the cursor forward. It moves backward only if `force` is true. */
  moveCursor(
    feed: string,
    consumer: string,
    cursor: bigint,
    options: MoveCursorOptions & CallOptions = {},
  ): Promise<Consumer> {
    const [more, call] = parted(options)
    return this.#transport.value(operations.moveCursor, { path: { feed, consumer }, body: { cursor, ...more } }, call)
  }

  /** Removes the cursor; false if there was none. */
  dropCursor(feed: string, consumer: string, options?: CallOptions): Promise<boolean> {
    const parts = { path: { feed, consumer } }
    return this.#transport.wasThere(operations.dropCursor, parts, 'consumer_not_found', options)
  }

  /** Null for a feed that does not exist. */
  status(feed: string, options?: CallOptions): Promise<FeedStatus | null> {
    return this.#transport.valueOrNull(operations.getFeedStatus, { path: { feed } }, 'feed_not_found', options)
  }

  /** Deletes the feed with its entries and consumers; false if there was none. */
  drop(feed: string, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(operations.dropFeed, { path: { feed } }, 'feed_not_found', options)
  }

  /** A page of feeds, by name. */
  list(options: WithCall<ListOptions> = {}): Promise<FeedPage> {
    const [query, call] = parted(options)
    return this.#transport.value(operations.listFeeds, { query }, call)
  }

  /** All feeds by name, in pages of `limit`. */
  all(options: WithCall<ListOptions> = {}): AsyncGenerator<FeedStatus, void, undefined> {
    return everyOf((page) => this.list(page), 'feeds', options)
  }
}
