/**
 * Ticks: sending the messages of schedules that are due, by the database's clock.
 *
 * Invariant: a tick is sent in the transaction that moves the schedule's next tick on, under a lock on its row. So each tick
 * is sent once, however many stores look at the same schedules; others pass over a row that is locked.
 * Order of the locks: the schedule's row, then those of a send.
 */
import type { Reader, Session, Tx } from '../../database/engine'
import { keptError } from '../../fields/queues'
import { SCHEDULE_ATTRIBUTE, TICK_ATTRIBUTE } from '../../fields/schedules'
import { dueTicks } from '../../fields/ticks'
import { isPassing, RecentnError } from '../../shared/errors'
import { performance } from '../../shared/platform'
import type { QueueMemory } from '../queues/memory'
import type { MessageToSend } from '../queues/rows'
import { sendAll } from '../queues/send/send'
import { type ScheduleRow, scheduleColumns, scheduleRowOf } from './rows'

const MAX_DUE = 100
/** A tick that could not be sent is tried again after this time. */
const RETRY_MS = 60_000
/** A schedule whose row another transaction has locked is looked at again after this time. */
const LOCKED_MS = 250

export interface TickRound {
  sent: number
  /** Schedules whose ticks were sent or skipped. */
  done: string[]
  failed: { schedule: string; error: unknown }[]
  /** Milliseconds until the next schedule is due, 0 if more are due now, null if there is none. */
  nextInMs: number | null
}

type ScheduleTurn =
  | { is: 'done'; sent: number; dueAtMs: number }
  | { is: 'failed'; error: unknown; dueAtMs: number }
  /** Another store has sent the tick. */
  | { is: 'not due'; dueAtMs: number }
  /** Another transaction has the row, or it is gone. */
  | { is: 'locked' }

/** One round. An error with one schedule does not keep the others waiting; an error of the database ends the round. */
export async function tickSchedules(session: Session, memory: QueueMemory): Promise<TickRound> {
  const { due, nextAtMs, nowMs } = await session.read(readDue)
  const lookedAt = performance.now()
  const round: TickRound = { sent: 0, done: [], failed: [], nextInMs: null }
  let next = nextAtMs
  for (const schedule of due) {
    const turn = await turnOf(session, memory, schedule)
    next = Math.min(next, turn.is === 'locked' ? nowMs + LOCKED_MS : turn.dueAtMs)
    if (turn.is === 'failed') round.failed.push({ schedule, error: turn.error })
    if (turn.is === 'done') {
      round.sent += turn.sent
      round.done.push(schedule)
    }
  }
  if (next < Number.POSITIVE_INFINITY) {
    round.nextInMs = Math.max(0, Math.ceil(next - nowMs - (performance.now() - lookedAt)))
  }
  return round
}

async function readDue(reader: Reader): Promise<{ due: string[]; nextAtMs: number; nowMs: number }> {
  const rows = await reader.rows(
    `SELECT schedule, due_at_ms, ${reader.now} AS now_ms FROM ${reader.tables.schedules} ORDER BY due_at_ms LIMIT ${MAX_DUE + 1}`,
  )
  const nowMs = Number(rows[0]?.now_ms ?? 0)
  const due = rows.slice(0, MAX_DUE).filter((row) => Number(row.due_at_ms) <= nowMs)
  const next = rows[due.length]
  return {
    due: due.map((row) => row.schedule as string),
    nextAtMs: next === undefined ? Number.POSITIVE_INFINITY : Number(next.due_at_ms),
    nowMs,
  }
}

async function turnOf(session: Session, memory: QueueMemory, schedule: string): Promise<ScheduleTurn> {
  try {
    return await session.write((tx) => sendDue(tx, memory, schedule))
  } catch (error) {
    if (isPassing(error) || (error instanceof RecentnError && error.code === 'closed')) throw error
    return session.write((tx) => postpone(tx, schedule, error))
  }
}

async function sendDue(tx: Tx, memory: QueueMemory, schedule: string): Promise<ScheduleTurn> {
  const [found] = await tx.rows(
    `SELECT ${scheduleColumns(tx)} FROM ${tx.tables.schedules} WHERE schedule = ?${tx.engine.forNext}`,
    [schedule],
  )
  if (found === undefined) return { is: 'locked' }
  const row = scheduleRowOf(found)
  const nowMs = Number(found.now_ms)
  if (row.dueAtMs > nowMs) return { is: 'not due', dueAtMs: row.dueAtMs }
  const { ticks, nextMs } = dueTicks({ ...row.timing, missed: row.missed }, row.nextTickMs, nowMs)
  const error = await sendTicks(tx, memory, row, ticks)
  if (error !== null) return postpone(tx, schedule, error)
  const last = ticks.at(-1)
  const [lastTickMs, lastSentAtMs] = last === undefined ? [row.lastTickMs, row.lastSentAtMs] : [last, nowMs]
  await tx.later(
    `UPDATE ${tx.tables.schedules} SET next_tick_ms = ?, due_at_ms = ?, last_tick_ms = ?, last_sent_at_ms = ?, ` +
      'last_error = NULL WHERE schedule = ?',
    [nextMs, nextMs, lastTickMs, lastSentAtMs, schedule],
  )
  return { is: 'done', sent: ticks.length, dueAtMs: nextMs }
}

async function sendTicks(
  tx: Tx,
  memory: QueueMemory,
  { schedule, queue, message }: ScheduleRow,
  ticks: readonly number[],
): Promise<RecentnError | null> {
  if (ticks.length === 0) return null
  const rows = ticks.map((tick): MessageToSend => ({ ...message, attributes: attributesOf(message, schedule, tick) }))
  const [sent] = await sendAll(tx, memory, [{ queue, rows }])
  return sent instanceof RecentnError ? sent : null
}

function attributesOf({ attributes }: MessageToSend, schedule: string, tick: number): string {
  const given = attributes === null ? {} : JSON.parse(attributes)
  return JSON.stringify({ ...given, [SCHEDULE_ATTRIBUTE]: schedule, [TICK_ATTRIBUTE]: new Date(tick).toISOString() })
}

/** The tick stays due, and is tried again later. */
async function postpone(tx: Tx, schedule: string, error: unknown): Promise<ScheduleTurn> {
  const [row] = await tx.rows(`SELECT ${tx.now} AS now_ms`)
  const dueAtMs = Number(row?.now_ms) + RETRY_MS
  await tx.later(
    `UPDATE ${tx.tables.schedules} SET due_at_ms = ?, last_error = ? WHERE schedule = ? AND due_at_ms < ?`,
    [dueAtMs, keptError(error), schedule, dueAtMs - RETRY_MS + 1],
  )
  return { is: 'failed', error, dueAtMs }
}
