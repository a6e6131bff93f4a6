/** The mark of a batch of appends, left in the statement that asks for the time and the epoch of the policies. */
import type { Tx } from '../../database/engine'
import { leaveMark, markSql, type Writer } from '../writers'
import { type Moment, momentColumns, momentOf } from './heads'

/** Leaves the mark, once the heads are locked. Resolves to the moment where that costs nothing more, else to null. */
export async function mark(tx: Tx, writer: Writer): Promise<Moment | null> {
  const { engine } = tx
  if (!engine.losesCommits || !engine.returning) {
    await leaveMark(tx, writer)
    return null
  }
  const epoch = `(SELECT epoch FROM ${tx.tables.policyEpoch} WHERE id = 1)`
  const [row] = await tx.rows(`${markSql(tx, writer)} RETURNING ${momentColumns(tx, epoch)}`)
  return momentOf(tx, row)
}
