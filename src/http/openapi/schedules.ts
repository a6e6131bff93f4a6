/** What the OpenAPI document says of schedules: the schemas of the answers, and an example of each body. */
import { orNull, ref, type Schema } from '../../fields/field'
import { MAX_RECEIVES, PRIORITY, VISIBILITY_SECONDS } from '../../fields/queues'
import { EVERY_SECONDS, MISSED_TICKS } from '../../fields/schedules'
import { NewScheduleDto, ScheduleChangesDto } from '../dto/schedules'
import { answer, anyJson, componentsOf, count, nameOrNull, pageOf, tag, textOrNull, timeOrNull } from './shapes'

const listed = {
  schedule: ref('Name'),
  queue: ref('Name'),
  cron: textOrNull,
  everySeconds: orNull(EVERY_SECONDS.schema),
  timeZone: { ...textOrNull, description: 'Null without `cron`.' },
  missed: MISSED_TICKS.schema,
  delaySeconds: count,
  visibilityTimeoutSeconds: orNull(VISIBILITY_SECONDS.schema),
  maxReceives: {
    ...orNull(MAX_RECEIVES.schema),
    description: "Left out if the queue's limit applies; null is no limit.",
  },
  priority: PRIORITY.schema,
  messageGroup: nameOrNull,
  attributes: {
    type: 'object',
    description: 'Those of the definition.',
    additionalProperties: { type: 'string' },
  },
  nextTickAt: {
    ...ref('Time'),
    description: 'The planned time of the next tick; in the past while it cannot be sent.',
  },
  lastTickAt: { ...timeOrNull, description: 'The planned time of the last tick that was sent.' },
  lastSentAt: { ...timeOrNull, description: 'When it was sent.' },
  lastError: {
    ...textOrNull,
    description: 'Why the next tick could not be sent so far; it is tried again each minute.',
  },
  tag,
  createdAt: ref('Time'),
}

/** `maxReceives` may be left out. */
function scheduleAnswer(properties: Record<string, Schema>): Schema {
  const required = Object.keys(properties).filter((name) => name !== 'maxReceives')
  return { ...answer(properties), required }
}

export const scheduleSchemas: Readonly<Record<string, Schema>> = {
  ...componentsOf(NewScheduleDto, ScheduleChangesDto),
  Schedule: scheduleAnswer({ ...listed, body: anyJson }),
  ListedSchedule: scheduleAnswer(listed),
  SchedulePage: pageOf('schedules', 'ListedSchedule'),
}

export const newSchedule = {
  queue: 'mail',
  cron: '30 2 * * *',
  timeZone: 'Europe/Berlin',
  body: { report: 'daily' },
}

export const scheduleChanges = { cron: '0 3 * * *' }

const listedSchedule = {
  schedule: 'nightly-report',
  queue: 'mail',
  cron: '30 2 * * *',
  everySeconds: null,
  timeZone: 'Europe/Berlin',
  missed: 'send-once',
  delaySeconds: 0,
  visibilityTimeoutSeconds: null,
  priority: 0,
  messageGroup: null,
  attributes: {},
  nextTickAt: '2026-11-22T01:30:00.000Z',
  lastTickAt: null,
  lastSentAt: null,
  lastError: null,
  tag: 'kuH9fHhS1mGCMr0jkNtfWQ',
  createdAt: '2026-11-21T08:30:00.000Z',
}

export const schedule = { ...listedSchedule, body: newSchedule.body }

export const schedulePage = { schedules: [listedSchedule], nextAfter: null }
