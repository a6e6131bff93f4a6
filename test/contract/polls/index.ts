import type { EngineName } from '../../support/engines'
import { useContext } from '../context'
import { describePollClaims } from './claims'
import { describePollConnections } from './connections'
import { describePollCursors } from './cursor'
import { describePollCycles } from './cycle'
import { describePollHanded } from './handed'
import { describePollIndexes } from './indexes'
import { describePollKeys } from './keys'
import { describePollLocks } from './locks'
import { describePollMany } from './many'
import { describePollOptions } from './options'
import { describePollPurposes } from './purposes'
import { describePollRenewals } from './renewals'
import { describePollResults } from './results'
import { describePollRows } from './rows'
import { describePollShapes } from './shapes'
import { describePollTables } from './tables'
import { describePollTimes } from './times'
import { describePollUnclaimable } from './unclaimable'
import { describePollWheres } from './wheres'
import { describePollWords } from './words'

/** A room of the contract: polls of tables. Each engine's test file calls it and adds nothing. */
export function describePolls(engine: EngineName): void {
  const context = useContext(engine)
  describePollShapes(context)
  describePollClaims(context)
  describePollRows(context)
  describePollResults(context)
  describePollWords(context)
  describePollRenewals(context)
  describePollLocks(context)
  describePollUnclaimable(context)
  describePollHanded(context)
  describePollOptions(context)
  describePollKeys(context)
  describePollPurposes(context)
  describePollTables(context)
  describePollTimes(context)
  describePollWheres(context)
  describePollIndexes(context)
  describePollCursors(context)
  describePollCycles(context)
  describePollMany(context)
  describePollConnections(context)
}
