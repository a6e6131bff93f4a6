import type { EngineName } from '../../support/engines'
import { useContext } from '../context'
import { describeAfterCommit } from './after-commit'
import { describeAmbient } from './ambient'
import { describeAmbientEnds } from './ambient-ends'
import { describeAttach } from './attach'
import { describeAttachAgain } from './attach-again'
import { describeAttachedFile } from './attached-file'
import { describeCharsets } from './charsets'
import { describeClusterNodes } from './cluster-nodes'
import { describeConnections } from './connections'
import { describeErrorNumbers } from './error-numbers'
import { describeGathering } from './gathering'
import { describeGroupMembers } from './group-members'
import { describeHandles } from './handles'
import { describeHeldConnections } from './held-connection'
import { describeHeldLocks } from './held-locks'
import { describeIdleStore } from './idle'
import { describeInserts } from './inserts'
import { describeInsideTransactions } from './inside-transactions'
import { useJoining } from './joining'
import { describeJson } from './json'
import { describeKeys } from './keys'
import { describeLifecycle } from './lifecycle'
import { describeLocation } from './location'
import { describeLongTransactions } from './long-transactions'
import { describeMultiplexed } from './multiplexed'
import { describeNames } from './names'
import { describeNamesFound } from './names-found'
import { describeNaming } from './naming'
import { describeOptions } from './options'
import { describeOtherLibraries } from './other-libraries'
import { describeOtherServers } from './other-servers'
import { describeOverview } from './overview'
import { describePasswords } from './passwords'
import { describeReminders } from './reminders'
import { describeSchema } from './schema'
import { describeSeveralHosts } from './several-hosts'
import { describeStatementLimits } from './statement-limits'
import { describeTransactions } from './transactions'

/** A room of the contract: it opens and closes, transactions, keys, idle stores. Each engine's test file calls it and adds nothing. */
export function describeStore(engine: EngineName): void {
  const context = useContext(engine)
  describeTransactions(context)
  describeInsideTransactions(context)
  describeGathering(context)
  describeHeldConnections(context)
  describeHeldLocks(context)
  describeAfterCommit(context)
  describeInserts(context)
  describeAttach(context)
  describe("join: 'ambient'", () => {
    const joining = useJoining(context)
    describeAmbient(context, joining)
    describeAmbientEnds(context, joining)
  })
  describeAttachAgain(context)
  describeAttachedFile(context)
  describeLifecycle(context)
  describeIdleStore(context)
  describeOverview(context)
  describeReminders(context)
  describeOptions(context)
  describeKeys(context)
  describeJson(context)
  describeHandles(context)
}

/** Another: what a store does about its server, connections, accounts, texts and tables. */
export function describeDatabase(engine: EngineName): void {
  const context = useContext(engine)
  describeCharsets(context)
  describeOtherLibraries(context)
  describeOtherServers(context)
  describePasswords(context)
  describeClusterNodes(context)
  describeErrorNumbers(context)
  describeStatementLimits(context)
  describeConnections(context)
  describeLocation(context)
  describeGroupMembers(context)
  describeSeveralHosts(context)
  describeSchema(context)
  describeLongTransactions(context)
  describeMultiplexed(context)
  describeNames(context)
  describeNamesFound(context)
  describeNaming(context)
}
