/** The bodies of the routes that make and change a schedule. */
import { DELAY_SECONDS, PRIORITY } from '../../fields/queues'
import { defaulted, NAME, VALUE } from '../../fields/rules'
import * as fields from '../../fields/schedules'
import type { MissedTicks } from '../../fields/ticks'
import type { JsonText } from '../../shared/json'
import { Checked, Component, NotNull, Nullable, Optional, Refused, Required } from './dto'
import { MessageDto } from './queues'

const { MAX_GIVEN, SCHEDULE_ATTRIBUTE, TICK_ATTRIBUTE } = fields
const QUEUE = 'The queue that gets the messages. It must exist.'

@Component('ScheduleChanges', 'A field that is left out stays as it is.')
export class ScheduleChangesDto extends MessageDto {
  @NotNull(NAME, QUEUE) queue?: string
  @NotNull(DELAY_SECONDS) override delaySeconds?: number
  @NotNull(PRIORITY) override priority?: number
  @NotNull(fields.MISSED_TICKS) missed?: MissedTicks

  @Nullable(
    fields.CRON,
    'A cron pattern of 5 fields (minute, hour, day of the month, month, day of the week), or of 6 with seconds first. ' +
      'Either this or `everySeconds`.',
  )
  cron?: string | null

  @Nullable(fields.EVERY_SECONDS, 'The time between two ticks. Either this or `cron`.') everySeconds?: number | null

  @Nullable(fields.TIME_ZONE, 'The IANA name of the time zone of `cron`; `UTC` when left out.')
  timeZone?: string | null

  @Nullable(
    fields.OTHER_ATTRIBUTES,
    `Up to ${MAX_GIVEN}. Each message also has \`${SCHEDULE_ATTRIBUTE}\`, the name of the schedule, and \`${TICK_ATTRIBUTE}\`, the planned time.`,
  )
  override attributes?: Readonly<Record<string, string>> | null

  @Refused(fields.NO_DEDUP_ID) override dedupId?: undefined
}

@Component('NewSchedule')
@Checked(fields.timingFaults)
export class NewScheduleDto extends ScheduleChangesDto {
  @Required(NAME, QUEUE) override queue!: string
  @Required(VALUE) override body!: JsonText
  @Optional(defaulted(DELAY_SECONDS, 0, 'The time until the message is handed out.')) override delaySeconds?: number
  @Optional(defaulted(PRIORITY, 0, 'Higher first.')) override priority?: number

  @Optional(
    defaulted(
      fields.MISSED_TICKS,
      'send-once',
      'If every tick that is due is more than a minute late: `send-once` sends the newest of them, `skip` sends none.',
    ),
  )
  override missed?: MissedTicks
}
