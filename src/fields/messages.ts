/** The arguments about the messages of queues, and the bodies of their routes. */
import type { Fault } from '../shared/errors'
import type { JsonText } from '../shared/json'
import { Checked, Component, NotNull, Nullable, Optional, object, Required, rulesOfDto, without } from './dto'
import { exactlyOne, type Field, Judged, list, onlyWith, optional, type Rule, ref, rulesOf } from './field'
import { DELAY_SECONDS, MAX_RECEIVES, MESSAGE_STATES, PRIORITY, VISIBILITY_SECONDS, waitSeconds } from './queues'
import {
  defaulted,
  FORM,
  flag,
  idFault,
  idTextFault,
  MAX_BATCH,
  NAME,
  oneOf,
  PREFIX,
  page,
  SIGNAL,
  TIME,
  text,
  VALUE,
  whole,
} from './rules'

export const MAX_ATTRIBUTES = 16
const MAX_ATTRIBUTE_NAME = 64
const MAX_ATTRIBUTE_VALUE = 256
const ATTRIBUTE_NAME = /^[A-Za-z0-9_.-]{1,64}$/

function attributeFault(name: string, value: unknown): string | null {
  if (!ATTRIBUTE_NAME.test(name)) {
    return `the name ${JSON.stringify(name.slice(0, MAX_ATTRIBUTE_NAME))} must be 1 to ${MAX_ATTRIBUTE_NAME} of A-Z a-z 0-9 _ . -`
  }
  const isText = typeof value === 'string' && value.isWellFormed()
  if (isText && (value.length <= MAX_ATTRIBUTE_VALUE || Array.from(value).length <= MAX_ATTRIBUTE_VALUE)) return null
  return `${name} must be a text of at most ${MAX_ATTRIBUTE_VALUE} characters`
}

/** Every fault at once, in one text: their names are the caller's. */
export const attributesField = (max: number): Field<Readonly<Record<string, string>>> => ({
  fault(value) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object of texts'
    const entries = Object.entries(value)
    if (entries.length > max) return `must have at most ${max} names`
    const faults = entries.map(([name, each]) => attributeFault(name, each)).filter((fault) => fault !== null)
    return faults.length === 0 ? null : faults.join('; ')
  },
  schema: {
    type: 'object',
    maxProperties: max,
    propertyNames: { pattern: ATTRIBUTE_NAME.source },
    additionalProperties: { type: 'string', maxLength: MAX_ATTRIBUTE_VALUE },
  },
})

export const ATTRIBUTES = attributesField(MAX_ATTRIBUTES)

/** The effect of a send on a message that waits with its key. */
const ON_KEY = oneOf(['keep', 'replace', 'postpone'])

const keyNeeded = onlyWith('onKey', 'key')

/** The faults of the members about a key, taken together. */
export function keyFaults(given: Partial<Record<'key' | 'onKey' | 'maxDelaySeconds', unknown>>): Fault[] {
  const faults = keyNeeded(given)
  if (given.maxDelaySeconds !== undefined && given.onKey !== 'postpone') {
    faults.push({ pointer: '/maxDelaySeconds', detail: 'must not be given unless onKey is postpone' })
  }
  return faults
}

const bodies = optional(FORM)

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

  @Optional(defaulted(PRIORITY, 0, 'Higher first.')) priority?: number

  @Nullable(NAME, 'Messages of one group take turns with those of other groups. Those without one share one.')
  messageGroup?: string | null

  @Nullable(ATTRIBUTES, 'Handed to the receiver as they are, such as `traceparent`.')
  attributes?: Readonly<Record<string, string>> | null
}

@Component('NewMessage')
@Checked(keyFaults)
export class NewMessageDto extends MessageDto {
  @Required(VALUE) override body!: JsonText

  @Nullable(NAME, 'At most one message with it waits. If one does, nothing is sent, and the answer is that message.')
  key?: string | null

  @Optional(
    defaulted(
      ON_KEY,
      'keep',
      'The waiting message: `keep` leaves it as it is, `replace` gives it this body and these attributes, `postpone` also begins its delay again.',
    ),
  )
  onKey?: 'keep' | 'replace' | 'postpone'

  @Optional(DELAY_SECONDS, 'With `postpone`: the longest time from its first send until it is handed out.')
  maxDelaySeconds?: number
}

