/**
 * What time does to queues, for the sweeper: due messages of all queues each round; what is kept for a time and then
 * removed now and then. Any number of processes may sweep at once.
 */
import type { Parameter, Session, Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import { sweepFlows } from './flows'
import { clearDropped, removeRows } from './removal'
import { DEDUP_MS } from './send'

/** One round of what is not urgent: how many archived messages it removed, and whether there is more of anything. */
export async function sweepRest(session: Session): Promise<{ removed: number; more: boolean }> {
  const dropped = await session.read((reader) =>
    reader.rows(`SELECT ${reader.engine.bigint('queue_id')} AS queue_id FROM ${reader.tables.queueDrops} LIMIT 10`),
  )
  for (const { queue_id } of dropped) {
    await clearDropped(session, BigInt(queue_id as string))
  }
  const archived = await sweepArchive(session)
  const dedups = await session.write((tx) => sweepDedups(tx))
  const flows = await sweepFlows(session)
  return { removed: archived, more: dropped.length > 0 || archived > 0 || dedups > 0 || flows }
}

const ARCHIVED = 500

/** Archived messages that are kept no longer. */
async function sweepArchive(session: Session): Promise<number> {
  const rows = await session.read((reader) =>
    reader.rows(
      `SELECT ${reader.engine.bigint(`${reader.tables.queueArchive}.id`)} AS id FROM ${reader.tables.queues} ` +
        `JOIN ${reader.tables.queueArchive} ON ${reader.tables.queueArchive}.queue_id = ${reader.tables.queues}.id AND archived_at_ms <= ${reader.now} - retention_seconds * 1000 ` +
        `WHERE retention_seconds IS NOT NULL LIMIT ${ARCHIVED}`,
    ),
  )
  if (rows.length > 0) await session.write((tx) => removeRows(tx, rows, tx.tables.queueArchive))
  return rows.length
}

/** Dedup ids that are forgotten. */
async function sweepDedups(tx: Tx): Promise<number> {
  const rows = await tx.rows(
    `SELECT ${tx.engine.bigint('queue_id')} AS queue_id, dedup_id FROM ${tx.tables.queueDedups} ` +
      `WHERE sent_at_ms <= ${tx.now} - ${DEDUP_MS} ORDER BY sent_at_ms LIMIT 500${tx.engine.forUpdateSkipLocked}`,
  )
  for (const chunk of chunksOf(rows, 100)) {
    const where = chunk.map(() => '(queue_id = ? AND dedup_id = ?)').join(' OR ')
    await tx.run(
      `DELETE FROM ${tx.tables.queueDedups} WHERE ${where}`,
      chunk.flatMap(({ queue_id, dedup_id }) => [queue_id, dedup_id] as Parameter[]),
    )
  }
  return rows.length
}
