/** The arguments of schedules, and the bodies of their routes: when messages are sent, and what they say. */
import type { Fault } from '../shared/errors'
import type { JsonText } from '../shared/json'
import { wallClockMs } from '../shared/platform'
import { Checked, Component, NotNull, Nullable, Optional, Refused, Required, rulesOfDto } from './dto'
import { type Field, optional, rulesOf } from './field'
import { attributesField, MAX_ATTRIBUTES, MessageDto } from './messages'
import { DELAY_SECONDS, MAX_DELAY_SECONDS, PRIORITY } from './queues'
import { defaulted, NAME, oneOf, PART, PREFIX, page, VALUE, whole } from './rules'
import { cronFault, MISSED, type MissedTicks, silenceFault, timeZoneFault } from './ticks'

/** The attributes by which a message says which schedule and which tick it is from. */
export const SCHEDULE_ATTRIBUTE = 'recentn.schedule'
export const TICK_ATTRIBUTE = 'recentn.tick'
const OWN_ATTRIBUTES = [SCHEDULE_ATTRIBUTE, TICK_ATTRIBUTE]
const MAX_GIVEN = MAX_ATTRIBUTES - OWN_ATTRIBUTES.length

const CRON: Field<string> = { fault: cronFault, schema: { type: 'string', minLength: 1, maxLength: 191 } }
const TIME_ZONE: Field<string> = {
  fault: timeZoneFault,
  schema: { type: 'string', minLength: 1, maxLength: 64 },
}
export const EVERY_SECONDS = whole(1, MAX_DELAY_SECONDS)

const given = attributesField(MAX_GIVEN)
const OTHER_ATTRIBUTES: Field<Readonly<Record<string, string>>> = {
  ...given,
  fault(value) {
    const fault = given.fault(value)
    if (fault !== null) return fault
    const own = OWN_ATTRIBUTES.find((name) => Object.hasOwn(value as object, name))
    return own === undefined ? null : `must not have ${own}, which the schedule sets`
  },
}

export const MISSED_TICKS = oneOf(MISSED)
const QUEUE = 'The queue that gets the messages. It must exist.'

@Component('ScheduleChanges', 'A field that is left out stays as it is.')
export class ScheduleChangesDto extends MessageDto {
  @NotNull(NAME, QUEUE) queue?: string
  @NotNull(DELAY_SECONDS) override delaySeconds?: number
  @NotNull(PRIORITY) override priority?: number
  @NotNull(MISSED_TICKS) missed?: MissedTicks

  @Nullable(
    CRON,
    'A cron pattern of 5 fields (minute, hour, day of the month, month, day of the week), or of 6 with seconds first. ' +
      'Either this or `everySeconds`.',
  )
  cron?: string | null

  @Nullable(EVERY_SECONDS, 'The time between two ticks. Either this or `cron`.') everySeconds?: number | null

  @Nullable(TIME_ZONE, 'The IANA name of the time zone of `cron`; `UTC` when left out.')
  timeZone?: string | null

  @Nullable(
    OTHER_ATTRIBUTES,
    `Up to ${MAX_GIVEN}. Each message also has \`${SCHEDULE_ATTRIBUTE}\`, the name of the schedule, and \`${TICK_ATTRIBUTE}\`, the planned time.`,
  )
  override attributes?: Readonly<Record<string, string>> | null

  @Refused('must not be given: each tick is sent once') override dedupId?: undefined
}

export const SCHEDULE_CHANGES_RULES = rulesOfDto(ScheduleChangesDto)

type TimingGiven = Partial<Record<'cron' | 'everySeconds' | 'timeZone', unknown>>

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

@Component('NewSchedule')
@Checked(timingFaults)
export class NewScheduleDto extends ScheduleChangesDto {
  @Required(NAME, QUEUE) override queue!: string
  @Required(VALUE) override body!: JsonText
  @Optional(defaulted(DELAY_SECONDS, 0, 'The time until the message is handed out.')) override delaySeconds?: number
  @Optional(defaulted(PRIORITY, 0, 'Higher first.')) override priority?: number

  @Optional(
    defaulted(
      MISSED_TICKS,
      'send-once',
      'If every tick that is due is more than a minute late: `send-once` sends the newest of them, `skip` sends none.',
    ),
  )
  override missed?: MissedTicks
}
export const NEW_SCHEDULE_RULES = rulesOfDto(NewScheduleDto)

const prefix = optional(PREFIX)
export const SCHEDULE_PAGE_RULES = rulesOf({ ...page, prefix, queuePrefix: prefix, contains: optional(PART) })
