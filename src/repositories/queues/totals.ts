/**
 * How many messages there are in all queues together. Counting goes along an index and takes the longer the more there
 * is: whoever asks keeps the answer for a while.
 */
import type { Reader } from '../../database/engine'
import { STATE } from './rows'
import type { MessageCounts } from './types'

export interface QueueTotals {
  counts: MessageCounts
  /** Of the oldest message that is ready or in flight; null when there is none. */
  oldestAgeSeconds: number | null
}

export async function queueTotals(reader: Reader): Promise<QueueTotals> {
  const { engine, now } = reader
  const rows = await reader.rows(
    `SELECT state, COUNT(*) AS messages, ${engine.bigint('MIN(id)')} AS oldest ` +
      `FROM queue_messages${engine.useIndex('queue_messages_claim')} GROUP BY state`,
  )
  const lines = new Map(rows.map((row) => [Number(row.state), row]))
  const of = (state: number) => Number(lines.get(state)?.messages ?? 0)
  const [archive] = await reader.rows('SELECT COUNT(*) AS messages FROM queue_archive')
  // Ids are given in the order of sending, whatever the queue.
  const oldest = [STATE.ready, STATE.inFlight].flatMap((state) => lines.get(state)?.oldest ?? []) as string[]
  const [first] = oldest.map((id) => BigInt(id)).sort((a, b) => (a < b ? -1 : 1))
  let oldestAgeSeconds: number | null = null
  if (first !== undefined) {
    const [row] = await reader.rows(`SELECT sent_at_ms, ${now} AS now_ms FROM queue_messages WHERE id = ?`, [first])
    if (row) oldestAgeSeconds = Math.max(0, (Number(row.now_ms) - Number(row.sent_at_ms)) / 1000)
  }
  return {
    counts: {
      ready: of(STATE.ready),
      inFlight: of(STATE.inFlight),
      delayed: of(STATE.delayed),
      dead: of(STATE.dead),
      archived: Number(archive?.messages ?? 0),
    },
    oldestAgeSeconds,
  }
}
