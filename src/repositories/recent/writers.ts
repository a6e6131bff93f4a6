/**
 * Marks of batches: each batch leaves its number in the row of its writer, in its own transaction, so that a writer
 * whose connection was lost while committing can learn whether the batch arrived.
 *
 * Invariant: a writer runs one batch at a time, each under the next number. Its row is locked from the mark to the end
 * of the transaction, so that whoever has the lock afterwards knows that the transaction has ended.
 */
import { randomBytes } from 'node:crypto'
import type { Session, Tx } from '../../database/engine'
import { type Moment, momentColumns, momentOf } from './heads'

/** Rows of processes that ended without removing theirs stay so long: no batch takes that. */
const KEPT_MS = 24 * 3600 * 1000

/** One of the lanes in which a process commits batches one after the other. */
export class Writer {
  readonly name = randomBytes(16).toString('base64url')
  #batch = 0n

  /** The number of the batch that runs. */
  get batch(): bigint {
    return this.#batch
  }

  /** Called once a batch, however often its transaction runs. */
  next(): void {
    this.#batch++
  }
}

/** Leaves the mark; resolves to the moment, which must be asked for once the heads are locked. */
export async function mark(tx: Tx, { name, batch }: Writer): Promise<Moment> {
  const columns = ['writer', 'batch', 'seen_at_ms']
  if (!tx.engine.returning) {
    const moment = await momentOf(tx)
    const upsert = tx.engine.upsert('recentn_writers', 'writer', columns, columns.slice(1), [
      [name, batch, moment.nowMs],
    ])
    await tx.run(upsert.sql, upsert.parameters)
    return moment
  }
  // The one row is nobody else's, so that the statement does not wait between its start, when the time is taken, and its end.
  const [row] = await tx.rows(
    `INSERT INTO recentn_writers (${columns.join(', ')}) VALUES ('${name}', ${batch}, ${tx.now}) ` +
      'ON DUPLICATE KEY UPDATE batch = VALUES(batch), seen_at_ms = VALUES(seen_at_ms) ' +
      `RETURNING ${momentColumns(tx, '(SELECT epoch FROM recent_policy_epoch WHERE id = 1)')}`,
  )
  return momentOf(tx, row)
}

/** Whether the writer's last batch is there. Waits until the transaction that it ran in has ended. */
export async function hasArrived(tx: Tx, { name, batch }: Writer): Promise<boolean> {
  const [row] = await tx.rows(
    `SELECT ${tx.engine.bigint('batch')} AS batch FROM recentn_writers WHERE writer = ?${tx.engine.forUpdate}`,
    [name],
  )
  return row !== undefined && BigInt(row.batch as string) === batch
}

/** Removes the rows of writers that are done. */
export async function forgetWriters(session: Session, writers: readonly Writer[]): Promise<void> {
  for (const { name } of writers) {
    await session.write((tx) => tx.run('DELETE FROM recentn_writers WHERE writer = ?', [name]))
  }
}

/** Removes the rows of writers that were not heard of for a day. */
export async function sweepWriters(session: Session): Promise<void> {
  await session.write((tx) => tx.run(`DELETE FROM recentn_writers WHERE seen_at_ms < ${tx.now} - ${KEPT_MS}`))
}
