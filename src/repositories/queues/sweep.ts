/**
 * The effects of time on queues, for the sweeper: due messages of all queues each round; from time to time, messages and dedup ids
 * that are kept no longer. Any number of processes may sweep at the same time.
 */
import type { Reader, Session, Tx } from '../../database/engine'
import { performance } from '../../shared/platform'
import {
  answersTo,
  type DueSubject,
  isYes,
  type PollAnswer,
  type PollFacts,
  type PollQuestion,
  whether,
} from '../reminders'
import { idleFlowsSql, sweepFlows } from './groups/flows'
import { anyMendable, applyGroupLimit, mendLimits } from './groups/group-limit'
import { oldTurnsSql, sweepTurns } from './groups/turns'
import { releaseOverdue } from './keys/key-turns'
import type { QueueMemory } from './memory'
import { clearDropped, removeRows } from './removal'
import { oldDedupsSql, sweepDedups } from './send/dedups'
import { type QueueWork, queueWork } from './settle/looks'
import { promoteQueue } from './settle/promote'

/** The pause between two removals, when the first has left nothing. */
const REMOVAL_MS = 3000
/** The pause between two looks for message groups whose places are miscounted. */
const MENDING_MS = 60_000
/** Batches of due messages of one queue, before the next queue has its turn. */
const BATCHES = 5

/** The result of a round; `more` when the next should follow at once, `held` when others have locked what is due. */
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
  const due = await session.read((reader) => dueQueues(reader, memory, all))
  round.more = due.more
  for (const { id, reminders, isReminded, work } of due.queues) {
    try {
      if (work?.isLimitChanged) await applyGroupLimit(session, memory, id)
      if (work?.isDue) {
        const { moved, more } = await promoteQueue(session, memory, id, BATCHES)
        round.moved += moved
        round.more ||= more
        round.held ||= moved === 0 && !work.isLimitChanged
      }
      if (isReminded || isWork(work)) await remindAgain(session, memory, id, reminders)
    } catch (error) {
      memory.reminders.beLate(id)
      errors.push(error)
    }
  }
  if (all || performance.now() - memory.removedAt >= REMOVAL_MS) {
    const { removed, more } = await removeOld(session, memory, all)
    round.removed = removed
    if (more) round.more = true
    else memory.removedAt = performance.now()
  }
  if (errors.length > 0) throw errors[0]
  return round
}

interface DueQueue extends DueSubject {
  /** Null for a queue that is gone. */
  work: QueueWork | null
}

const isWork = (work: QueueWork | null) => work !== null && (work.isDue || work.isLimitChanged)

/** The queues to look at; with `all`, those too that have no reminder. */
async function dueQueues(
  reader: Reader,
  memory: QueueMemory,
  all: boolean,
): Promise<{ queues: DueQueue[]; more: boolean }> {
  const { subjects, more } = await memory.reminders.due(reader)
  const ids = subjects.map(({ id }) => id)
  const work = await queueWork(reader, all ? null : ids)
  const reminded = new Set(ids)
  for (const [id, found] of work)
    if (!reminded.has(id) && isWork(found)) subjects.push({ id, reminders: [], isReminded: false })
  return { queues: subjects.map((one) => ({ ...one, work: work.get(one.id) ?? null })), more }
}

/** Messages that others have locked are looked at again after this time. */
const AGAIN_MS = 500

/** In the place of these reminders, one for what is due next. */
async function remindAgain(
  session: Session,
  memory: QueueMemory,
  id: bigint,
  reminders: readonly bigint[],
): Promise<void> {
  const again = async (tx: Tx) => {
    // First: whoever writes a message now, and relies on a reminder, relies on a later one.
    await memory.reminders.done(tx, reminders)
    const work = (await queueWork(tx, [id])).get(id) ?? null
    if (isWork(work)) await memory.reminders.remind(tx, id, AGAIN_MS)
    else if (work?.dueInMs != null) await memory.reminders.remind(tx, id, work.dueInMs)
  }
  await session.write(again, { arrived: async () => false })
}

