import { QueueDrop, WorkQueue } from './queue'
import { QueueArchive, QueueMessage } from './queue-message'
import { QueueCursor, QueueDedup, QueueFlow } from './queue-places'
import { RecentGroup } from './recent-group'
import { RecentItem } from './recent-item'
import { RecentPolicy, RecentPolicyEpoch, RecentPolicyRollout } from './recent-policy'
import { RecentnSchema } from './recentn-schema'
import { RecentnWriter } from './recentn-writer'

export {
  QueueArchive,
  QueueCursor,
  QueueDedup,
  QueueDrop,
  QueueFlow,
  QueueMessage,
  RecentGroup,
  RecentItem,
  RecentnSchema,
  RecentnWriter,
  RecentPolicy,
  RecentPolicyEpoch,
  RecentPolicyRollout,
  WorkQueue,
}

/** For the `entities` of a DataSource. */
export const entities = [
  WorkQueue,
  QueueArchive,
  QueueCursor,
  QueueDedup,
  QueueDrop,
  QueueFlow,
  QueueMessage,
  RecentGroup,
  RecentItem,
  RecentPolicy,
  RecentPolicyEpoch,
  RecentPolicyRollout,
  RecentnSchema,
  RecentnWriter,
]
