import { RecentnKey, RecentnSchema, RecentnWriter, Reminder } from './bookkeeping'
import { AppendRow, SendRow } from './door-row'
import { Feed, FeedConsumer, FeedDrop, FeedEntry, FeedTombstone, Sequence } from './feed'
import { Poll, PollClaim } from './poll'
import { QueueDrop, QueueHistorySlot, QueueReceiver, WorkQueue } from './queue'
import { QueueArchive, QueueMessage } from './queue-message'
import { QueueCursor, QueueDedup, QueueFlow, QueueKey, QueueMessageGroup, QueueTurns } from './queue-places'
import { QueueSchedule } from './queue-schedule'
import { RecentGroup, RecentItem } from './recent-group'
import { RecentPolicy, RecentPolicyEpoch, RecentPolicyRollout } from './recent-policy'

export * from './bookkeeping'
export * from './door-row'
export * from './feed'
export * from './poll'
export * from './queue'
export * from './queue-message'
export * from './queue-places'
export * from './queue-schedule'
export * from './recent-group'
export * from './recent-policy'

/** For the `entities` of a DataSource. */
export const entities = [
  RecentnKey,
  WorkQueue,
  QueueArchive,
  QueueCursor,
  QueueDedup,
  QueueDrop,
  QueueFlow,
  QueueHistorySlot,
  QueueKey,
  QueueMessage,
  QueueMessageGroup,
  QueueReceiver,
  QueueSchedule,
  QueueTurns,
  RecentGroup,
  RecentItem,
  RecentPolicy,
  RecentPolicyEpoch,
  RecentPolicyRollout,
  RecentnSchema,
  RecentnWriter,
  Reminder,
  SendRow,
  AppendRow,
  Feed,
  FeedConsumer,
  FeedDrop,
  FeedEntry,
  FeedTombstone,
  Sequence,
  Poll,
  PollClaim,
]
