/** Looks at a queue: whether there is something to promote in it, and whether a receive would get something. */
import { placeholders, type Reader } from '../../../database/engine'
import { performance } from '../../../shared/platform'
import { chunksOf } from '../../chunks'
import type { PollFacts, PollQuestion } from '../../reminders'
import { GROUP_PHASE, type QueueHead } from '../heads'
import type { QueueMemory } from '../memory'
import { dueSql, TIMED, timedSql } from '../reminded'
import { countOf, MAX_IDS, STATE } from '../rows'

/** Costs one lookup in the index. */
function readySql({ engine, tables }: PollFacts, queueId: string): string {
  return (
    `(SELECT 1 FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} ` +
    `WHERE queue_id = ${queueId} AND state = ${STATE.ready} LIMIT 1) IS NOT NULL`
  )
}

export interface QueueLook {
  head: QueueHead
  isDue: boolean
  /** Whether a message is ready; not said where one is due. */
  isReady: boolean
}

/** The question of the look: whether a message is due, or ready. */
const ANSWER = { due: 2, ready: 1, neither: 0 } as const

/** Reads the queue as it is, and whether it has messages that are due or ready, in one statement. Throws `queue_not_found`. */
export async function lookAt(reader: Reader, memory: QueueMemory, queue: string): Promise<QueueLook> {
  const id = `${reader.tables.queues}.id`
  const question =
    `CASE WHEN ${dueSql(reader, id)} THEN ${ANSWER.due} ` +
    `WHEN ${readySql(reader, id)} THEN ${ANSWER.ready} ELSE ${ANSWER.neither} END`
  const at = performance.now()
  const { head, answer } = await memory.judge(reader, queue, question)
  const isReady = answer === ANSWER.ready
  memory.looked(head.id, reader.now, isReady, at)
  return { head, isDue: answer === ANSWER.due, isReady }
}

/** Whether there is something to promote, or the queue's `groupConcurrency` to be applied. */
export function hasWork({ head, isDue }: QueueLook): boolean {
  return isDue || head.groupPhase !== GROUP_PHASE.settled
}

/** SQL on a queue's row: it is not held, and no `rateLimit` makes it wait. Costs a lookup where it has one. */
function isTurn({ tables, now }: PollFacts): string {
  const own = `SELECT held_until_ms FROM ${tables.queueTurns} WHERE queue_id = ${tables.queues}.id AND message_group = ''`
  return `held_until_ms <= ${now} AND CASE WHEN rates IS NULL THEN 0 ELSE COALESCE((${own}), 0) END <= ${now}`
}

/** Whether a receive would get something: a message is ready, or due. Null when the queue is gone. */
export function receivable(queue: string): PollQuestion {
  return {
    sql: (words) => {
      const { queues } = words.tables
      const id = `${queues}.id`
      return (
        `SELECT CASE WHEN paused = 0 AND (${readySql(words, id)} OR ${dueSql(words, id)}) ` +
        `AND ${isTurn(words)} THEN 1 ELSE 0 END FROM ${queues} WHERE queue = ?`
      )
    },
    parameters: [queue],
  }
}

/** A queue as a sweeper finds it. */
export interface QueueWork {
  isDue: boolean
  isLimitChanged: boolean
  /** When the first message in flight or delayed is due: in so many milliseconds. Null where there is none. */
  dueInMs: number | null
}

/** Of those of the queues that are there, or of all. */
export async function queueWork(reader: Reader, ids: readonly bigint[] | null): Promise<Map<bigint, QueueWork>> {
  const { engine, tables, now } = reader
  const id = `${tables.queues}.id`
  const columns = [`${engine.bigint(id)} AS id`, `group_phase`, `${now} AS now_ms`]
  for (const state of TIMED) {
    columns.push(`(SELECT sort_major ${timedSql(reader, id, state)} ORDER BY sort_major LIMIT 1) AS first_${state}`)
  }
  const work = new Map<bigint, QueueWork>()
  for (const chunk of ids === null ? [null] : chunksOf(ids, MAX_IDS)) {
    const where = chunk === null ? '' : ` WHERE id IN (${placeholders(chunk.length)})`
    for (const row of await reader.rows(`SELECT ${columns.join(', ')} FROM ${tables.queues}${where}`, chunk ?? [])) {
      const firsts = TIMED.flatMap((state) => countOf(row[`first_${state}`]) ?? [])
      const dueInMs = firsts.length === 0 ? null : firsts.reduce((a, b) => Math.min(a, b)) - Number(row.now_ms)
      const isLimitChanged = Number(row.group_phase) !== GROUP_PHASE.settled
      work.set(BigInt(row.id as string), { isDue: dueInMs !== null && dueInMs <= 0, isLimitChanged, dueInMs })
    }
  }
  return work
}
