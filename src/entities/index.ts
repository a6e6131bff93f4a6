import { AppendRow, SendRow } from './door-row'
import { Feed, FeedConsumer, FeedDrop, Sequence } from './feed'
import { FeedEntry, FeedTombstone } from './feed-entry'
import { Poll, PollClaim } from './poll'
import { QueueDrop, WorkQueue } from './queue'
import { QueueHistorySlot } from './queue-history'
import { QueueArchive, QueueMessage } from './queue-message'
import { QueueCursor, QueueDedup, QueueFlow, QueueKey, QueueMessageGroup, QueueTurns } from './queue-places'
import { QueueSchedule } from './queue-schedule'
import { RecentGroup } from './recent-group'
import { RecentItem } from './recent-item'
import { RecentPolicy, RecentPolicyEpoch, RecentPolicyRollout } from './recent-policy'
import { RecentnKey } from './recentn-key'
import { RecentnSchema } from './recentn-schema'
import { RecentnWriter } from './recentn-writer'
import { Reminder } from './reminder'

export * from './door-row'
export * from './feed'
export * from './feed-entry'
export * from './poll'
export * from './queue'
export * from './queue-history'
export * from './queue-message'
export * from './queue-places'
export * from './queue-schedule'
export * from './recent-group'
export * from './recent-item'
export * from './recent-policy'
export * from './recentn-key'
export * from './recentn-schema'
export * from './recentn-writer'
export * from './reminder'

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
