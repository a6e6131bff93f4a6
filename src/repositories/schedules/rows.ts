/** The rows of recentn_schedules: their columns, and what callers get of them. */
import type { Reader, Row } from '../../database/engine'
import { SCHEDULE } from '../../fields/answers-schedules'
import type { MissedTicks, Timing } from '../../fields/ticks'
import { JsonText } from '../../shared/json'
import type { ListedSchedule, Schedule, ScheduleDefinition } from '../../shared/schedule-types'
import { limitOf } from '../queues/heads'
import { bodyOf, type MessageToSend, NO_KEY } from '../queues/rows'
import { column, shaped } from '../row-shape'
import { settingsTag } from '../settings'

export interface ScheduledSend {
  queue: string
  timing: Timing
  missed: MissedTicks
  /** Every message but for its tick. */
  message: MessageToSend
}

const TIMING = shaped({
  cron: column.text.orNull('cron'),
  everySeconds: column.number.orNull('every_seconds'),
  timeZone: column.text.of('time_zone'),
})

const MESSAGE = shaped({
  delaySeconds: column.number.of('delay_seconds'),
  visibilityTimeoutSeconds: column.number.orNull('visibility_timeout_seconds'),
  maxReceives: column.number.orNull('max_receives'),
  priority: column.number.of('priority'),
  messageGroup: column.text.orNull('message_group'),
  attributes: column.text.orNull('attributes'),
})

const ROW = shaped({
  schedule: column.text.of('schedule'),
  queue: column.text.of('queue'),
  missed: column.text.of('missed'),
  nextTickMs: column.number.of('next_tick_ms'),
  /** When a store looks at it next. */
  dueAtMs: column.number.of('due_at_ms'),
  lastTickMs: column.number.orNull('last_tick_ms'),
  lastSentAtMs: column.number.orNull('last_sent_at_ms'),
  lastError: column.text.orNull('last_error'),
  createdAtMs: column.number.of('created_at_ms'),
})

export interface ScheduleRow extends ScheduledSend, Omit<ReturnType<typeof ROW.of>, 'missed'> {}

export function scheduleColumns(reader: Pick<Reader, 'engine' | 'now'>, body = 'body'): string {
  const columns = [TIMING, MESSAGE, ROW].map((shape) => shape.columns(reader))
  return `${columns.join(', ')}, ${reader.now} AS now_ms, ${body}`
}

export function scheduleRowOf(row: Row): ScheduleRow {
  const { missed, ...own } = ROW.of(row)
  const { delaySeconds, ...message } = MESSAGE.of(row)
  const sent = { ...message, ...NO_KEY, body: row.body as string, delayMs: delaySeconds * 1000, dedupId: null }
  return { ...own, missed: missed as MissedTicks, timing: TIMING.of(row), message: sent }
}

export function shownSchedule(row: ScheduleRow, bodies?: 'value' | 'text'): Schedule {
  return SCHEDULE.of({ ...listedFields(row), body: bodyOf(row.message.body, bodies) })
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
  const { delaySeconds, visibilityTimeoutSeconds, maxReceives, priority, messageGroup, attributes } = fields
  const message = { delaySeconds, visibilityTimeoutSeconds, maxReceives, priority, messageGroup, attributes }
  return { queue, cron, everySeconds, timeZone, missed, body: new JsonText(row.message.body), ...message }
}

export function listedFields(whole: ScheduleRow): ListedSchedule {
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
