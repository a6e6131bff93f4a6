/** The contract: what every engine must do. Each engine's test file calls this and adds nothing. */
import type { EngineName } from '../../support/engines'
import { describeAppend } from './append'
import { describeAttach } from './attach'
import { describeAttachAgain } from './attach-again'
import { describeBatchedAppends } from './batched-appends'
import { describeBatchedFaults } from './batched-faults'
import { describeBatchedModel } from './batched-model'
import { describeBatchedRules } from './batched-rules'
import { describeBatchedTexts } from './batched-texts'
import { describeBigint } from './bigint'
import { describeCarefulReads } from './careful-reads'
import { useContext } from './context'
import { describeDistinct } from './distinct'
import { describeEventIds } from './event-ids'
import { describeExpiry } from './expiry'
import { describeExplain } from './explain'
import { describeFeedChanges } from './feeds-changes'
import { describeFeedConsumers } from './feeds-consumers'
import { describeFeedEntries } from './feeds-entries'
import { describeFeedExplain } from './feeds-explain'
import { describeFeedFollowing } from './feeds-follow'
import { describeFeedsFollowedColumns } from './feeds-followed-columns'
import { describeFeedLocks } from './feeds-locks'
import { describeFeedModel } from './feeds-model'
import { describeFeedsNothingMissed } from './feeds-nothing-missed'
import { describeFeedPublishing } from './feeds-publish'
import { describeFeedsPublishers } from './feeds-publishers'
import { describeRecentGroupsFeed } from './feeds-recent-groups'
import { describeSequences } from './feeds-sequences'
import { describeFeedStatus } from './feeds-status'
import { describeFeedTombstones } from './feeds-tombstones'
import { describeFeedTransactions } from './feeds-transactions'
import { describeGroupsWatch } from './groups-watch'
import { describeGroupsWatchMuch } from './groups-watch-much'
import { describeIfChanged } from './if-changed'
import { describeInput } from './input'
import { describeInsideTransactions } from './inside-transactions'
import { describeKeys } from './keys'
import { describeLifecycle } from './lifecycle'
import { describeMembers } from './members'
import { describeMergedReads } from './merged-reads'
import { describeNames } from './names'
import { describePayloads } from './payloads'
import { describePolicies } from './policies'
import { describePollClaims } from './poll-claims'
import { describePollCursors } from './poll-cursor'
import { describePollIndexes } from './poll-index'
import { describePollKeys } from './poll-keys'
import { describePollOptions } from './poll-options'
import { describePollPurposes } from './poll-purposes'
import { describePollRenewals } from './poll-renewals'
import { describePollResults } from './poll-results'
import { describePollRows } from './poll-rows'
import { describePollShapes } from './poll-shapes'
import { describePollTimes } from './poll-times'
import { describePollWheres } from './poll-wheres'
import { describeQueueArchives } from './queues-archive'
import { describeQueueAttributes } from './queues-attributes'
import { describeQueueBatching } from './queues-batching'
import { describeQueueBodies } from './queues-bodies'
import { describeQueueCycles } from './queues-cycle'
import { describeQueueDeadLetters } from './queues-dead-letters'
import { describeQueueExplain } from './queues-explain'
import { describeQueueFairness } from './queues-fairness'
import { describeQueueHandles } from './queues-handles'
import { describeQueuesInTheWay } from './queues-in-the-way'
import { describeQueueNames } from './queues-names'
import { describeQueueOrder } from './queues-order'
import { describeQueuePeeks } from './queues-peek'
import { describeQueueReceives } from './queues-receive'
import { describeQueueSends } from './queues-send'
import { describeQueueSettles } from './queues-settle'
import { describeQueueTransactions } from './queues-transactions'
import { describeQueueWaits } from './queues-wait'
import { describeRead } from './read'
import { describeRemoval } from './removal'
import { describeSchema } from './schema'
import { describeSettings } from './settings'
import { describeTags } from './tags'
import { describeTransactions } from './transactions'

export function describeContract(engine: EngineName): void {
  const context = useContext(engine)
  describeAppend(context)
  describeBatchedAppends(context)
  describeBatchedFaults(context)
  describeBatchedRules(context)
  describeBatchedTexts(context)
  describeBatchedModel(context)
  describeEventIds(context)
  describeRead(context)
  describeCarefulReads(context)
  describeMergedReads(context)
  describeTags(context)
  describeIfChanged(context)
  describeGroupsWatch(context)
  describeGroupsWatchMuch(context)
  describeRemoval(context)
  describeSettings(context)
  describeDistinct(context)
  describePolicies(context)
  describeMembers(context)
  describeExpiry(context)
  describeNames(context)
  describePayloads(context)
  describeBigint(context)
  describeInput(context)
  describeTransactions(context)
  describeInsideTransactions(context)
  describeAttach(context)
  describeAttachAgain(context)
  describeLifecycle(context)
  describeSchema(context)
  describeExplain(context)
  describeQueueAttributes(context)
  describeQueueNames(context)
  describeQueueSends(context)
  describeQueueBodies(context)
  describeQueueReceives(context)
  describeQueueWaits(context)
  describeQueueSettles(context)
  describeQueueHandles(context)
  describeQueueDeadLetters(context)
  describeQueueArchives(context)
  describeQueuePeeks(context)
  describeQueueOrder(context)
  describeQueueCycles(context)
  describeQueueFairness(context)
  describeQueueTransactions(context)
  describeQueueBatching(context)
  describeQueueExplain(context)
  describeQueuesInTheWay(context)
  describePollShapes(context)
  describePollClaims(context)
  describePollRows(context)
  describePollResults(context)
  describePollRenewals(context)
  describePollOptions(context)
  describePollKeys(context)
  describePollPurposes(context)
  describePollTimes(context)
  describePollWheres(context)
  describePollIndexes(context)
  describePollCursors(context)
  describeFeedEntries(context)
  describeFeedPublishing(context)
  describeFeedLocks(context)
  describeFeedChanges(context)
  describeFeedConsumers(context)
  describeFeedTombstones(context)
  describeFeedModel(context)
  describeFeedStatus(context)
  describeRecentGroupsFeed(context)
  describeFeedFollowing(context)
  describeFeedTransactions(context)
  describeFeedsNothingMissed(context)
  describeFeedsFollowedColumns(context)
  describeFeedsPublishers(context)
  describeFeedExplain(context)
  describeSequences(context)
  describeKeys(context)
}
