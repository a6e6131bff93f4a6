import type { EngineName } from '../../support/engines'
import { useContext } from '../context'
import { describeAttach } from './attach'
import { describeAttachAgain } from './attach-again'
import { describeCharsets } from './charsets'
import { describeInsideTransactions } from './inside-transactions'
import { describeJson } from './json'
import { describeKeys } from './keys'
import { describeLifecycle } from './lifecycle'
import { describeNames } from './names'
import { describeOtherServers } from './other-servers'
import { describeSchema } from './schema'
import { describeTransactions } from './transactions'

/** A room of the contract: it opens and closes, transactions, keys. Each engine's test file calls it and adds nothing. */
export function describeStore(engine: EngineName): void {
  const context = useContext(engine)
  describeTransactions(context)
  describeInsideTransactions(context)
  describeAttach(context)
  describeAttachAgain(context)
  describeCharsets(context)
  describeLifecycle(context)
  describeOtherServers(context)
  describeSchema(context)
  describeNames(context)
  describeKeys(context)
  describeJson(context)
}
