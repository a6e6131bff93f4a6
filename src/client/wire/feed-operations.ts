// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** What each operation takes and answers. */
import type { Changes, Consumer, Entry, Feed, FeedPage, PutEntries, Republished } from './answers'
import type { NewCursor, NewEntries, NewValue, Republish } from './requests'

type Nothing = Record<never, never>

export interface FeedOperations {
  /** The feeds, by name: `GET /v1/feeds` */
  listFeeds: {
    path: Nothing
    query: {
      /** Only feeds whose name begins with this. */
      prefix?: string | undefined
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** The `nextAfter` of the page before. */
      after?: string | undefined
    }
    body: undefined
    answer: FeedPage
  }
  /** The last sync id of a feed, what it holds, what waits for a publisher, and how far its consumers are: `GET /v1/feeds/{feed}` */
  getFeed: {
    path: {
      /** The feed. */
      feed: string
    }
    query: Nothing
    body: undefined
    answer: Feed
  }
  /** Drop a feed with its entries and consumers: `DELETE /v1/feeds/{feed}` */
  deleteFeed: {
    path: {
      /** The feed. */
      feed: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Have entries published again, unchanged: `POST /v1/feeds/{feed}/republish` */
  republishEntries: {
    path: {
      /** The feed. */
      feed: string
    }
    query: Nothing
    body: Republish
    answer: Republished
  }
  /** One entry: `GET /v1/feeds/{feed}/entries/{key}` */
  getEntry: {
    path: {
      /** The feed. */
      feed: string
      /** The key of the entry. */
      key: string
    }
    query: Nothing
    body: undefined
    answer: Entry
  }
  /** Write an entry: `PUT /v1/feeds/{feed}/entries/{key}` */
  putEntry: {
    path: {
      /** The feed. */
      feed: string
      /** The key of the entry. */
      key: string
    }
    query: Nothing
    body: NewValue
    answer: Entry
  }
  /** Delete an entry, leaving a tombstone that consumers see: `DELETE /v1/feeds/{feed}/entries/{key}` */
  deleteEntry: {
    path: {
      /** The feed. */
      feed: string
      /** The key of the entry. */
      key: string
    }
    query: Nothing
    body: undefined
    answer: Entry
  }
  /** Write up to 1000 entries: `POST /v1/feeds/{feed}/entries` */
  putEntries: {
    path: {
      /** The feed. */
      feed: string
    }
    query: Nothing
    body: NewEntries
    answer: PutEntries
  }
  /** What was published after a cursor, in the order of the sync ids: `GET /v1/feeds/{feed}/changes` */
  getChanges: {
    path: {
      /** The feed. */
      feed: string
    }
    query: {
      /** A `cursor`: only what was published after it; from the beginning when left out. */
      after?: bigint | undefined
      /** Start at the stored cursor of this consumer, in place of `after`. */
      consumer?: string | undefined
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number | undefined
      /** How long to wait for a change when there is none. 0 to 20; `0` when left out. */
      waitSeconds?: number | undefined
    }
    body: undefined
    answer: Changes
  }
  /** The stored cursor of a consumer, and how far behind it is: `GET /v1/feeds/{feed}/consumers/{consumer}` */
  getConsumer: {
    path: {
      /** The feed. */
      feed: string
      /** The consumer. */
      consumer: string
    }
    query: Nothing
    body: undefined
    answer: Consumer
  }
  /** Move the stored cursor of a consumer: `PUT /v1/feeds/{feed}/consumers/{consumer}` */
  putConsumer: {
    path: {
      /** The feed. */
      feed: string
      /** The consumer. */
      consumer: string
    }
    query: Nothing
    body: NewCursor
    answer: Consumer
  }
  /** Forget a consumer: `DELETE /v1/feeds/{feed}/consumers/{consumer}` */
  deleteConsumer: {
    path: {
      /** The feed. */
      feed: string
      /** The consumer. */
      consumer: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
}
