/** The bodies of the routes of queues and their messages. */
import { exactlyOne, Judged, list } from '../../fields/field'
import * as fields from '../../fields/queues'
import { HOLD_SECONDS } from '../../fields/rates'
import { defaulted, flag, MAX_BATCH, NAME, text, VALUE } from '../../fields/rules'
import type { JsonText } from '../../shared/json'
import type { OnDelete, QueueSettings } from '../../shared/queue-types'
import { Checked, Component, NotNull, Nullable, Optional, object, Refused, Required } from './dto'

const { VISIBILITY_SECONDS, MAX_RECEIVES, DELAY_SECONDS, SETTING } = fields

@Component(
  'QueueSettings',
  'A setting that is left out gets its default: `visibilityTimeoutSeconds` 30, ' +
    `\`maxReceives\` ${fields.DEFAULT_MAX_RECEIVES}, \`onDelete\` \`remove\`; the others null.`,
)
export class QueueSettingsDto extends Judged {
  @Optional(SETTING.visibilityTimeoutSeconds) visibilityTimeoutSeconds?: number
  @Nullable(SETTING.maxReceives) maxReceives?: number | null
  @Nullable(SETTING.deadLetterQueue) deadLetterQueue?: string | null
  @Optional(SETTING.onDelete) onDelete?: OnDelete
  @Nullable(SETTING.retentionSeconds) retentionSeconds?: number | null
  @Nullable(SETTING.groupConcurrency) groupConcurrency?: number | null
  @Nullable(SETTING.maxMessages) maxMessages?: number | null
  @Nullable(SETTING.rateLimit) rateLimit?: QueueSettings['rateLimit']
  @Nullable(SETTING.groupRateLimit) groupRateLimit?: QueueSettings['groupRateLimit']
  @Refused(fields.PAUSED) paused?: undefined
}

@Component('QueueChanges', 'A setting that is left out stays as it is.')
export class QueueChangesDto extends QueueSettingsDto {
  @NotNull(SETTING.visibilityTimeoutSeconds) override visibilityTimeoutSeconds?: number
  @NotNull(SETTING.onDelete) override onDelete?: OnDelete
}

/** The members of a message, also where its body may be left out. */
export abstract class MessageDto extends Judged {
  @NotNull(VALUE) body?: JsonText
  @Optional(defaulted(DELAY_SECONDS, 0, 'The time until the message is handed out.')) delaySeconds?: number

  @Nullable(VISIBILITY_SECONDS, "In place of the queue's, where a receive asks for none.")
  visibilityTimeoutSeconds?: number | null

  @Nullable(MAX_RECEIVES, "In place of the queue's. Null is no limit; the queue's when left out.")
  maxReceives?: number | null

  @Nullable(
    NAME,
    'If a message with it was sent to this queue in the last 5 minutes, nothing is sent, and the answer is that message.',
  )
  dedupId?: string | null

  @Optional(defaulted(fields.PRIORITY, 0, 'Higher first.')) priority?: number

  @Nullable(NAME, 'Messages of one group take turns with those of other groups. Those without one share one.')
  messageGroup?: string | null

  @Nullable(fields.ATTRIBUTES, 'Handed to the receiver as they are, such as `traceparent`.')
  attributes?: Readonly<Record<string, string>> | null
}

@Component('NewMessage')
@Checked(fields.keyFaults)
export class NewMessageDto extends MessageDto {
  @Required(VALUE) override body!: JsonText

  @Nullable(NAME, 'At most one message with it waits. If one does, nothing is sent, and the answer is that message.')
  key?: string | null

  @Optional(
    defaulted(
      fields.ON_KEY,
      'keep',
      'The waiting message: `keep` leaves it as it is, `replace` gives it this body and these attributes, `postpone` also begins its delay again.',
    ),
  )
  onKey?: 'keep' | 'replace' | 'postpone'

  @Optional(DELAY_SECONDS, 'With `postpone`: the longest time from its first send until it is handed out.')
  maxDelaySeconds?: number
}

@Component('Messages')
export class MessagesDto extends Judged {
  @Required(list(object(NewMessageDto), MAX_BATCH)) messages!: readonly NewMessageDto[]
}

abstract class ClaimDto extends Judged {
  @Optional(defaulted(fields.BATCH_LIMIT, 1, 'Maximum number of messages to return.')) limit?: number
  @Optional(VISIBILITY_SECONDS, "In place of the messages' own and the queue's.") visibilityTimeoutSeconds?: number
}

@Component('Receive')
export class ReceiveDto extends ClaimDto {
  @Optional(fields.WAIT_SECONDS) waitSeconds?: number
}

@Component('Cycle')
export class CycleDto extends ClaimDto {
  @Optional(NAME, 'The name of the cursor; `default` when left out.') cursor?: string
}

const EITHER = 'Either `receiptHandle` or `receiptHandles` is given.'
const hasEither = exactlyOne('receiptHandle', 'receiptHandles')

@Component('Ack', EITHER)
@Checked(hasEither)
export class AckDto extends Judged {
  @NotNull(text(), 'One claim: the answer is 204, or 409 if the claim has ended.') receiptHandle?: string

  @NotNull(list(text(), MAX_BATCH), 'Many claims: the answer is 200 and says what became of each.')
  receiptHandles?: readonly string[]
}

@Component('Nack', EITHER)
@Checked(hasEither)
export class NackDto extends AckDto {
  @Optional(defaulted(DELAY_SECONDS, 0, 'The time until the messages are handed out again.')) delaySeconds?: number
  @Nullable(text(), 'Kept as `lastError`, cut to 1,000 characters.') error?: string | null

  @Optional(defaulted(flag(), false, 'True: the messages become dead letters, whatever their receive counts.'))
  dead?: boolean
}

@Component('Extend', EITHER)
@Checked(hasEither)
export class ExtendDto extends AckDto {
  @Required(VISIBILITY_SECONDS, 'Counted from now.') visibilityTimeoutSeconds!: number
}

abstract class DeadDto extends Judged {
  @Optional(fields.IDS, 'Only these messages.') ids?: readonly bigint[]
  @Optional(fields.ERROR, fields.ALIKE) error?: string
  @Optional(NAME, 'Only messages that died in this queue.') from?: string
  @Optional(fields.ANY_COUNT, 'Maximum number of messages; all when left out.') limit?: number
  @Optional(flag('True: nothing changes, and the answer is the number of messages that would be affected now.'))
  dryRun?: boolean
}

@Component('Purge')
export class PurgeDto extends DeadDto {
  @Optional(
    flag(),
    'True: drop dead messages, those that died here and dead letters, and no others; as with `ids`, `error` and `from`.',
  )
  dead?: boolean
}

@Component('Redrive')
export class RedriveDto extends DeadDto {}

@Component('Hold')
export class HoldDto extends Judged {
  @Optional(NAME, 'The message group; the whole queue when left out.') group?: string
  @Required(HOLD_SECONDS) seconds!: number

  @Optional(text(), 'The claim of a message that is given back, as if it had not been received.')
  receiptHandle?: string
}

@Component('Promote')
export class PromoteDto extends Judged {
  @Required(fields.IDS) ids!: readonly bigint[]

  @Optional(defaulted(flag(), false, 'True: the messages in flight, in place of the delayed ones.'))
  inFlight?: boolean
}

/** A request without members. */
@Component('NoFields')
export class NoFieldsDto extends Judged {}
