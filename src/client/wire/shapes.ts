// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** Where ids and times are in bodies and answers. */

export type Shape = 'bigint' | 'time' | ShapeName | { readonly [field: string]: Shape }

export type ShapeName =
  | 'NewItem'
  | 'NewGroupItem'
  | 'Batch'
  | 'Item'
  | 'Appended'
  | 'Recent'
  | 'RecentMany'
  | 'GroupRemoved'
  | 'GroupReset'
  | 'MemberItems'
  | 'Group'
  | 'GroupPage'
  | 'Queue'
  | 'QueueStatus'
  | 'QueuePage'
  | 'Sent'
  | 'SentMany'
  | 'SentOneOrMany'
  | 'Message'
  | 'Received'
  | 'PeekedMessage'
  | 'MessagePage'
  | 'Entry'
  | 'Changes'
  | 'NewCursor'
  | 'Consumer'
  | 'Feed'
  | 'FeedPage'

export const SHAPES: Readonly<Record<ShapeName, Shape>> = {
  NewItem: { occurredAt: 'time' },
  NewGroupItem: { occurredAt: 'time' },
  Batch: { items: 'NewGroupItem' },
  Item: { id: 'bigint', occurredAt: 'time', createdAt: 'time' },
  Appended: { items: { id: 'bigint' } },
  Recent: { total: 'bigint', items: 'Item', nextBefore: 'bigint' },
  RecentMany: { groups: { total: 'bigint', items: 'Item', nextBefore: 'bigint' } },
  GroupRemoved: { id: 'bigint' },
  GroupReset: { total: 'bigint' },
  MemberItems: { items: 'Item' },
  Group: { total: 'bigint', createdAt: 'time' },
  GroupPage: { groups: 'Group' },
  Queue: { createdAt: 'time' },
  QueueStatus: { createdAt: 'time' },
  QueuePage: { queues: 'QueueStatus' },
  Sent: { id: 'bigint' },
  SentMany: { ids: 'bigint' },
  SentOneOrMany: { id: 'bigint', ids: 'bigint' },
  Message: { id: 'bigint', sentAt: 'time', visibleAt: 'time' },
  Received: { messages: 'Message' },
  PeekedMessage: { id: 'bigint', sentAt: 'time', visibleAt: 'time', lastReceivedAt: 'time', archivedAt: 'time' },
  MessagePage: { messages: 'PeekedMessage' },
  Entry: { syncId: 'bigint', updatedAt: 'time' },
  Changes: { changes: { syncId: 'bigint' }, cursor: 'bigint' },
  NewCursor: { cursor: 'bigint' },
  Consumer: { cursor: 'bigint' },
  Feed: { lastSyncId: 'bigint', consumers: { cursor: 'bigint' } },
  FeedPage: { feeds: 'Feed' },
}
