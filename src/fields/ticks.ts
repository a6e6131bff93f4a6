/**
 * When a schedule ticks: by a cron pattern in a time zone, or every so many seconds. The only file that knows the cron
 * library. No clock: callers give the time, which is the database's.
 */
import { CronPattern } from 'croner'
import { RecentnError } from '../shared/errors'

export interface Timing {
  /** Null where `everySeconds` is given. */
  cron: string | null
  everySeconds: number | null
  timeZone: string
}

/** The treatment of ticks that no process was there to send. */
export const MISSED = ['send-once', 'skip'] as const
export type MissedTicks = (typeof MISSED)[number]

/** A tick that is later than this is missed. */
export const LATE_MS = 60_000

const SECOND_MS = 1000
const DAY_MS = 86_400_000
/** How far a tick is looked for: the 29th of February is a given weekday again after 40 years at most. */
const MAX_YEARS = 40
const MAX_DAYS = MAX_YEARS * 366

/**
 * `no-wildcard`: patterns with plain hours and minutes tick once a day, also on the days when the clocks change, as in
 * Vixie cron.
 */
function patternOf(cron: string): CronPattern {
  return new CronPattern(cron, undefined, { mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' })
}

export function cronFault(value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a string'
  // croner also reads a date with a time, which ticks once; and its own text for too few fields speaks of seven.
  const isRead = /^[\x20-\x7e]{1,191}$/.test(value) && !value.includes(':')
  if (!isRead || !/^\s*(@\S+|(\S+\s+){4,5}\S+)\s*$/.test(value)) {
    return 'must be a cron pattern of 5 or 6 fields, such as "30 2 * * *"'
  }
  try {
    patternOf(value)
    return null
  } catch (error) {
    return `must be a cron pattern of 5 or 6 fields: ${(error as Error).message.replace(/^CronPattern: /, '')}`
  }
}

/** The fault of a valid pattern that never ticks in a valid time zone. */
export function silenceFault(cron: string, timeZone: string, nowMs: number): string | null {
  return tickFrom(cron, timeZone, nowMs, 1) === null
    ? `never ticks: no time of the next ${MAX_YEARS} years in ${timeZone} fits the pattern`
    : null
}

export function timeZoneFault(value: unknown): string | null {
  const detail = 'must be the name of a time zone, such as "Europe/Berlin"'
  if (typeof value !== 'string' || !/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(value)) return detail
  try {
    formatOf(value)
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
  const next = tickFrom(cron, timeZone, afterMs + 1, 1)
  if (next === null)
    throw new RecentnError('invalid_input', `The cron pattern ${cron} never ticks again in ${timeZone}`)
  return next
}

function tickBefore({ cron, everySeconds, timeZone }: Timing, tickMs: number): number {
  if (cron === null) return tickMs - (everySeconds as number) * 1000
  return tickFrom(cron, timeZone, tickMs - 1, -1) ?? Number.NEGATIVE_INFINITY
}

/**
 * The first tick at or after a time, or with a `step` of -1 the last one at or before it; null if there is none within
 * `MAX_YEARS`. croner only reads the pattern: its own search tries each second that a change of the clocks leaves out, up to
 * the year 10000. This one looks at each day once, and at the clocks only on days that fit.
 */
function tickFrom(cron: string, timeZone: string, fromMs: number, step: 1 | -1): number | null {
  const pattern = patternOf(cron)
  const ms = (step > 0 ? Math.ceil : Math.floor)(fromMs / SECOND_MS) * SECOND_MS
  const offsetAt = offsetsOf(timeZone)
  let day = Math.floor((ms + offsetAt(ms)) / DAY_MS)
  for (let days = 0; days < MAX_DAYS; days++, day += step) {
    if (!isDay(pattern, new Date(day * DAY_MS))) continue
    const spans = spansOf(day * DAY_MS, offsetAt, pattern.isFixedTime)
    for (const span of step > 0 ? spans : spans.reverse()) {
      const tick = tickIn(span, pattern, day * DAY_MS, ms, step)
      if (tick !== null) return tick
    }
  }
  return null
}

/** Whether a day, as midnight of its date in UTC, fits the pattern. */
function isDay(pattern: CronPattern, midnight: Date): boolean {
  const month = midnight.getUTCMonth()
  if (!pattern.month[month]) return false
  const date = midnight.getUTCDate()
  const weekday = midnight.getUTCDay()
  const last = new Date(Date.UTC(midnight.getUTCFullYear(), month + 1, 0)).getUTCDate()
  const isDate =
    Boolean(pattern.day[date - 1]) ||
    (pattern.lastDayOfMonth && date === last) ||
    weekdaysFor(date, weekday, last).some(
      (near) => Boolean(pattern.nearestWeekdays[near - 1]) || (pattern.lastWeekday && near === last),
    )
  if (pattern.starDOW) return isDate
  // A bit for each of the five weeks, and one for the last of the month.
  const weeks = pattern.dayOfWeek[weekday] ?? 0
  const isWeekday = ((weeks >> Math.floor((date - 1) / 7)) & 1) === 1 || ((weeks & 32) !== 0 && date + 7 > last)
  return pattern.useAndLogic || pattern.starDOM ? isDate && isWeekday : isDate || isWeekday
}

/** The days of the month whose nearest weekday (`W`) this one is: never one of another month. */
function weekdaysFor(date: number, weekday: number, last: number): number[] {
  if (weekday === 0 || weekday === 6) return []
  const near = [date]
  if (weekday === 1 && date > 1 && date - 1 !== last) near.push(date - 1)
  if (weekday === 1 && date === 3) near.push(1)
  if (weekday === 5 && date < last) near.push(date + 1)
  if (weekday === 5 && date + 2 === last) near.push(last)
  return near
}

/** A part of a day without a change of the clocks: from and until as the clocks show them, as if in UTC. */
interface Span {
  from: number
  until: number
  offset: number
  /** Set for what the clocks leave out: when they do. */
  at?: number
}

/** The parts of a day in which a pattern can tick, in their order. At most one change of the clocks is near a day. */
function spansOf(midnight: number, offsetAt: (ms: number) => number, isFixed: boolean): Span[] {
  const end = midnight + DAY_MS
  const guess = midnight - offsetAt(midnight)
  let [before, after] = [guess - DAY_MS / 8, guess + DAY_MS + DAY_MS / 8]
  const [first, second] = [offsetAt(before), offsetAt(after)]
  if (first === second) return [{ from: midnight, until: end, offset: first }]
  while (after - before > SECOND_MS) {
    const middle = before + Math.floor((after - before) / (2 * SECOND_MS)) * SECOND_MS
    if (offsetAt(middle) === first) before = middle
    else after = middle
  }
  const spans: Span[] = [{ from: midnight, until: Math.min(end, after + first), offset: first }]
  if (isFixed && second > first && after + second < end) {
    spans.push({ from: Math.max(midnight, after + first), until: after + second, offset: second, at: after })
  }
  // A fixed time that comes twice ticks at the first.
  const from = after + (isFixed ? Math.max(first, second) : second)
  return [...spans, { from: Math.max(midnight, from), until: end, offset: second }]
}

function tickIn(span: Span, pattern: CronPattern, midnight: number, fromMs: number, step: 1 | -1): number | null {
  const { from, until, offset, at } = span
  if (at !== undefined) {
    const left = timeFrom(pattern, (from - midnight) / SECOND_MS, 1)
    return left !== null && midnight + left * SECOND_MS < until && (at - fromMs) * step >= 0 ? at : null
  }
  const start = step > 0 ? Math.max(from, fromMs + offset) : Math.min(until - SECOND_MS, fromMs + offset)
  const time = timeFrom(pattern, (start - midnight) / SECOND_MS, step)
  if (time === null) return null
  const shown = midnight + time * SECOND_MS
  return shown >= from && shown < until ? shown - offset : null
}

/** The first second of a day that fits, from one on and up or down. */
function timeFrom({ hour, minute, second }: CronPattern, from: number, step: 1 | -1): number | null {
  /** The second next to a part of the day, which begins with a multiple of its length. */
  const beside = (time: number, length: number) => {
    const begins = time - (time % length)
    return step > 0 ? begins + length : begins - 1
  }
  for (let time = from; time >= 0 && time < DAY_MS / SECOND_MS; ) {
    if (!hour[Math.floor(time / 3600)]) time = beside(time, 3600)
    else if (!minute[Math.floor(time / 60) % 60]) time = beside(time, 60)
    else if (second[time % 60]) return time
    else time += step
  }
  return null
}

/** How far the clocks of a zone are ahead of UTC at a time. */
function offsetsOf(timeZone: string): (ms: number) => number {
  const format = formatOf(timeZone)
  return (ms) => {
    const [month, day, year, hour, minute, second] = format.format(ms).split(/\D+/).map(Number) as Six
    return Date.UTC(year, month - 1, day, hour, minute, second) - ms
  }
}
type Six = [number, number, number, number, number, number]

/** A zone has many names: in capitals, for example. */
const MAX_FORMATS = 100
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known) return known
  const two = '2-digit'
  const parts = {
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
    hourCycle: 'h23',
  } as const
  const format = new Intl.DateTimeFormat('en-US', { timeZone, ...parts })
  if (formats.size >= MAX_FORMATS) formats.clear()
  formats.set(timeZone, format)
  return format
}

/**
 * The ticks that a schedule with the next tick `nextMs` sends now: every tick that is at most a minute late. If all that are due
 * are later than that, the newest one, or none.
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
