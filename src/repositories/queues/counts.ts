/**
 * How many messages a queue has in each state. Counted along the index that claims use, at most every few seconds a
 * queue and process however often it is asked: an answer is never older than that.
 */
import type { Reader } from '../../database/engine'
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

/** Of one queue, or of all together. Goes along an index and takes the longer the more there is. */
export async function countMessages(reader: Reader, id: bigint | null): Promise<QueueTotals> {
  const { engine } = reader
  const [where, parameters] = id === null ? ['', []] : [' WHERE queue_id = ?', [id]]
  const rows = await reader.rows(
    `SELECT state, COUNT(*) AS messages, ${engine.bigint('MIN(id)')} AS oldest ` +
      `FROM queue_messages${engine.useIndex('queue_messages_claim')}${where} GROUP BY state`,
    parameters,
  )
  const lines = new Map(rows.map((row) => [Number(row.state), row]))
  const of = (state: number) => Number(lines.get(state)?.messages ?? 0)
  const [archive] = await reader.rows(`SELECT COUNT(*) AS messages FROM queue_archive${where}`, parameters)
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
  const [row] = await reader.rows(`SELECT sent_at_ms, ${reader.now} AS now_ms FROM queue_messages WHERE id = ?`, [
    oldest,
  ])
  return row ? Math.max(0, Math.floor((Number(row.now_ms) - Number(row.sent_at_ms)) / 1000)) : null
}
