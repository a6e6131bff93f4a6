import type { EngineName } from '../../support/engines'
import { useContext } from '../context'
import { describeQueueArchives } from './archive'
import { describeQueueAttributes } from './attributes'
import { describeQueueBatching } from './batching'
import { describeQueueBodies } from './bodies'
import { describeQueueCutOffs } from './cut-off'
import { describeQueueCycles } from './cycle'
import { describeQueueDeadLetters } from './dead-letters'
import { describeQueueDeaths } from './deaths'
import { describeQueueDryRuns } from './dry-runs'
import { describeQueueErrors } from './errors'
import { describeQueueExplain } from './explain'
import { describeQueueFailures } from './failures'
import { describeQueueFairness } from './fairness'
import { describeFullQueues } from './full'
import { describeGroupConcurrency } from './group-concurrency'
import { describeHandedOver } from './handed-over'
import { describeQueueHandles } from './handles'
import { describeQueueHistory } from './history'
import { describeQueuesInTheWay } from './in-the-way'
import { describeKeyCosts } from './key-costs'
import { describeQueueKeys } from './keys'
import { describeQueueLetters } from './letters'
import { describeListedQueues } from './listed'
import { describeMessageAttributes } from './message-attributes'
import { describeQueuesMidway } from './midway'
import { describeQueueNames } from './names'
import { describeQueueOrder } from './order'
import { describeQueuePeeks } from './peek'
import { describeQueueQuickSends } from './quick-send'
import { describeQueueReceives } from './receive'
import { describeReceivers } from './receivers'
import { describeSchedules } from './schedules'
import { describeQueueSends } from './send'
import { describeQueueSettings } from './settings'
import { describeQueueSettles } from './settle'
import { describeQueueTransactions } from './transactions'
import { describeTurns } from './turns'
import { describeQueueWaits } from './wait'
import { describeQueuesWoken } from './woken'

/** A room of the contract: work queues. Each engine's test file calls it and adds nothing. */
export function describeQueues(engine: EngineName): void {
  const context = useContext(engine)
  describeQueueAttributes(context)
  describeQueueSettings(context)
  describeQueueNames(context)
  describeQueueSends(context)
  describeQueueQuickSends(context)
  describeFullQueues(context)
  describeQueueBodies(context)
  describeMessageAttributes(context)
  describeQueueReceives(context)
  describeQueueWaits(context)
  describeHandedOver(context)
  describeQueuesWoken(context)
  describeQueueSettles(context)
  describeQueueHandles(context)
  describeQueueDeadLetters(context)
  describeQueueDeaths(context)
  describeQueueLetters(context)
  describeListedQueues(context)
  describeQueueDryRuns(context)
  describeQueueErrors(context)
  describeQueueFailures(context)
  describeQueueHistory(context)
  describeQueueArchives(context)
  describeReceivers(context)
  describeQueuePeeks(context)
  describeQueueOrder(context)
  describeQueueCycles(context)
  describeQueueFairness(context)
  describeGroupConcurrency(context)
  describeQueueKeys(context)
  describeTurns(context)
  describeKeyCosts(context)
  describeSchedules(context)
  describeQueueTransactions(context)
  describeQueueBatching(context)
  describeQueueExplain(context)
  describeQueuesInTheWay(context)
  describeQueuesMidway(context)
  describeQueueCutOffs(context)
}
