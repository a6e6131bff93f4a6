/**
 * Sequences: rows of `recentn_sequences`, each with the last number given out under a name. Those of kind `feed` number the
 * changes of feeds, and outlive them; those of kind `user` are the application's, and those of kind `door` count what was moved.
 *
 * Invariant: whoever takes numbers locks the row and holds it until its transaction ends. Numbers of a transaction that
 * is rolled back are given out again, so a sequence that is used in transactions has no gaps.
 */
import type { DataSource, EntityManager } from 'typeorm'
import { sessionOf } from '../database/attached/attach'
import type { Reader, Session, Tx } from '../database/engine'
import { argumentFaults, refuse } from '../fields/field'
import { MAX_ID, nameFaults, whole } from '../fields/rules'
import { RecentnError } from '../shared/errors'

const COUNT = whole(1, 1_000_000)

export interface Sequences {
  /**
   * Takes `count` consecutive numbers (1 to 1,000,000, by default 1) and resolves to the first of them. A new sequence
   * starts at 1. In a transaction, other callers wait until it ends, and a rollback gives the numbers back. Throws
   * `sequence_exhausted` after 2^63 − 1.
   */
  next(name: string, count?: number): Promise<bigint>
}

export class SequenceRepository implements Sequences {
  readonly #session: Session

  constructor(source: DataSource | EntityManager | Session) {
    this.#session = sessionOf(source)
  }

  async next(name: string, count = 1): Promise<bigint> {
    refuse([...nameFaults('name', name), ...argumentFaults('count', count, COUNT)])
    return this.#session.write((tx) => takeNumbers(tx, name, BigInt(count)))
  }
}

async function takeNumbers(tx: Tx, name: string, count: bigint): Promise<bigint> {
  const { forUpdate } = tx.engine
  let row = await readSequence(tx, 'user', name, forUpdate)
  if (row === null) {
    await makeSequence(tx, 'user', name)
    row = await readSequence(tx, 'user', name, forUpdate)
  }
  const last = row?.value ?? 0n
  if (last > MAX_ID - count) {
    throw new RecentnError(
      'sequence_exhausted',
      `The sequence ${JSON.stringify(name)} has ${MAX_ID - last} numbers left`,
    )
  }
  await setSequence(tx, 'user', name, { value: last + count })
  return last + 1n
}

type SequenceKind = 'feed' | 'user' | 'door'

export interface SequenceRow {
  /** The last number given out. */
  value: bigint
  /** The greatest number of a removed tombstone of the feed; 0 for other sequences. */
  horizon: bigint
}

/** Makes the row unless it exists. Two transactions that make it at the same time wait for each other. */
export function makeSequence(tx: Tx, kind: SequenceKind, name: string): Promise<void> {
  const columns = ['kind', 'sequence_name', 'value', 'horizon']
  return tx.later(
    tx.engine.upsert(tx.tables.sequences, 'kind, sequence_name', columns, ['kind'], [[kind, name, 0n, 0n]]),
  )
}

/** The row, read with this lock; null when it does not exist. `value`: SQL that reads the value, and may remember it. */
export async function readSequence(
  reader: Reader,
  kind: SequenceKind,
  name: string,
  lock = '',
  value = 'value',
): Promise<SequenceRow | null> {
  const { bigint } = reader.engine
  const [row] = await reader.rows(
    `SELECT ${bigint(value)} AS value, ${bigint('horizon')} AS horizon FROM ${reader.tables.sequences} WHERE kind = ? AND sequence_name = ?${lock}`,
    [kind, name],
  )
  return row ? { value: BigInt(row.value as string), horizon: BigInt(row.horizon as string) } : null
}

/** Sets the columns that are given; the caller holds the row. */
export async function setSequence(
  tx: Tx,
  kind: SequenceKind,
  name: string,
  row: Pick<SequenceRow, 'value'> & Partial<SequenceRow>,
): Promise<void> {
  const sets = Object.keys(row).map((column) => `${column} = ?`)
  await tx.later(`UPDATE ${tx.tables.sequences} SET ${sets.join(', ')} WHERE kind = ? AND sequence_name = ?`, [
    ...Object.values(row),
    kind,
    name,
  ])
}
