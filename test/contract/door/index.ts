import type { EngineName } from '../../support/engines'
import { useContext } from '../context'
import { describeDoorFaults } from './faults'
import { describeMovers } from './movers'
import { describeDoorRows } from './rows'
import { describeDoorWriters } from './writers'

/** A room of the contract: what plain SQL inserts. Each engine's test file calls it and adds nothing. */
export function describeDoor(engine: EngineName): void {
  const context = useContext(engine)
  describeDoorRows(context)
  describeMovers(context)
  describeDoorFaults(context)
  describeDoorWriters(context)
}
