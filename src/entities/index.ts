import { RecentGroup } from './recent-group'
import { RecentItem } from './recent-item'
import { RecentPolicy, RecentPolicyEpoch, RecentPolicyRollout } from './recent-policy'
import { RecentnSchema } from './recentn-schema'

export { RecentGroup, RecentItem, RecentnSchema, RecentPolicy, RecentPolicyEpoch, RecentPolicyRollout }

/** For the `entities` of a DataSource. */
export const entities = [RecentGroup, RecentItem, RecentPolicy, RecentPolicyEpoch, RecentPolicyRollout, RecentnSchema]
