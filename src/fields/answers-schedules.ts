/** The answers about schedules. */
import type { ListedSchedule, Schedule, SchedulePage } from '../shared/schedule-types'
import { type AnswerOf, answer, anyJson, count, list, name, of, optional, orNull, text, texts, time } from './answers'
import { tag } from './answers-groups'
import { MAX_RECEIVES, PRIORITY, VISIBILITY_SECONDS } from './queues'
import { EVERY_SECONDS, MISSED_TICKS } from './schedules'

const listed = {
  schedule: name('nightly-report'),
  queue: name('mail'),
  cron: orNull(text('30 2 * * *')),
  everySeconds: orNull(of(EVERY_SECONDS)),
  timeZone: orNull(text('Europe/Berlin'), 'Null without `cron`.'),
  missed: of(MISSED_TICKS, 'send-once'),
  delaySeconds: count(0),
  visibilityTimeoutSeconds: orNull(of(VISIBILITY_SECONDS)),
  maxReceives: optional(orNull(of(MAX_RECEIVES), "Left out if the queue's limit applies; null is no limit.")),
  priority: of(PRIORITY, 0),
  messageGroup: orNull(name()),
  attributes: texts('Those of the definition.'),
  nextTickAt: time(
    '2026-11-22T01:30:00.000Z',
    'The planned time of the next tick; in the past while it cannot be sent.',
  ),
  lastTickAt: orNull(time(), 'The planned time of the last tick that was sent.'),
  lastSentAt: orNull(time(), 'When it was sent.'),
  lastError: orNull(text(), 'Why the next tick could not be sent so far; it is tried again each minute.'),
  tag: tag('kuH9fHhS1mGCMr0jkNtfWQ'),
  createdAt: time('2026-11-21T08:30:00.000Z'),
}

export const SCHEDULE: AnswerOf<Schedule> = answer('Schedule', { ...listed, body: anyJson({ report: 'daily' }) })
export const LISTED_SCHEDULE: AnswerOf<ListedSchedule> = answer('ListedSchedule', listed)
export const SCHEDULE_PAGE: AnswerOf<SchedulePage> = answer('SchedulePage', {
  schedules: list(LISTED_SCHEDULE),
  nextAfter: orNull(text()),
})