/** Queues of one removal: the others have their turn in the next ones. */
const REMOVAL_QUEUES = 15

/** How many archived messages it removed, and whether there is more of anything to remove. */
async function removeOld(
  session: Session,
  memory: QueueMemory,
  all: boolean,
): Promise<{ removed: number; more: boolean }> {
  const round = memory.removal
  if (round.to === 0n) round.to = await session.read(async (reader) => endOf(await answersTo(reader, [nextEnd(0n)])))
  if (all || round.after === 0n) {
    memory.isMending = all || performance.now() - memory.mendedAt >= MENDING_MS
    if (memory.isMending) memory.mendedAt = performance.now()
  }
  const which = all ? 'IS NOT NULL' : `BETWEEN ${round.after + 1n} AND ${round.to}`
  const [isAny, isMendable, ...end] = await session.read((reader) =>
    answersTo(reader, [anyOld(which), anyMendable(which), nextEnd(round.to)]),
  )
  if (memory.isMending && isYes(isMendable)) {
    await mendLimits(session, memory, which)
    await releaseOverdue(session, memory, which)
  }
  const done = isYes(isAny) ? await removeOf(session, which) : { removed: 0, more: false }
  if (done.more) return done
  // Where none come after them, it begins again.
  const to = endOf(end)
  memory.removal = { after: to > round.to ? round.to : 0n, to }
  return done
}

const endOf = ([end]: readonly PollAnswer[]) => BigInt(end ?? 0)

/** The last of the queues after this id that are next; of the first ones, where there are none; 0 where there are no queues. */
function nextEnd(after: bigint): PollQuestion {
  const end = ({ tables }: PollFacts, where: string) =>
    `(SELECT MAX(id) FROM (SELECT id FROM ${tables.queues}${where} ORDER BY id LIMIT ${REMOVAL_QUEUES}) part)`
  const sql = (words: PollFacts) =>
    `SELECT ${words.engine.bigint(`COALESCE(${end(words, ' WHERE id > ?')}, ${end(words, '')}, 0)`)}`
  return { sql, parameters: [after] }
}

async function removeOf(session: Session, which: string): Promise<{ removed: number; more: boolean }> {
  const dropped = await session.read((reader) =>
    reader.rows(`SELECT ${reader.engine.bigint('queue_id')} AS queue_id FROM ${reader.tables.queueDrops} LIMIT 10`),
  )
  for (const { queue_id } of dropped) await clearDropped(session, BigInt(queue_id as string))
  const removed = await sweepArchive(session, which)
  const dedups = await session.write((tx) => sweepDedups(tx))
  const flows = await sweepFlows(session, which)
  const turns = await sweepTurns(session)
  return { removed, more: dropped.length > 0 || removed > 0 || dedups > 0 || flows || turns }
}

const ARCHIVED = 500

/** The archived messages that have been kept long enough. */
const archivedSql = ({ tables, now }: PollFacts, what: string, which: string) =>
  `SELECT ${what} FROM ${tables.queues} ` +
  `JOIN ${tables.queueArchive} ON ${tables.queueArchive}.queue_id = ${tables.queues}.id AND archived_at_ms <= ${now} - retention_seconds * 1000 ` +
  `WHERE ${tables.queues}.id ${which} AND retention_seconds IS NOT NULL`

const anyOld = (which: string) =>
  whether((words) => [
    `SELECT 1 FROM ${words.tables.queueDrops}`,
    archivedSql(words, '1', which),
    oldDedupsSql(words, '1'),
    idleFlowsSql(words, '1', which),
    oldTurnsSql(words, '1'),
  ])

async function sweepArchive(session: Session, which: string): Promise<number> {
  const rows = await session.read((reader) =>
    reader.rows(
      `${archivedSql(reader, `${reader.engine.bigint(`${reader.tables.queueArchive}.id`)} AS id`, which)} LIMIT ${ARCHIVED}`,
    ),
  )
  if (rows.length > 0) await session.write((tx) => removeRows(tx, rows, tx.tables.queueArchive))
  return rows.length
}
