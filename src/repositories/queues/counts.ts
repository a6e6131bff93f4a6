/**
 * How many messages a queue has in each state. Counted along the index that claims use, at most every few seconds a
 * queue and process however often it is asked: an answer is never older than that.
 */
import type { Reader, Row } from '../../database/engine'
import type { QueueHead } from './heads'
import { STATE } from './rows'
import type { MessageCounts } from './types'

/** An answer may be 5 s old; a part of that is for the counting itself. */
const FRESH_MS = 4000

export interface QueueTotals {
  counts: MessageCounts
  /** Of the oldest message that is ready or in flight; null when there is none. */
  oldestAgeSeconds: number | null
}

interface Kept {
  since: number
  counted: Promise<QueueTotals>
}

export class Counts {
  readonly #kept = new Map<bigint, Kept>()

  /** `isAnew`: inside a transaction, which must see what it did itself. */
  async of(reader: Reader, head: QueueHead, isAnew: boolean): Promise<QueueTotals> {
    if (isAnew) return countMessages(reader, head.id)
    const known = this.#kept.get(head.id)
    if (known && performance.now() - known.since < FRESH_MS) return known.counted
    const kept = { since: performance.now(), counted: countMessages(reader, head.id) }
    this.#kept.set(head.id, kept)
    kept.counted.catch(() => this.#kept.delete(head.id))
    return kept.counted
  }
}

/** Goes along an index and takes the longer the more there is. */
async function countMessages(reader: Reader, id: bigint): Promise<QueueTotals> {
  const { engine } = reader
  const rows = await reader.rows(
    `SELECT state, COUNT(*) AS messages, ${engine.bigint('MIN(id)')} AS oldest ` +
      `FROM ${reader.tables.queueMessages}${engine.useIndex(reader.tables.index.messagesClaim)} WHERE queue_id = ? GROUP BY state`,
    [id],
  )
  const [archive] = await reader.rows(
    `SELECT COUNT(*) AS messages FROM ${reader.tables.queueArchive} WHERE queue_id = ?`,
    [id],
  )
  return totalsOf(reader, rows, archive)
}

/**
 * Of all queues together. In a queue that another one names for its dead letters, what is not archived is dead: nobody
 * waits for it.
 */
export async function countAllMessages(reader: Reader): Promise<QueueTotals> {
  const rows = await reader.rows(countAllSql(reader))
  const [archive] = await reader.rows(`SELECT COUNT(*) AS messages FROM ${reader.tables.queueArchive}`)
  return totalsOf(reader, rows, archive)
}

/** One walk along the index, in its order, and one along the queues. */
export function countAllSql({ engine, tables }: Pick<Reader, 'engine' | 'tables'>): string {
  return (
    `SELECT CASE WHEN letters.id IS NULL THEN counted.state ELSE ${STATE.dead} END AS state, ` +
    `SUM(counted.messages) AS messages, ${engine.bigint('MIN(counted.oldest)')} AS oldest ` +
    'FROM (SELECT queue_id, state, COUNT(*) AS messages, MIN(id) AS oldest ' +
    `FROM ${tables.queueMessages}${engine.useIndex(tables.index.messagesClaim)} GROUP BY queue_id, state) counted ` +
    `LEFT JOIN (SELECT DISTINCT dead_letter_queue_id AS id FROM ${tables.queues} WHERE dead_letter_queue_id IS NOT NULL) letters ` +
    `ON letters.id = counted.queue_id GROUP BY CASE WHEN letters.id IS NULL THEN counted.state ELSE ${STATE.dead} END`
  )
}

async function totalsOf(reader: Reader, rows: readonly Row[], archive: Row | undefined): Promise<QueueTotals> {
  const lines = new Map(rows.map((row) => [Number(row.state), row]))
  const of = (state: number) => Number(lines.get(state)?.messages ?? 0)
  const waiting = [STATE.ready, STATE.inFlight].flatMap((state) => lines.get(state)?.oldest ?? [])
  return {
    counts: {
      ready: of(STATE.ready),
      inFlight: of(STATE.inFlight),
      delayed: of(STATE.delayed),
      dead: of(STATE.dead),
      archived: Number(archive?.messages ?? 0),
    },
    oldestAgeSeconds: waiting.length === 0 ? null : await ageOf(reader, waiting as string[]),
  }
}

/** The oldest has the smallest id, whatever the queue. */
async function ageOf(reader: Reader, ids: readonly string[]): Promise<number | null> {
  const [oldest] = ids.map((id) => BigInt(id)).sort((a, b) => Number(a - b)) as [bigint]
  const [row] = await reader.rows(
    `SELECT sent_at_ms, ${reader.now} AS now_ms FROM ${reader.tables.queueMessages} WHERE id = ?`,
    [oldest],
  )
  return row ? Math.max(0, Math.floor((Number(row.now_ms) - Number(row.sent_at_ms)) / 1000)) : null
}
