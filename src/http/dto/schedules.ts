/** The body of the route that makes a schedule. */

import { defaulted, NAME } from '../../fields/rules'
import * as fields from '../../fields/schedules'
import type { MissedTicks } from '../../fields/ticks'
import { Component, Nullable, Optional, Refused, Required } from './dto'
import { NewMessageDto } from './queues'

const { MAX_GIVEN, SCHEDULE_ATTRIBUTE, TICK_ATTRIBUTE } = fields

@Component('NewSchedule')
export class NewScheduleDto extends NewMessageDto {
  @Required(NAME, 'The queue that gets the messages. It must exist.') queue!: string

  @Nullable(
    fields.CRON,
    'A cron pattern of 5 fields (minute, hour, day of the month, month, day of the week), or of 6 with seconds first. ' +
      'Either this or `everySeconds`.',
  )
  cron?: string | null

  @Nullable(fields.EVERY_SECONDS, 'The time between two ticks. Either this or `cron`.') everySeconds?: number | null

  @Nullable(fields.TIME_ZONE, 'The IANA name of the time zone of `cron`; `UTC` when left out.')
  timeZone?: string | null

  @Optional(
    defaulted(
      fields.MISSED_TICKS,
      'send-once',
      'If every tick that is due is more than a minute late: `send-once` sends the newest of them, `skip` sends none.',
    ),
  )
  missed?: MissedTicks

  @Nullable(
    fields.OTHER_ATTRIBUTES,
    `Up to ${MAX_GIVEN}. Each message also has \`${SCHEDULE_ATTRIBUTE}\`, the name of the schedule, and \`${TICK_ATTRIBUTE}\`, the planned time.`,
  )
  override attributes?: Readonly<Record<string, string>> | null

  @Refused(fields.NO_DEDUP_ID) override dedupId?: undefined
}
