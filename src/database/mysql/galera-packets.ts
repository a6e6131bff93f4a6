/**
 * Packets on a node of a Galera cluster: one statement with an effect in each. Owns which drivers have such a server.
 *
 * Invariant: no statement runs outside of its transaction unnoticed. If another node's change aborts the transaction while
 * the server answers a statement that others follow in the packet, the server runs the others outside of it, and reports
 * nothing (MariaDB 11.8.6). Reads may follow, because they change nothing, and COMMIT may, behind a witness.
 */
import { type DataSource, QueryFailedError } from 'typeorm'

/** Has no effect; its answer says whether the session is still in a transaction. */
export const WITNESS = 'DO 0'
const IN_TRANSACTION = 1

const parting = new WeakSet<object>()

/** From now on a packet of this DataSource has one statement with an effect. */
export function partStatements({ driver }: DataSource): void {
  parting.add(driver)
}

export function mustPart(driver: object): boolean {
  return parting.has(driver)
}

/** Throws a conflict if, by the witness's answer, the transaction had ended before its COMMIT: nothing of it is stored. */
export function requireTransaction(answer: unknown): void {
  if ((answer as { serverStatus: number }).serverStatus & IN_TRANSACTION) return
  const error = new Error('Deadlock: the node has aborted the transaction before its COMMIT')
  throw new QueryFailedError(WITNESS, undefined, Object.assign(error, { errno: 1213, code: 'ER_LOCK_DEADLOCK' }))
}
