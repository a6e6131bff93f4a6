import { Feed, FeedConsumer, FeedDrop, Sequence } from './feed'
import { FeedEntry, FeedTombstone } from './feed-entry'
import { Poll, PollClaim } from './poll'
import { QueueDrop, WorkQueue } from './queue'
import { QueueArchive, QueueMessage } from './queue-message'
import { QueueCursor, QueueDedup, QueueFlow } from './queue-places'
import { QueueSchedule } from './queue-schedule'
import { RecentGroup } from './recent-group'
import { RecentItem } from './recent-item'
import { RecentPolicy, RecentPolicyEpoch, RecentPolicyRollout } from './recent-policy'
import { RecentnKey } from './recentn-key'
import { RecentnSchema } from './recentn-schema'
import { RecentnWriter } from './recentn-writer'

export {
  Feed,
  FeedConsumer,
  FeedDrop,
  FeedEntry,
  FeedTombstone,
  Poll,
  PollClaim,
  QueueArchive,
  QueueCursor,
  QueueDedup,
  QueueDrop,
  QueueFlow,
  QueueMessage,
  QueueSchedule,
  RecentGroup,
  RecentItem,
  RecentnKey,
  RecentnSchema,
  RecentnWriter,
  RecentPolicy,
  RecentPolicyEpoch,
  RecentPolicyRollout,
  Sequence,
  WorkQueue,
}

/** For the `entities` of a DataSource. */
export const entities = [
  RecentnKey,
  WorkQueue,
  QueueArchive,
  QueueCursor,
  QueueDedup,
  QueueDrop,
  QueueFlow,
  QueueMessage,
  QueueSchedule,
  RecentGroup,
  RecentItem,
  RecentPolicy,
  RecentPolicyEpoch,
  RecentPolicyRollout,
  RecentnSchema,
  RecentnWriter,
  Feed,
  FeedConsumer,
  FeedDrop,
  FeedEntry,
  FeedTombstone,
  Sequence,
  Poll,
  PollClaim,
]
