/** Feeds: the methods of the library's `store.feeds`, without `consume`. Those without a comment have the library's. */

import type * as Feed from '../shared/feed-types'
import type { AsJson, JsonText } from '../shared/json'
import type { ListOptions } from '../shared/types'
import {
  deleteEntry,
  dropCursor,
  dropFeed,
  getChanges,
  getCursor,
  getEntry,
  getFeedStatus,
  listFeeds,
  moveCursor,
  putEntries,
  putEntry,
  republishEntries,
} from './operations'
import { type CallOptions, everyOf, type Transport, type WithCall } from './transport'

/** `Value` is the type that the caller says values have: nothing checks it. */
export class FeedCalls implements Omit<Feed.Feeds, 'get' | 'put'> {
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
    options?: Feed.IfVersion & CallOptions,
  ): Promise<Feed.WrittenEntry<Value>> {
    const parts = { path: { feed, key }, body: { value } }
    return this.#transport.value(putEntry, parts, options) as Promise<Feed.WrittenEntry<Value>>
  }

  /** Writes 1 to 1,000 entries, all or none; if a key is given twice, its last value counts. */
  putMany<Value = unknown>(
    feed: string,
    entries: readonly Feed.NewEntry<NoInfer<Value>>[],
    options?: CallOptions,
  ): Promise<{ entries: Feed.PutEntry[] }> {
    const repeat = entries.every(({ ifVersion }) => ifVersion === undefined) ? 'safe' : 'once'
    return this.#transport.asked(putEntries, { feed }, { entries, ...options }, repeat)
  }

  /** The entry; null if there is none, or a tombstone. */
  get<Value = unknown>(feed: string, key: string, options?: CallOptions): Promise<Feed.Entry<Value> | null> {
    const found = this.#transport.valueOrNull(getEntry, { feed, key }, 'entry_not_found', options)
    return found as Promise<Feed.Entry<Value> | null>
  }

  delete(feed: string, key: string, options?: Feed.IfVersion & CallOptions): Promise<Feed.WrittenEntry<null> | null> {
    const tombstone = this.#transport.valueOrNull(deleteEntry, { feed, key }, 'entry_not_found', options)
    return tombstone as Promise<Feed.WrittenEntry<null> | null>
  }

  republish(feed: string, selection: Feed.RepublishSelection, options?: CallOptions): Promise<{ republished: number }> {
    const parts = { path: { feed }, body: selection }
    return this.#transport.value(republishEntries, parts, { repeat: 'safe', ...options })
  }

  /**
   * The changes after a cursor (`after`), or after the stored cursor of a `consumer`, which does not move. With
   * `waitSeconds` the call may take that much longer. Throws `cursor_expired` if a tombstone after the cursor has been
   * removed, or if the cursor is beyond the last sync id.
   */
  changes<Value = unknown>(feed: string, options?: WithCall<Feed.ChangesOptions>): Promise<Feed.Changes<Value>> {
    return this.#transport.asked(getChanges, { feed }, options) as Promise<Feed.Changes<Value>>
  }

  cursor(feed: string, consumer: string, options?: CallOptions): Promise<Feed.Consumer> {
    return this.#transport.asked(getCursor, { feed, consumer }, options)
  }

  moveCursor(
    feed: string,
    consumer: string,
    cursor: bigint,
    options?: Feed.MoveCursorOptions & CallOptions,
  ): Promise<Feed.Consumer> {
    return this.#transport.asked(moveCursor, { feed, consumer }, { cursor, ...options })
  }

  dropCursor(feed: string, consumer: string, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(dropCursor, { feed, consumer }, 'consumer_not_found', options)
  }

  status(feed: string, options?: CallOptions): Promise<Feed.FeedStatus | null> {
    return this.#transport.valueOrNull(getFeedStatus, { feed }, 'feed_not_found', options)
  }

  drop(feed: string, options?: CallOptions): Promise<boolean> {
    return this.#transport.wasThere(dropFeed, { feed }, 'feed_not_found', options)
  }

  list(options?: WithCall<ListOptions>): Promise<Feed.FeedPage> {
    return this.#transport.asked(listFeeds, null, options)
  }

  /** All feeds by name, in pages of `limit`. */
  all(options: WithCall<ListOptions> = {}): AsyncGenerator<Feed.FeedStatus, void, undefined> {
    return everyOf((page) => this.list(page), 'feeds', options)
  }
}
