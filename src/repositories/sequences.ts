/**
 * Sequences of the application's own: numbers by name, each given out once. The row is locked from the taking of the
 * numbers to the end of the transaction: alone that is a moment, and inside of a caller's transaction it means that
 * numbers that were rolled back are given out again, and that there are no gaps.
 */
import type { DataSource, EntityManager } from 'typeorm'
import type { Session, Tx } from '../database/engine'
import { sessionOf } from '../database/session'
import { RecentnError } from '../errors'
import { argumentFaults, refuse } from '../fields/field'
import { MAX_ID, NAME, whole } from '../fields/rules'
import { makeSequence, readSequence, setSequence } from './sequence-rows'

const COUNT = whole(1, 1_000_000)

export interface Sequences {
  /**
   * Takes `count` numbers that follow each other (1 to 1,000,000; 1 when left out) and resolves to the first; the first
   * of all is 1. In a transaction others wait for its end, and none is lost. Throws `sequence_exhausted` after 2^63 − 1.
   */
  next(name: string, count?: number): Promise<bigint>
}

export class SequenceRepository implements Sequences {
  readonly #session: Session

  constructor(source: DataSource | EntityManager | Session) {
    this.#session = sessionOf(source)
  }

  async next(name: string, count = 1): Promise<bigint> {
    refuse([...argumentFaults('name', name, NAME), ...argumentFaults('count', count, COUNT)])
    return this.#session.write((tx) => take(tx, name, BigInt(count)))
  }
}

async function take(tx: Tx, name: string, count: bigint): Promise<bigint> {
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
