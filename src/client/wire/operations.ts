// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** The operations: what each takes and answers, and where it is. */
import type {
  Appended,
  Changes,
  Consumer,
  Deleted,
  DeletedReceipts,
  Entry,
  ExtendedReceipts,
  Feed,
  FeedPage,
  Group,
  GroupPage,
  Health,
  Item,
  MemberItems,
  MessagePage,
  Moved,
  PeekedMessage,
  Policy,
  PolicyPage,
  PutEntries,
  Queue,
  QueuePage,
  QueueStatus,
  Received,
  Recent,
  RecentMany,
  ReleasedReceipts,
  Republished,
  SentOneOrMany,
} from './answers'
import type {
  Batch,
  Extend,
  NewCursor,
  NewEntries,
  NewItem,
  NewValue,
  OwnSettings,
  PolicySettings,
  QueueSettings,
  Receipts,
  Receive,
  Redrive,
  Release,
  Republish,
  Sending,
} from './requests'

type Nothing = Record<never, never>

export interface Operations {
  /** Append an item: `POST /v1/groups/{group}/items` */
  appendItem: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: NewItem
    answer: Item
  }
  /** The newest items of a group, newest first: `GET /v1/groups/{group}/items` */
  recentItems: {
    path: {
      /** The group. */
      group: string
    }
    query: {
      /** At most so many. 1 to 10000; `10` when left out. */
      limit?: number
      /** Only items with a smaller id: the `nextBefore` of the page before. */
      before?: bigint
      /** Members whose items are left out. */
      exclude?: readonly string[]
    }
    body: undefined
    answer: Recent
  }
  /** Remove all items of a group: `DELETE /v1/groups/{group}/items` */
  clearGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: undefined
    answer: Deleted
  }
  /** Remove one item: `DELETE /v1/groups/{group}/items/{id}` */
  removeItem: {
    path: {
      /** The group. */
      group: string
      /** The id of the item. */
      id: bigint
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Append up to 1000 items to any groups: `POST /v1/items` */
  appendItems: {
    path: Nothing
    query: Nothing
    body: Batch
    answer: Appended
  }
  /** The newest items of up to 100 groups, in the order asked: `GET /v1/items` */
  recentItemsOfMany: {
    path: Nothing
    query: {
      /** The groups. */
      group: readonly string[]
      /** At most so many. 1 to 10000; `10` when left out. */
      limit?: number
      /** Members whose items are left out. */
      exclude?: readonly string[]
    }
    body: undefined
    answer: RecentMany
  }
  /** The groups, by name: `GET /v1/groups` */
  listGroups: {
    path: Nothing
    query: {
      /** Only groups whose name begins with this. */
      prefix?: string
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number
      /** The `nextAfter` of the page before. */
      after?: string
    }
    body: undefined
    answer: GroupPage
  }
  /** The settings in force of a group, and its total: `GET /v1/groups/{group}` */
  getGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: undefined
    answer: Group
  }
  /** Create a group, or replace a group's own settings: `PUT /v1/groups/{group}` */
  putGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: OwnSettings
    answer: Group
  }
  /** Forget a group with its items: `DELETE /v1/groups/{group}` */
  deleteGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** What happens to a group, as server-sent events: `GET /v1/groups/{group}/stream` */
  streamGroup: {
    path: {
      /** The group. */
      group: string
    }
    query: {
      /** Begin after this item, where there is no `Last-Event-ID`. */
      after?: bigint
    }
    body: undefined
    answer: string
  }
  /** What one member did in all groups, newest first: `GET /v1/members/{member}/items` */
  memberItems: {
    path: {
      /** The member. */
      member: string
    }
    query: {
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number
      /** The `nextAfter` of the page before: opaque. */
      after?: string
    }
    body: undefined
    answer: MemberItems
  }
  /** Erase what a member has in all groups when the request arrives: `DELETE /v1/members/{member}/items` */
  eraseMember: {
    path: {
      /** The member. */
      member: string
    }
    query: Nothing
    body: undefined
    answer: Deleted
  }
  /** The policies, by prefix: `GET /v1/policies` */
  listPolicies: {
    path: Nothing
    query: {
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number
      /** The `nextAfter` of the page before. */
      after?: string
    }
    body: undefined
    answer: PolicyPage
  }
  /** One policy: `GET /v1/policies/{prefix}` */
  getPolicy: {
    path: {
      /** What the names of the groups begin with. */
      prefix: string
    }
    query: Nothing
    body: undefined
    answer: Policy
  }
  /** Create or replace a policy: `PUT /v1/policies/{prefix}` */
  putPolicy: {
    path: {
      /** What the names of the groups begin with. */
      prefix: string
    }
    query: Nothing
    body: PolicySettings
    answer: Policy
  }
  /** Delete a policy: `DELETE /v1/policies/{prefix}` */
  deletePolicy: {
    path: {
      /** What the names of the groups begin with. */
      prefix: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** The queues, by name: `GET /v1/queues` */
  listQueues: {
    path: Nothing
    query: {
      /** Only queues whose name begins with this. */
      prefix?: string
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number
      /** The `nextAfter` of the page before. */
      after?: string
    }
    body: undefined
    answer: QueuePage
  }
  /** The attributes of a queue, how many messages it has in each state, and how old the oldest is: `GET /v1/queues/{queue}` */
  getQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: undefined
    answer: QueueStatus
  }
  /** Create a queue, or replace all of its attributes: `PUT /v1/queues/{queue}` */
  putQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: QueueSettings
    answer: Queue
  }
  /** Drop a queue with its messages: `DELETE /v1/queues/{queue}` */
  deleteQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Send dead messages back to where they came from: `POST /v1/queues/{queue}/redrive` */
  redriveQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Redrive
    answer: Moved
  }
  /** Drop what is ready and delayed: `POST /v1/queues/{queue}/purge` */
  purgeQueue: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Record<string, never>
    answer: Deleted
  }
  /** Send a message, or up to 1000 of them: `POST /v1/queues/{queue}/messages` */
  sendMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Sending
    answer: SentOneOrMany
  }
  /** Look at the messages in one state without claiming them: `GET /v1/queues/{queue}/messages` */
  peekMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: {
      /** Only messages in this state. `ready` when left out. */
      state?: 'ready' | 'in-flight' | 'delayed' | 'dead' | 'archived'
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number
      /** The `nextAfter` of the page before: opaque. */
      after?: string
    }
    body: undefined
    answer: MessagePage
  }
  /** Look at one message, in whatever state: `GET /v1/queues/{queue}/messages/{id}` */
  getMessage: {
    path: {
      /** The queue. */
      queue: string
      /** The id of the message. */
      id: bigint
    }
    query: Nothing
    body: undefined
    answer: PeekedMessage
  }
  /** Remove one message, in whatever state: `DELETE /v1/queues/{queue}/messages/{id}` */
  deleteMessage: {
    path: {
      /** The queue. */
      queue: string
      /** The id of the message. */
      id: bigint
    }
    query: Nothing
    body: undefined
    answer: undefined
  }
  /** Claim messages: `POST /v1/queues/{queue}/receive` */
  receiveMessages: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Receive
    answer: Received
  }
  /** Done: remove, or archive, received messages: `POST /v1/queues/{queue}/delete` */
  deleteReceived: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Receipts
    answer: DeletedReceipts
  }
  /** Failed: hand received messages out again after a delay, or never: `POST /v1/queues/{queue}/release` */
  releaseReceived: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Release
    answer: ReleasedReceipts
  }
  /** Hold received messages for so long, counted from now: `POST /v1/queues/{queue}/extend` */
  extendReceived: {
    path: {
      /** The queue. */
      queue: string
    }
    query: Nothing
    body: Extend
    answer: ExtendedReceipts
  }
  /** The feeds, by name: `GET /v1/feeds` */
  listFeeds: {
    path: Nothing
    query: {
      /** Only feeds whose name begins with this. */
      prefix?: string
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number
      /** The `nextAfter` of the page before. */
      after?: string
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
      after?: bigint
      /** Start at the stored cursor of this consumer, in place of `after`. */
      consumer?: string
      /** At most so many. 1 to 1000; `100` when left out. */
      limit?: number
      /** How long to wait for a change when there is none. 0 to 20; `0` when left out. */
      waitSeconds?: number
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
  /** Whether the process answers: `GET /livez` */
  livez: {
    path: Nothing
    query: Nothing
    body: undefined
    answer: Health
  }
  /** Whether the database answers too: `GET /readyz` */
  readyz: {
    path: Nothing
    query: Nothing
    body: undefined
    answer: Health
  }
  /** What the process did and is at, for Prometheus: `GET /metrics` */
  metrics: {
    path: Nothing
    query: Nothing
    body: undefined
    answer: string
  }
}

export const OPERATIONS = {
  appendItem: { method: 'POST', path: '/v1/groups/{group}/items', body: 'NewItem', answer: 'Item' },
  recentItems: { method: 'GET', path: '/v1/groups/{group}/items', answer: 'Recent' },
  clearGroup: { method: 'DELETE', path: '/v1/groups/{group}/items', answer: 'Deleted' },
  removeItem: { method: 'DELETE', path: '/v1/groups/{group}/items/{id}' },
  appendItems: { method: 'POST', path: '/v1/items', body: 'Batch', answer: 'Appended' },
  recentItemsOfMany: { method: 'GET', path: '/v1/items', answer: 'RecentMany' },
  listGroups: { method: 'GET', path: '/v1/groups', answer: 'GroupPage' },
  getGroup: { method: 'GET', path: '/v1/groups/{group}', answer: 'Group' },
  putGroup: { method: 'PUT', path: '/v1/groups/{group}', body: 'OwnSettings', answer: 'Group' },
  deleteGroup: { method: 'DELETE', path: '/v1/groups/{group}' },
  streamGroup: { method: 'GET', path: '/v1/groups/{group}/stream' },
  memberItems: { method: 'GET', path: '/v1/members/{member}/items', answer: 'MemberItems' },
  eraseMember: { method: 'DELETE', path: '/v1/members/{member}/items', answer: 'Deleted' },
  listPolicies: { method: 'GET', path: '/v1/policies', answer: 'PolicyPage' },
  getPolicy: { method: 'GET', path: '/v1/policies/{prefix}', answer: 'Policy' },
  putPolicy: { method: 'PUT', path: '/v1/policies/{prefix}', body: 'PolicySettings', answer: 'Policy' },
  deletePolicy: { method: 'DELETE', path: '/v1/policies/{prefix}' },
  listQueues: { method: 'GET', path: '/v1/queues', answer: 'QueuePage' },
  getQueue: { method: 'GET', path: '/v1/queues/{queue}', answer: 'QueueStatus' },
  putQueue: { method: 'PUT', path: '/v1/queues/{queue}', body: 'QueueSettings', answer: 'Queue' },
  deleteQueue: { method: 'DELETE', path: '/v1/queues/{queue}' },
  redriveQueue: { method: 'POST', path: '/v1/queues/{queue}/redrive', body: 'Redrive', answer: 'Moved' },
  purgeQueue: { method: 'POST', path: '/v1/queues/{queue}/purge', answer: 'Deleted' },
  sendMessages: { method: 'POST', path: '/v1/queues/{queue}/messages', body: 'Sending', answer: 'SentOneOrMany' },
  peekMessages: { method: 'GET', path: '/v1/queues/{queue}/messages', answer: 'MessagePage' },
  getMessage: { method: 'GET', path: '/v1/queues/{queue}/messages/{id}', answer: 'PeekedMessage' },
  deleteMessage: { method: 'DELETE', path: '/v1/queues/{queue}/messages/{id}' },
  receiveMessages: { method: 'POST', path: '/v1/queues/{queue}/receive', body: 'Receive', answer: 'Received' },
  deleteReceived: { method: 'POST', path: '/v1/queues/{queue}/delete', body: 'Receipts', answer: 'DeletedReceipts' },
  releaseReceived: { method: 'POST', path: '/v1/queues/{queue}/release', body: 'Release', answer: 'ReleasedReceipts' },
  extendReceived: { method: 'POST', path: '/v1/queues/{queue}/extend', body: 'Extend', answer: 'ExtendedReceipts' },
  listFeeds: { method: 'GET', path: '/v1/feeds', answer: 'FeedPage' },
  getFeed: { method: 'GET', path: '/v1/feeds/{feed}', answer: 'Feed' },
  deleteFeed: { method: 'DELETE', path: '/v1/feeds/{feed}' },
  republishEntries: { method: 'POST', path: '/v1/feeds/{feed}/republish', body: 'Republish', answer: 'Republished' },
  getEntry: { method: 'GET', path: '/v1/feeds/{feed}/entries/{key}', answer: 'Entry' },
  putEntry: { method: 'PUT', path: '/v1/feeds/{feed}/entries/{key}', body: 'NewValue', answer: 'Entry' },
  deleteEntry: { method: 'DELETE', path: '/v1/feeds/{feed}/entries/{key}', answer: 'Entry' },
  putEntries: { method: 'POST', path: '/v1/feeds/{feed}/entries', body: 'NewEntries', answer: 'PutEntries' },
  getChanges: { method: 'GET', path: '/v1/feeds/{feed}/changes', answer: 'Changes' },
  getConsumer: { method: 'GET', path: '/v1/feeds/{feed}/consumers/{consumer}', answer: 'Consumer' },
  putConsumer: { method: 'PUT', path: '/v1/feeds/{feed}/consumers/{consumer}', body: 'NewCursor', answer: 'Consumer' },
  deleteConsumer: { method: 'DELETE', path: '/v1/feeds/{feed}/consumers/{consumer}' },
  livez: { method: 'GET', path: '/livez', answer: 'Health' },
  readyz: { method: 'GET', path: '/readyz', answer: 'Health' },
  metrics: { method: 'GET', path: '/metrics' },
} as const
