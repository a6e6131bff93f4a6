// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** The operations: what each takes and answers, and where it is. */
import type { FeedOperations } from './feed-operations'
import type { GroupOperations } from './group-operations'
import type { ProcessOperations } from './process-operations'
import type { QueueOperations } from './queue-operations'

export interface Operations extends GroupOperations, QueueOperations, FeedOperations, ProcessOperations {}

export const OPERATIONS = {
  appendItem: { method: 'POST', path: '/v1/groups/{group}/items', body: 'NewItem', answer: 'Item' },
  recentItems: { method: 'GET', path: '/v1/groups/{group}/items', answer: 'Recent' },
  clearGroup: { method: 'DELETE', path: '/v1/groups/{group}/items', answer: 'Deleted' },
  removeItem: { method: 'DELETE', path: '/v1/groups/{group}/items/{id}' },
  appendItems: { method: 'POST', path: '/v1/items', body: 'Batch', answer: 'Appended' },
  recentItemsOfMany: { method: 'GET', path: '/v1/items', answer: 'RecentMany' },
  listGroups: { method: 'GET', path: '/v1/groups', answer: 'GroupPage' },
  getGroup: { method: 'GET', path: '/v1/groups/{group}', answer: 'Group' },
  putGroup: { method: 'PUT', path: '/v1/groups/{group}', body: 'NewSettings', answer: 'Group' },
  deleteGroup: { method: 'DELETE', path: '/v1/groups/{group}' },
  streamGroup: { method: 'GET', path: '/v1/groups/{group}/stream' },
  memberItems: { method: 'GET', path: '/v1/members/{member}/items', answer: 'MemberItems' },
  eraseMember: { method: 'DELETE', path: '/v1/members/{member}/items', answer: 'Deleted' },
  listPolicies: { method: 'GET', path: '/v1/policies', answer: 'PolicyPage' },
  getPolicy: { method: 'GET', path: '/v1/policies/{prefix}', answer: 'Policy' },
  putPolicy: { method: 'PUT', path: '/v1/policies/{prefix}', body: 'NewPolicy', answer: 'Policy' },
  deletePolicy: { method: 'DELETE', path: '/v1/policies/{prefix}' },
  listQueues: { method: 'GET', path: '/v1/queues', answer: 'QueuePage' },
  getQueue: { method: 'GET', path: '/v1/queues/{queue}', answer: 'QueueStatus' },
  putQueue: { method: 'PUT', path: '/v1/queues/{queue}', body: 'QueueSettings', answer: 'Queue' },
  deleteQueue: { method: 'DELETE', path: '/v1/queues/{queue}' },
  redriveQueue: { method: 'POST', path: '/v1/queues/{queue}/redrive', body: 'Redrive', answer: 'Moved' },
  purgeQueue: { method: 'POST', path: '/v1/queues/{queue}/purge', body: 'Purge', answer: 'Deleted' },
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
  getAccess: { method: 'GET', path: '/v1/access', answer: 'Access' },
  livez: { method: 'GET', path: '/livez', answer: 'Health' },
  readyz: { method: 'GET', path: '/readyz', answer: 'Health' },
  metrics: { method: 'GET', path: '/metrics' },
} as const