export const NEW_MESSAGE_RULES = rulesOfDto(NewMessageDto)
export const SEND_RULES = without(NEW_MESSAGE_RULES, 'body')

@Component('Messages')
export class MessagesDto extends Judged {
  @Required(list(object(NewMessageDto), MAX_BATCH)) messages!: readonly NewMessageDto[]
}

abstract class ClaimDto extends Judged {
  @Optional(defaulted(whole(1, MAX_BATCH), 1, 'Maximum number of messages to return.')) limit?: number
  @Optional(VISIBILITY_SECONDS, "In place of the messages' own and the queue's.") visibilityTimeoutSeconds?: number
}

const claiming = { signal: optional(SIGNAL), bodies }

@Component('Receive')
export class ReceiveDto extends ClaimDto {
  @Optional(waitSeconds('message')) waitSeconds?: number
}

export const RECEIVE_RULES = rulesOfDto(ReceiveDto, claiming)

@Component('Cycle')
export class CycleDto extends ClaimDto {
  @Optional(NAME, 'The name of the cursor; `default` when left out.') cursor?: string
}

export const CYCLE_RULES = rulesOfDto(CycleDto, claiming)

const EITHER = 'Either `receiptHandle` or `receiptHandles` is given.'
const HANDLES = ['receiptHandle', 'receiptHandles'] as const
const hasEither = exactlyOne(...HANDLES)

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

export const NACK_RULES = without(rulesOfDto(NackDto), ...HANDLES)

@Component('Extend', EITHER)
@Checked(hasEither)
export class ExtendDto extends AckDto {
  @Required(VISIBILITY_SECONDS, 'Counted from now.') visibilityTimeoutSeconds!: number
}

export const EXTEND_RULES = without(rulesOfDto(ExtendDto), ...HANDLES)

const listOf = (fault: Rule) => (value: unknown) =>
  Array.isArray(value) && value.length >= 1 && value.length <= MAX_BATCH && value.every((one) => fault(one) === null)
    ? null
    : `must be a list of 1 to ${MAX_BATCH} ids`
const IDS: Field<readonly bigint[]> = {
  fault: listOf(idFault),
  wire: {
    fault: listOf(idTextFault),
    read: (value) => (listOf(idTextFault)(value) === null ? (value as string[]).map(BigInt) : undefined),
  },
  schema: { type: 'array', items: ref('Id'), minItems: 1, maxItems: MAX_BATCH },
}

export const ALIKE =
  'Only messages whose `lastError` is like this one, numbers and ids aside. Empty: those without an error.'

abstract class DeadDto extends Judged {
  @Optional(IDS, 'Only these messages.') ids?: readonly bigint[]
  @Optional(text(), ALIKE) error?: string
  @Optional(NAME, 'Only messages that died in this queue.') from?: string
  @Optional(whole(1, Number.MAX_SAFE_INTEGER), 'Maximum number of messages; all when left out.') limit?: number
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

export const PURGE_RULES = rulesOfDto(PurgeDto)

@Component('Redrive')
export class RedriveDto extends DeadDto {}
export const REDRIVE_RULES = rulesOfDto(RedriveDto, { prefix: optional(PREFIX) })

export const promoteFaults = onlyWith('lastReceivedAt', 'inFlight')

@Component('Promote')
@Checked(promoteFaults)
export class PromoteDto extends Judged {
  @Required(IDS) ids!: readonly bigint[]

  @Optional(defaulted(flag(), false, 'True: the messages in flight, in place of the delayed ones.'))
  inFlight?: boolean

  @Optional(TIME, 'With `inFlight`: only claims that had begun by then. That of a message is its `lastReceivedAt`.')
  lastReceivedAt?: Date
}
const PROMOTE_BODY_RULES = rulesOfDto(PromoteDto)
export const PROMOTE_RULES = without(PROMOTE_BODY_RULES, 'ids')
export const IDS_RULES = without(PROMOTE_BODY_RULES, 'inFlight', 'lastReceivedAt')

export const peekOptions = {
  ...page,
  error: optional(text()),
  from: optional(NAME),
  bodies: optional(oneOf(['value', 'text', 'preview'])),
  state: optional(oneOf(MESSAGE_STATES)),
}
export const PEEK_RULES = rulesOf(peekOptions)
export const BODY_RULES = rulesOf({ bodies })
