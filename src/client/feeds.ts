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
import { type CallOptions, everyOf, type Transport, type WithCall } from './transport'

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
  async put<Value = unknown, Given extends Value | JsonText = Value | JsonText>(
    feed: string,
    key: string,
    value: Given & AsJson<Given>,
    options?: CallOptions,
  ): Promise<WrittenEntry<Value>> {
    return (await this.#transport.asked(
      operations.putEntry,
      { feed, key },
      { value, ...options },
    )) as WrittenEntry<Value>
  }

  /** Writes 1 to 1,000 entries, all or none; if a key is given twice, its last value counts. */
  putMany<Value = unknown>(
    feed: string,
    entries: readonly NewEntry<NoInfer<Value>>[],
    options?: CallOptions,
  ): Promise<{ entries: PutEntry[] }> {
    return this.#transport.asked(operations.putEntries, { feed }, { entries, ...options }, 'safe')
  }

  /** The entry; null if there is none, or a tombstone. */
  get<Value = unknown>(feed: string, key: string, options?: CallOptions): Promise<Entry<Value> | null> {
    const found = this.#transport.valueOrNull(operations.getEntry, { path: { feed, key } }, 'entry_not_found', options)
    return found as Promise<Entry<Value> | null>
  }

  /** Leaves a tombstone, which consumers see; null if there was no entry. */
  async delete(feed: string, key: string, options?: CallOptions): Promise<WrittenEntry<null> | null> {
    const tombstone = this.#transport.valueOrNull(
      operations.deleteEntry,
      { path: { feed, key } },
      'entry_not_found',
      options,
    )
    return (await tombstone) as WrittenEntry<null> | null
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
  changes<Value = unknown>(feed: string, options?: WithCall<ChangesOptions>): Promise<Changes<Value>> {
    return this.#transport.asked(operations.getChanges, { feed }, options) as Promise<Changes<Value>>
  }

  /** The stored cursor; 0 for an unknown consumer. Throws `feed_not_found`. */
  cursor(feed: string, consumer: string, options?: CallOptions): Promise<Consumer> {
    return this.#transport.asked(operations.getCursor, { feed, consumer }, options)
  }

  /** Moves the cursor forward. It moves backward only if `force` is true. */
  moveCursor(
    feed: string,
    consumer: string,
    cursor: bigint,
    options?: MoveCursorOptions & CallOptions,
  ): Promise<Consumer> {
    return this.#transport.asked(operations.moveCursor, { feed, consumer }, { cursor, ...options })
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
  list(options?: WithCall<ListOptions>): Promise<FeedPage> {
    return this.#transport.asked(operations.listFeeds, null, options)
  }

  /** All feeds by name, in pages of `limit`. */
  all(options: WithCall<ListOptions> = {}): AsyncGenerator<FeedStatus, void, undefined> {
    return everyOf((page) => this.list(page), 'feeds', options)
  }
}
