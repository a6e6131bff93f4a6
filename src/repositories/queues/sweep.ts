/**
 * What time does to queues, for the sweeper: due messages of all queues each round; from time to time, messages and dedup ids
 * that are kept no longer. Any number of processes may sweep at the same time.
 */
import type { Session } from '../../database/engine'
import { performance } from '../../real-time'
import { answersTo, isYes, type QuestionWords, whether } from '../question'
import { oldDedupsSql, sweepDedups } from './dedups'
import { idleFlowsSql, sweepFlows } from './flows'
import { anyLimited, applyGroupLimit, mendLimits } from './group-limit'
import type { QueueMemory } from './memory'
import { dueQueues, promoteQueue } from './promote'
import { clearDropped, removeRows } from './removal'

/** The pause between two removals, when the first has left nothing. */
const REMOVAL_MS = 3000
/** The pause between two looks for message groups whose places are miscounted. */
const MENDING_MS = 60_000
/** Batches of due messages of one queue, before the next queue has its turn. */
const BATCHES = 5

/** What a round has done; `more` when the next should follow at once, `held` when others have locked what is due. */
export interface QueueSweep {
  moved: number
  removed: number
  more: boolean
  held: boolean
}

/** One round. An error with one queue does not keep the others waiting; the first one is thrown at the end. */
export async function sweepQueues(
  session: Session,
  memory: QueueMemory,
  { all = false }: { all?: boolean } = {},
): Promise<QueueSweep> {
  const round = { moved: 0, removed: 0, more: false, held: false }
  const errors: unknown[] = []
  for (const { id, isLimitChanged } of await session.read(dueQueues)) {
    try {
      if (isLimitChanged) await applyGroupLimit(session, memory, id)
      const { moved, more } = await promoteQueue(session, memory, id, BATCHES)
      round.moved += moved
      round.more ||= more
      round.held ||= moved === 0 && !isLimitChanged
    } catch (error) {
      errors.push(error)
    }
  }
  if (all || performance.now() - memory.removedAt >= REMOVAL_MS) {
    const { removed, more, isAnyLimited } = await removeOld(session)
    round.removed = removed
    if (more) round.more = true
    else memory.removedAt = performance.now()
    if (isAnyLimited && (all || performance.now() - memory.mendedAt >= MENDING_MS)) {
      await mendLimits(session, memory)
      memory.mendedAt = performance.now()
    }
  }
  if (errors.length > 0) throw errors[0]
  return round
}

/** How many archived messages it removed, whether there is more of anything to remove, and whether a queue has a limit. */
async function removeOld(session: Session): Promise<{ removed: number; more: boolean; isAnyLimited: boolean }> {
  const [isAny, limited] = await session.read((reader) => answersTo(reader, [anyOld, anyLimited]))
  const isAnyLimited = isYes(limited)
  if (!isYes(isAny)) return { removed: 0, more: false, isAnyLimited }
  const dropped = await session.read((reader) =>
    reader.rows(`SELECT ${reader.engine.bigint('queue_id')} AS queue_id FROM ${reader.tables.queueDrops} LIMIT 10`),
  )
  for (const { queue_id } of dropped) await clearDropped(session, BigInt(queue_id as string))
  const removed = await sweepArchive(session)
  const dedups = await session.write((tx) => sweepDedups(tx))
  const flows = await sweepFlows(session)
  return { removed, more: dropped.length > 0 || removed > 0 || dedups > 0 || flows, isAnyLimited }
}

const ARCHIVED = 500

/** The archived messages that have been kept long enough. */
const archivedSql = ({ tables, now }: QuestionWords, what: string) =>
  `SELECT ${what} FROM ${tables.queues} ` +
  `JOIN ${tables.queueArchive} ON ${tables.queueArchive}.queue_id = ${tables.queues}.id AND archived_at_ms <= ${now} - retention_seconds * 1000 ` +
  'WHERE retention_seconds IS NOT NULL'

/** Whether there is something to remove. */
const anyOld = whether((words) => [
  `SELECT 1 FROM ${words.tables.queueDrops}`,
  archivedSql(words, '1'),
  oldDedupsSql(words, '1'),
  idleFlowsSql(words, '1'),
])

/** Removes archived messages that have been kept long enough. */
async function sweepArchive(session: Session): Promise<number> {
  const rows = await session.read((reader) =>
    reader.rows(
      `${archivedSql(reader, `${reader.engine.bigint(`${reader.tables.queueArchive}.id`)} AS id`)} LIMIT ${ARCHIVED}`,
    ),
  )
  if (rows.length > 0) await session.write((tx) => removeRows(tx, rows, tx.tables.queueArchive))
  return rows.length
}
