/** The work that a sweeper finds in queues. */
import { placeholders, type Reader } from '../../../database/engine'
import { chunksOf } from '../../chunks'
import { GROUP_PHASE } from '../heads'
import { TIMED, timedSql } from '../reminded'
import { MAX_IDS } from '../rows'

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
      const firsts = TIMED.map((state) => row[`first_${state}`]).filter((first) => first !== null)
      const dueInMs =
        firsts.length === 0
          ? null
          : firsts.reduce((least: number, first) => Math.min(least, Number(first)), Number.POSITIVE_INFINITY) -
            Number(row.now_ms)
      const isLimitChanged = Number(row.group_phase) !== GROUP_PHASE.settled
      work.set(BigInt(row.id as string), { isDue: dueInMs !== null && dueInMs <= 0, isLimitChanged, dueInMs })
    }
  }
  return work
}
