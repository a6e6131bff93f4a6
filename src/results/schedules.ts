/** The results of schedules, and their JSON text for REST, which never parses the bodies. */
import { jsonTextOf } from '../shared/json'
import type { ListedSchedule, Schedule, SchedulePage } from '../shared/schedule-types'
import { timeText } from '../shared/time-text'
import { jsonBy, parsedBy } from './json'

export const asSchedule = jsonBy<Schedule>(parsedBy(renderSchedule))
export const asListedSchedule = jsonBy<ListedSchedule>(listedBody)

export function renderSchedule(schedule: Schedule): string {
  const listed = JSON.stringify(listedBody(schedule))
  return `${listed.slice(0, -1)},"body":${jsonTextOf(schedule.body)}}`
}

export function renderSchedulePage({ schedules, nextAfter }: SchedulePage): string {
  return JSON.stringify({ schedules: schedules.map(listedBody), nextAfter })
}

function listedBody(schedule: ListedSchedule) {
  const textOf = (time: Date | null) => (time === null ? null : timeText(time))
  return {
    schedule: schedule.schedule,
    queue: schedule.queue,
    cron: schedule.cron,
    everySeconds: schedule.everySeconds,
    timeZone: schedule.timeZone,
    missed: schedule.missed,
    delaySeconds: schedule.delaySeconds,
    visibilityTimeoutSeconds: schedule.visibilityTimeoutSeconds,
    ...(schedule.maxReceives !== undefined && { maxReceives: schedule.maxReceives }),
    priority: schedule.priority,
    messageGroup: schedule.messageGroup,
    attributes: schedule.attributes,
    nextTickAt: timeText(schedule.nextTickAt),
    lastTickAt: textOf(schedule.lastTickAt),
    lastSentAt: textOf(schedule.lastSentAt),
    lastError: schedule.lastError,
    tag: schedule.tag,
    createdAt: timeText(schedule.createdAt),
  }
}
