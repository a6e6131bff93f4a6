/** The rings of the history of queues: their steps, lengths and slots. */
import type { Reader, Row } from '../../../database/engine'
import type { HistoryPeriod } from '../../../shared/queue-types'

export interface HistoryRing {
  stepSeconds: number
  slots: number
}

export const RINGS: Readonly<Record<HistoryPeriod, HistoryRing>> = {
  hour: { stepSeconds: 15, slots: 240 },
  week: { stepSeconds: 600, slots: 1008 },
}

/** The last time that a point of the ring can have. */
export const lastAt = (nowMs: number, { stepSeconds }: HistoryRing) => nowMs - (nowMs % (stepSeconds * 1000))

export const slotOf = (atMs: number, { stepSeconds, slots }: HistoryRing) => (atMs / (stepSeconds * 1000)) % slots

/** The rows of the queue 0. */
export const ALL_QUEUES = 0n

export const KEY = 'step_seconds, slot, queue_id'

export const GAUGES = ['ready', 'in_flight', 'delayed_messages', 'blocked', 'died', 'oldest_age_seconds'] as const
export const COUNTS = ['sent', 'acked', 'failed'] as const

/** The rows of these times, of all queues or of one. Each slot is looked up by the key. */
export async function rowsAt(
  reader: Reader,
  ring: HistoryRing,
  times: readonly number[],
  columns: readonly string[],
  id: bigint | null = null,
): Promise<Row[]> {
  const slots = times.map((atMs) => slotOf(atMs, ring)).join(', ')
  const own = id === null ? '' : ` AND queue_id IN (${ALL_QUEUES}, ${id})`
  const rows = await reader.rows(
    `SELECT ${reader.engine.bigint('queue_id')} AS queue_id, at_ms, ${columns.join(', ')} FROM ${reader.tables.queueHistory} ` +
      `WHERE step_seconds = ${ring.stepSeconds} AND slot IN (${slots})${own}`,
  )
  const asked = new Set(times)
  return rows.filter(({ at_ms: at }) => asked.has(Number(at)))
}
