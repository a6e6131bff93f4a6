/** The arguments of schedules: when messages are sent, and what they say. */
import type { Fault } from '../shared/errors'
import { wallClockMs } from '../shared/platform'
import { type Field, nullable, optional, refused, required, rulesOf } from './field'
import { attributesField, MAX_ATTRIBUTES, MAX_DELAY_SECONDS, plainMessage } from './queues'
import { NAME, oneOf, PART, PREFIX, page, VALUE, whole } from './rules'
import { cronFault, MISSED, silenceFault, timeZoneFault } from './ticks'

/** The attributes by which a message says which schedule and which tick it is from. */
export const SCHEDULE_ATTRIBUTE = 'recentn.schedule'
export const TICK_ATTRIBUTE = 'recentn.tick'
const OWN_ATTRIBUTES = [SCHEDULE_ATTRIBUTE, TICK_ATTRIBUTE]
export const MAX_GIVEN = MAX_ATTRIBUTES - OWN_ATTRIBUTES.length

export const CRON: Field<string> = { fault: cronFault, schema: { type: 'string', minLength: 1, maxLength: 191 } }
export const TIME_ZONE: Field<string> = {
  fault: timeZoneFault,
  schema: { type: 'string', minLength: 1, maxLength: 64 },
}
export const EVERY_SECONDS = whole(1, MAX_DELAY_SECONDS)

const given = attributesField(MAX_GIVEN)
export const OTHER_ATTRIBUTES: Field<Readonly<Record<string, string>>> = {
  ...given,
  fault(value) {
    const fault = given.fault(value)
    if (fault !== null) return fault
    const own = OWN_ATTRIBUTES.find((name) => Object.hasOwn(value as object, name))
    return own === undefined ? null : `must not have ${own}, which the schedule sets`
  },
}

export const MISSED_TICKS = oneOf(MISSED)
export const NO_DEDUP_ID = 'must not be given: each tick is sent once'
export const newSchedule = {
  ...plainMessage,
  queue: required(NAME),
  cron: nullable(CRON),
  everySeconds: nullable(EVERY_SECONDS),
  timeZone: nullable(TIME_ZONE),
  missed: optional(MISSED_TICKS),
  attributes: nullable(OTHER_ATTRIBUTES),
  dedupId: refused(NO_DEDUP_ID),
}
export const NEW_SCHEDULE_RULES = rulesOf(newSchedule)

export const scheduleChanges = { ...newSchedule, body: optional(VALUE), queue: optional(NAME) }
export const SCHEDULE_CHANGES_RULES = rulesOf(scheduleChanges)

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
export const SCHEDULE_PAGE_RULES = rulesOf({ ...page, prefix, queuePrefix: prefix, contains: optional(PART) })
