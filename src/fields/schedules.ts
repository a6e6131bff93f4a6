/** What schedules are given: when messages are sent, and what they say. */
import type { Fault } from '../errors'
import { wallClockMs } from '../real-time'
import { body, type Field, notNull, nullable, optional, refused, required, rulesOf } from './field'
import { attributesField, DELAY_SECONDS, MAX_ATTRIBUTES, MAX_DELAY_SECONDS, PRIORITY, sendOptions } from './queues'
import { defaulted, NAME, oneOf, PREFIX, page, VALUE, whole } from './rules'
import { cronFault, MISSED, silenceFault, timeZoneFault } from './ticks'

/** The attributes by which a message says which schedule and which tick it is from. */
export const SCHEDULE_ATTRIBUTE = 'recentn.schedule'
export const TICK_ATTRIBUTE = 'recentn.tick'
const OWN_ATTRIBUTES = [SCHEDULE_ATTRIBUTE, TICK_ATTRIBUTE]
const MAX_GIVEN = MAX_ATTRIBUTES - OWN_ATTRIBUTES.length

const CRON: Field<string> = { fault: cronFault, schema: { type: 'string', minLength: 1, maxLength: 191 } }
const TIME_ZONE: Field<string> = { fault: timeZoneFault, schema: { type: 'string', minLength: 1, maxLength: 64 } }
const EVERY_SECONDS = whole(1, MAX_DELAY_SECONDS)

const given = attributesField(MAX_GIVEN)
const ATTRIBUTES: Field<Readonly<Record<string, string>>> = {
  ...given,
  fault(value) {
    const fault = given.fault(value)
    if (fault !== null) return fault
    const own = OWN_ATTRIBUTES.find((name) => Object.hasOwn(value as object, name))
    return own === undefined ? null : `must not have ${own}, which the schedule sets`
  },
}

const { dedupId: _, attributes: __, ...message } = sendOptions

export const NEW_SCHEDULE = body('NewSchedule', {
  queue: required(NAME, 'The queue that gets the messages. It must exist.'),
  cron: nullable(
    CRON,
    'A cron pattern of 5 fields (minute, hour, day of the month, month, day of the week), or of 6 with seconds first. ' +
      'Either this or `everySeconds`.',
  ),
  everySeconds: nullable(EVERY_SECONDS, 'The time between two ticks. Either this or `cron`.'),
  timeZone: nullable(TIME_ZONE, 'The IANA name of the time zone of `cron`; `UTC` when left out.'),
  missed: optional(
    defaulted(
      oneOf(MISSED),
      'send-once',
      'If every tick that is due is more than a minute late: `send-once` sends the newest of them, `skip` sends none.',
    ),
  ),
  body: required(VALUE),
  ...message,
  attributes: nullable(
    ATTRIBUTES,
    `Up to ${MAX_GIVEN}. Each message also has \`${SCHEDULE_ATTRIBUTE}\`, the name of the schedule, and \`${TICK_ATTRIBUTE}\`, the planned time.`,
  ),
  dedupId: refused('must not be given: each tick is sent once'),
})

export const SCHEDULE_CHANGES = body(
  'ScheduleChanges',
  {
    ...NEW_SCHEDULE.members,
    queue: notNull(NAME, 'The queue that gets the messages. It must exist.'),
    missed: notNull(oneOf(MISSED)),
    delaySeconds: notNull(DELAY_SECONDS),
    priority: notNull(PRIORITY),
    // Null is a value.
    body: { ...optional(VALUE), null: 'value', schema: VALUE.schema } as const,
  },
  'What is left out stays as it is.',
)

interface TimingGiven {
  cron?: unknown
  everySeconds?: unknown
  timeZone?: unknown
}

/** The faults of the members that say when, taken together; each by itself has its rule. */
export function timingFaults({ cron, everySeconds, timeZone }: TimingGiven): Fault[] {
  const isGiven = (value: unknown) => value !== undefined && value !== null
  if (!isGiven(cron) && !isGiven(everySeconds)) {
    return [{ pointer: '/cron', detail: 'is required unless everySeconds is given' }]
  }
  if (isGiven(cron) && isGiven(everySeconds)) {
    return [{ pointer: '/everySeconds', detail: 'must not be given together with cron' }]
  }
  if (!isGiven(cron) && isGiven(timeZone)) {
    return [{ pointer: '/timeZone', detail: 'must not be given without cron' }]
  }
  const zone = timeZone ?? 'UTC'
  if (!isGiven(cron) || cronFault(cron) !== null || timeZoneFault(zone) !== null) return []
  const detail = silenceFault(cron as string, zone as string, wallClockMs())
  return detail === null ? [] : [{ pointer: '/cron', detail }]
}

const prefix = optional(PREFIX)
export const SCHEDULE_PAGE_RULES = rulesOf({ ...page, prefix, queuePrefix: prefix })
