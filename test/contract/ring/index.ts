import type { EngineName } from '../../support/engines'
import { useContext } from '../context'
import { describeAppend } from './append'
import { describeBatchedAppends } from './batched-appends'
import { describeBatchedFaults } from './batched-faults'
import { describeBatchedLocks } from './batched-locks'
import { describeBatchedModel } from './batched-model'
import { describeBatchedRules } from './batched-rules'
import { describeBatchedTexts } from './batched-texts'
import { describeBigint } from './bigint'
import { describeDistinct } from './distinct'
import { describeErasureRaces } from './erasure-races'
import { describeEventIds } from './event-ids'
import { describeExpiry } from './expiry'
import { describeExplain } from './explain'
import { describeForgetting } from './forgetting'
import { describeGroupsWatch } from './groups-watch'
import { describeGroupsWatchMuch } from './groups-watch-much'
import { describeIfChanged } from './if-changed'
import { describeInput } from './input'
import { describeItem } from './item'
import { describeLosses } from './losses'
import { describeMemberWindows } from './member-windows'
import { describeMembers } from './members'
import { describeMergedReads } from './merged-reads'
import { describeNames } from './names'
import { describePayloads } from './payloads'
import { describePolicies } from './policies'
import { describeRead } from './read'
import { describeRemoval } from './removal'
import { describeReplacing } from './replacing'
import { describeRollouts } from './rollouts'
import { describeSettings } from './settings'
import { describeTags } from './tags'
import { describeThoroughReads } from './thorough-reads'
import { describeTop } from './top'
import { describeWindows } from './windows'
import { describeWoken } from './woken'

/** A room of the contract: groups, their items, settings and members. Each engine's test file calls it and adds nothing. */
export function describeRing(engine: EngineName): void {
  const context = useContext(engine)
  describeAppend(context)
  describeBatchedAppends(context)
  describeBatchedFaults(context)
  describeBatchedLocks(context)
  describeBatchedRules(context)
  describeBatchedTexts(context)
  describeBatchedModel(context)
  describeEventIds(context)
  describeRead(context)
  describeThoroughReads(context)
  describeWindows(context)
  describeMergedReads(context)
  describeItem(context)
  describeTags(context)
  describeIfChanged(context)
  describeGroupsWatch(context)
  describeGroupsWatchMuch(context)
  describeWoken(context)
  describeRemoval(context)
  describeSettings(context)
  describeReplacing(context)
  describeDistinct(context)
  describeTop(context)
  describePolicies(context)
  describeLosses(context)
  describeMembers(context)
  describeMemberWindows(context)
  describeErasureRaces(context)
  describeExpiry(context)
  describeForgetting(context)
  describeRollouts(context)
  describeNames(context)
  describePayloads(context)
  describeBigint(context)
  describeInput(context)
  describeExplain(context)
}
