/**
 * What time does to queues, for the sweeper: due messages of all queues each round; what is kept for a time and then
 * removed now and then. Any number of processes may sweep at once.
 */
import type { Session, Tx } from '../../database/engine'
import { sweepFlows } from './flows'
import { clearDropped, removeRows } from './removal'
import { sweepDedups } from './send'

/** One round of what is not urgent; resolves to whether there is more of it. */
export async function sweepRest(session: Session): Promise<boolean> {
  const dropped = await session.read((reader) =>
    reader.rows(`SELECT ${reader.engine.bigint('queue_id')} AS queue_id FROM queue_drops LIMIT 10`),
  )
  for (const { queue_id } of dropped) {
    await clearDropped(session, BigInt(queue_id as string))
  }
  const archived = await session.write((tx) => sweepArchive(tx))
  const dedups = await session.write((tx) => sweepDedups(tx))
  await session.write((tx) => sweepFlows(tx))
  return dropped.length > 0 || archived > 0 || dedups > 0
}

const ARCHIVED = 500

/** Archived messages that are kept no longer. */
async function sweepArchive(tx: Tx): Promise<number> {
  const { engine } = tx
  const queues = await tx.rows(
    `SELECT ${engine.bigint('id')} AS id, ${tx.now} - retention_seconds * 1000 AS until FROM queues WHERE retention_seconds IS NOT NULL`,
  )
  let removed = 0
  for (const { id, until } of queues) {
    const rows = await tx.rows(
      `SELECT ${engine.bigint('id')} AS id FROM queue_archive WHERE queue_id = ? AND archived_at_ms <= ? ` +
        `ORDER BY archived_at_ms, queue_archive.id LIMIT ${ARCHIVED}${engine.forUpdateSkipLocked}`,
      [id as string, Number(until)],
    )
    await removeRows(tx, rows, 'queue_archive')
    removed += rows.length
  }
  return removed
}
