/** Troubles of schedules: those that cannot send, or that no process sends. */
import type { Reader } from '../../database/engine'
import type { FoundTrouble } from '../queues/troubles'

/** A tick that is due is sent within seconds. */
const TICK_MS = 120_000

export async function scheduleTroubles({ tables, rows }: Reader, nowMs: number): Promise<FoundTrouble[]> {
  const found = await rows(
    `SELECT schedule, last_error, next_tick_ms FROM ${tables.schedules} WHERE last_error IS NOT NULL OR due_at_ms <= ?`,
    [nowMs - TICK_MS],
  )
  return found.map((row) => ({
    kind: 'schedule',
    name: row.schedule as string,
    count: 1,
    sinceMs: Number(row.next_tick_ms),
    error: row.last_error as string | null,
  }))
}
