/** The rows of recentn_schedules: their columns, and what callers get of them. */
import type { Reader, Row } from '../../database/engine'
import { LISTED_SCHEDULE, SCHEDULE } from '../../fields/answers-schedules'
import type { MissedTicks, Timing } from '../../fields/ticks'
import { JsonText } from '../../shared/json'
import type { ListedSchedule, Schedule, ScheduleDefinition } from '../../shared/schedule-types'
import { limitOf } from '../queues/heads'
import { bodyOf, type MessageToSend, NO_KEY } from '../queues/rows'
import { settingsTag } from '../settings'

export interface ScheduledSend {
  queue: string
  timing: Timing
  missed: MissedTicks
  /** Every message but for its tick. */
  message: MessageToSend
}

export interface ScheduleRow extends ScheduledSend {
  schedule: string
  nextTickMs: number
  /** When a store looks at it next. */
  dueAtMs: number
  lastTickMs: number | null
  lastSentAtMs: number | null
  lastError: string | null
  createdAtMs: number
}

/** A longer body is not read with a list. */
const LISTED_BODY = 2000

const COLUMNS =
  'schedule, queue, cron, every_seconds, time_zone, missed, next_tick_ms, due_at_ms, last_tick_ms, last_sent_at_ms, ' +
  'last_error, delay_seconds, visibility_timeout_seconds, max_receives, priority, message_group, attributes, created_at_ms'

export function scheduleColumns({ now }: Pick<Reader, 'now'>, body = 'body'): string {
  return `${COLUMNS}, ${now} AS now_ms, ${body}`
}

/** The body is null where it is a long one. */
export function listedColumns(reader: Pick<Reader, 'now'>): string {
  return scheduleColumns(reader, `CASE WHEN LENGTH(body) <= ${LISTED_BODY} THEN body END AS body`)
}

const numberOrNull = (value: unknown) => (value === null ? null : Number(value))

export function scheduleRowOf(row: Row): ScheduleRow {
  return {
    schedule: row.schedule as string,
    queue: row.queue as string,
    timing: timingOf(row),
    missed: row.missed as MissedTicks,
    message: messageIn(row),
    nextTickMs: Number(row.next_tick_ms),
    dueAtMs: Number(row.due_at_ms),
    lastTickMs: numberOrNull(row.last_tick_ms),
    lastSentAtMs: numberOrNull(row.last_sent_at_ms),
    lastError: row.last_error as string | null,
    createdAtMs: Number(row.created_at_ms),
  }
}

function timingOf(row: Row): Timing {
  return {
    cron: row.cron as string | null,
    everySeconds: numberOrNull(row.every_seconds),
    timeZone: row.time_zone as string,
  }
}

function messageIn(row: Row): MessageToSend {
  return {
    body: row.body as string,
    delayMs: Number(row.delay_seconds) * 1000,
    visibilityTimeoutSeconds: numberOrNull(row.visibility_timeout_seconds),
    maxReceives: numberOrNull(row.max_receives),
    dedupId: null,
    priority: Number(row.priority),
    messageGroup: row.message_group as string | null,
    ...NO_KEY,
    attributes: row.attributes as string | null,
  }
}

export function shownSchedule(row: ScheduleRow, bodies?: 'value' | 'text'): Schedule {
  return SCHEDULE.of({ ...listedFields(row), body: bodyOf(row.message.body, bodies) })
}

export function shownInList(row: ScheduleRow): ListedSchedule {
  return LISTED_SCHEDULE.of(listedFields(row))
}

/** A schedule that is made again has another tag. */
export function tagOf({ queue, timing, missed, message, createdAtMs }: ScheduleRow): string {
  const { cron, everySeconds, timeZone } = timing
  const { body, delayMs, visibilityTimeoutSeconds, maxReceives, priority, messageGroup, attributes } = message
  const sent = [body, delayMs, visibilityTimeoutSeconds, maxReceives, priority, messageGroup, attributes]
  return settingsTag([createdAtMs, queue, cron, everySeconds, timeZone, missed, ...sent])
}

/** The definition that would put the schedule as it is. */
export function definitionOf(row: ScheduleRow): ScheduleDefinition {
  const { queue, cron, everySeconds, timeZone, missed, ...fields } = listedFields(row)
  const { delaySeconds, visibilityTimeoutSeconds, priority, messageGroup, attributes } = fields
  const message = { delaySeconds, visibilityTimeoutSeconds, priority, messageGroup, attributes }
  const { maxReceives } = fields
  const body = new JsonText(row.message.body)
  return { queue, cron, everySeconds, timeZone, missed, body, ...message, maxReceives }
}

function listedFields(whole: ScheduleRow): ListedSchedule {
  const { schedule, queue, timing, missed, message, ...row } = whole
  const { cron, everySeconds, timeZone } = timing
  const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms))
  return {
    schedule,
    queue,
    cron,
    everySeconds,
    timeZone: cron === null ? null : timeZone,
    missed,
    delaySeconds: message.delayMs / 1000,
    visibilityTimeoutSeconds: message.visibilityTimeoutSeconds,
    ...(message.maxReceives !== null && { maxReceives: limitOf(message.maxReceives) }),
    priority: message.priority,
    messageGroup: message.messageGroup,
    attributes: message.attributes === null ? {} : JSON.parse(message.attributes),
    nextTickAt: new Date(row.nextTickMs),
    lastTickAt: timeOf(row.lastTickMs),
    lastSentAt: timeOf(row.lastSentAtMs),
    lastError: row.lastError,
    tag: tagOf(whole),
    createdAt: new Date(row.createdAtMs),
  }
}
