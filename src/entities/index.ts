import { RecentGroup } from './recent-group'
import { RecentItem } from './recent-item'
import { RecentPolicy, RecentPolicyEpoch, RecentPolicyRollout } from './recent-policy'
import { RecentnSchema } from './recentn-schema'
import { RecentnWriter } from './recentn-writer'

export { RecentGroup, RecentItem, RecentnSchema, RecentnWriter, RecentPolicy, RecentPolicyEpoch, RecentPolicyRollout }

/** For the `entities` of a DataSource. */
export const entities = [
  RecentGroup,
  RecentItem,
  RecentPolicy,
  RecentPolicyEpoch,
  RecentPolicyRollout,
  RecentnSchema,
  RecentnWriter,
]
