/**
 * Rows of the table `recentn_sequences`: the number given out last under a name. Of kind `feed` they number feeds, and outlive
 * them; of kind `user` they are the application's. Whoever takes numbers holds the row to the end of its transaction.
 */
import type { Reader, Tx } from '../database/engine'

export type SequenceKind = 'feed' | 'user'

/** Makes the row unless it is there; who makes it at the same time is waited for. */
export async function makeSequence(tx: Tx, kind: SequenceKind, name: string): Promise<void> {
  const { sql, parameters } = tx.engine.values([[kind, name, 0n, 0n]])
  await tx.run(
    `INSERT INTO ${tx.tables.sequences} (kind, sequence_name, value, horizon) VALUES ${sql} ` +
      `${tx.engine.onDuplicate('kind, sequence_name')} horizon = horizon`,
    parameters,
  )
}

export interface SequenceRow {
  value: bigint
  horizon: bigint
}

/** The row, with this lock; null when there is none. */
export async function readSequence(
  reader: Reader,
  kind: SequenceKind,
  name: string,
  lock = '',
): Promise<SequenceRow | null> {
  const { bigint } = reader.engine
  const [row] = await reader.rows(
    `SELECT ${bigint('value')} AS value, ${bigint('horizon')} AS horizon FROM ${reader.tables.sequences} WHERE kind = ? AND sequence_name = ?${lock}`,
    [kind, name],
  )
  return row ? { value: BigInt(row.value as string), horizon: BigInt(row.horizon as string) } : null
}

/** Sets what is given; the caller holds the row. */
export async function setSequence(
  tx: Tx,
  kind: SequenceKind,
  name: string,
  row: Pick<SequenceRow, 'value'> & Partial<SequenceRow>,
): Promise<void> {
  const sets = Object.keys(row).map((column) => `${column} = ?`)
  await tx.run(`UPDATE ${tx.tables.sequences} SET ${sets.join(', ')} WHERE kind = ? AND sequence_name = ?`, [
    ...Object.values(row),
    kind,
    name,
  ])
}
