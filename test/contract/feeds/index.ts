import type { EngineName } from '../../support/engines'
import { useContext } from '../context'
import { describeFeedChanges } from './changes'
import { describeFeedConsumers } from './consumers'
import { describeFeedConsuming } from './consuming'
import { describeFeedEntries } from './entries'
import { describeFeedExplain } from './explain'
import { describeFeedFollowing } from './follow'
import { describeFeedsFollowedColumns } from './followed-columns'
import { describeFeedsFollowedTombstones } from './followed-tombstones'
import { describeFeedIfVersion } from './if-version'
import { describeFeedLocks } from './locks'
import { describeFeedModel } from './model'
import { describeFeedsNothingMissed } from './nothing-missed'
import { describeFeedPublishing } from './publish'
import { describeFeedsPublishers } from './publishers'
import { describeFeedQuickPuts } from './quick-puts'
import { describeFeedSchemas } from './schemas'
import { describeSequences } from './sequences'
import { describeFeedStatus } from './status'
import { describeFeedTombstones } from './tombstones'
import { describeFeedTransactions } from './transactions'
import { describeFeedWaking } from './waking'

/** A room of the contract: feeds and sequences. Each engine's test file calls it and adds nothing. */
export function describeFeeds(engine: EngineName): void {
  const context = useContext(engine)
  describeFeedEntries(context)
  describeFeedQuickPuts(context)
  describeFeedIfVersion(context)
  describeFeedPublishing(context)
  describeFeedLocks(context)
  describeFeedChanges(context)
  describeFeedConsumers(context)
  describeFeedSchemas(context)
  describeFeedConsuming(context)
  describeFeedTombstones(context)
  describeFeedModel(context)
  describeFeedStatus(context)
  describeFeedFollowing(context)
  describeFeedTransactions(context)
  describeFeedWaking(context)
  describeFeedsNothingMissed(context)
  describeFeedsFollowedColumns(context)
  describeFeedsFollowedTombstones(context)
  describeFeedsPublishers(context)
  describeFeedExplain(context)
  describeSequences(context)
}
