/**
 * Marks of batches: each batch leaves its number in the row of its writer, in its own transaction. So a writer whose
 * connection was lost while committing can learn whether the batch arrived. SQLite loses none, and gets no marks.
 *
 * Invariant: a writer runs one batch at a time, each under the next number. Its row is locked from the mark to the end
 * of the transaction, so that whoever has the lock afterwards knows that the transaction has ended.
 */
import { randomBytes } from 'node:crypto'
import type { Session, Tx } from '../database/engine'

/** Rows of processes that ended without removing theirs are kept for a day: no batch takes that long. */
const KEPT_MS = 24 * 3600 * 1000

/** One of the lanes in which a process commits batches one after the other, and the number of the batch that runs. */
export interface Writer {
  readonly name: string
  readonly batch: bigint
}

/** The name of a new writer: of no other one, in any process. */
export const newWriter = (): string => randomBytes(16).toString('base64url')

/** Removes the rows of writers that are done, by their keys, so that it waits for no other writer. */
export async function forget(session: Session, writers: readonly Writer[]): Promise<void> {
  if (writers.length === 0) return
  const remove = async (tx: Tx) => {
    for (const { name } of writers) await tx.later(`DELETE FROM ${tx.tables.writers} WHERE writer = ?`, [name])
  }
  await session.write(remove, { closing: true })
}

/** The statement that leaves the mark. The row belongs to no other process, so that it never waits. */
export function markSql({ engine, tables, now }: Tx, { name, batch }: Writer): string {
  return (
    `INSERT INTO ${tables.writers} (writer, batch, seen_at_ms) VALUES ('${name}', ${batch}, ${now}) ` +
    `${engine.onDuplicate('writer')} batch = ${engine.proposed('batch')}, seen_at_ms = ${engine.proposed('seen_at_ms')}`
  )
}

/**
 * Leaves the mark, where commits can be lost. It comes before a statement that is awaited. If it went with the COMMIT, and
 * the connection was lost, the server could still leave it after another process has looked for it.
 */
export async function leaveMark(tx: Tx, writer: Writer): Promise<void> {
  if (tx.engine.losesCommits) await tx.later(markSql(tx, writer))
}

/** Whether the writer's last batch is there. Waits until the transaction that it ran in has ended. */
export async function hasArrived(tx: Tx, { name, batch }: Writer): Promise<boolean> {
  const [row] = await tx.rows(
    `SELECT ${tx.engine.bigint('batch')} AS batch FROM ${tx.tables.writers} WHERE writer = ?${tx.engine.forUpdate}`,
    [name],
  )
  return row !== undefined && BigInt(row.batch as string) === batch
}

/** Removes the rows of writers that were not heard of for a day. */
export async function sweepWriters(session: Session): Promise<void> {
  await session.write((tx) => tx.later(`DELETE FROM ${tx.tables.writers} WHERE seen_at_ms < ${tx.now} - ${KEPT_MS}`))
}
