/**
 * When a schedule ticks: by a cron pattern in a time zone, or every so many seconds. The only file that knows the cron
 * library. No clock: callers give the time, which is the database's.
 */
import { Cron } from 'croner'
import { RecentnError } from '../errors'

export interface Timing {
  /** Null where `everySeconds` is given. */
  cron: string | null
  everySeconds: number | null
  timeZone: string
}

/** What happens to ticks that no process was there to send. */
export const MISSED = ['send-once', 'skip'] as const
export type MissedTicks = (typeof MISSED)[number]

/** A tick that is later than this is missed. */
export const LATE_MS = 60_000

/**
 * `no-wildcard`: patterns with plain hours and minutes tick once a day, also on the days when the clocks change, as in
 * Vixie cron.
 */
function cronOf(pattern: string, timezone: string): Cron {
  return new Cron(pattern, { mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard', timezone, paused: true })
}

export function cronFault(value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a string'
  // croner also reads a date with a time, which ticks once; and its own text for too few fields speaks of seven.
  const isRead = /^[\x20-\x7e]{1,191}$/.test(value) && !value.includes(':')
  if (!isRead || !/^\s*(@\S+|(\S+\s+){4,5}\S+)\s*$/.test(value)) {
    return 'must be a cron pattern of 5 or 6 fields, such as "30 2 * * *"'
  }
  try {
    return cronOf(value, 'UTC').nextRun(new Date(0)) === null ? 'never ticks: no day fits the pattern' : null
  } catch (error) {
    return `must be a cron pattern of 5 or 6 fields: ${(error as Error).message.replace(/^CronPattern: /, '')}`
  }
}

export function timeZoneFault(value: unknown): string | null {
  const detail = 'must be the name of a time zone, such as "Europe/Berlin"'
  if (typeof value !== 'string' || !/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(value)) return detail
  try {
    new Intl.DateTimeFormat('en', { timeZone: value })
    return null
  } catch {
    return detail
  }
}

/** The first tick of a schedule that begins now: on a full second, like all that follow. */
export function firstTick(timing: Timing, nowMs: number): number {
  return tickAfter(timing, Math.floor(nowMs / 1000) * 1000, nowMs)
}

/** The first tick later than a time. `tickMs` is a tick, from which seconds are counted. */
function tickAfter({ cron, everySeconds, timeZone }: Timing, tickMs: number, afterMs: number): number {
  if (cron === null) {
    const stepMs = (everySeconds as number) * 1000
    return tickMs + (Math.floor((afterMs - tickMs) / stepMs) + 1) * stepMs
  }
  const next = cronOf(cron, timeZone).nextRun(new Date(afterMs))
  if (next === null) throw new RecentnError('invalid_input', `The cron pattern ${cron} never ticks again`)
  return next.getTime()
}

function tickBefore({ cron, everySeconds, timeZone }: Timing, tickMs: number): number {
  if (cron === null) return tickMs - (everySeconds as number) * 1000
  return cronOf(cron, timeZone).previousRuns(1, new Date(tickMs))[0]?.getTime() ?? Number.NEGATIVE_INFINITY
}

/**
 * What a schedule whose next tick is `nextMs` sends now: every tick that is at most a minute late. If all that are due are
 * later than that, the newest one, or none.
 */
export function dueTicks(
  timing: Timing & { missed: MissedTicks },
  nextMs: number,
  nowMs: number,
): { ticks: number[]; nextMs: number } {
  const ticks: number[] = []
  let next = nextMs
  const oldestMs = nowMs - LATE_MS
  if (nextMs < oldestMs) {
    next = tickAfter(timing, nextMs, oldestMs - 1)
    if (next > nowMs && timing.missed === 'send-once') ticks.push(Math.max(nextMs, tickBefore(timing, next)))
  }
  for (; next <= nowMs; next = tickAfter(timing, next, next)) ticks.push(next)
  return { ticks, nextMs: next }
}
