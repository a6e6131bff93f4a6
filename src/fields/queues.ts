/** The arguments of queues, and the bodies of their routes; those of messages are in `messages.ts`. */
import { RAN_OUT } from '../shared/failures'
import type { OnAck, QueueSettings } from '../shared/queue-types'
import { Component, NotNull, Nullable, Optional, Refused, Required, rulesOfDto } from './dto'
import { type Field, faultsOf, Judged, optional, required, rulesOf, said } from './field'
import { defaulted, MAX_TTL_SECONDS, NAME, oneOf, prefixPage, text, whole } from './rules'

export const MAX_VISIBILITY_SECONDS = 43_200
export const MAX_DELAY_SECONDS = 315_360_000
const DEFAULT_MAX_RECEIVES = 5
const MAX_ERROR_CHARACTERS = 1000

/** The part of an error's message that a row keeps. */
export function keptError(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error)
  return Array.from(said.toWellFormed()).slice(0, MAX_ERROR_CHARACTERS).join('')
}

export const HISTORY_PERIODS = ['hour', 'week'] as const
export const QUEUE_STATES = ['all', 'main', 'dead', 'growing', 'stuck', 'blocked', 'paused'] as const
export const QUEUE_ORDERS = ['ready', 'in-flight', 'delayed', 'blocked', 'oldest', 'died', 'growth'] as const
export const MESSAGE_STATES = ['ready', 'in-flight', 'delayed', 'blocked', 'dead', 'archived'] as const

/** The `lastError` of a message whose last claim ran out, whose receiver had given no error. */
export function ranOutError(receives: number): string {
  return `${RAN_OUT}${receives} ${receives === 1 ? 'receive' : 'receives'}.`
}

export const VISIBILITY_SECONDS = whole(0, MAX_VISIBILITY_SECONDS)
export const DELAY_SECONDS = whole(0, MAX_DELAY_SECONDS)
export const PRIORITY = whole(-1000, 1000)
const RECEIVES = whole(1, 1_000_000)
/** A limit that is not null. */
export const MAX_RECEIVES: typeof RECEIVES = {
  ...RECEIVES,
  fault(value) {
    const fault = RECEIVES.fault(value)
    return fault === null ? null : `${fault}, or null for no limit`
  },
}
/** How long a read waits for what is not there yet. */
export const waitSeconds = (what: string) =>
  defaulted(whole(0, 20), 0, `How long to wait for a ${what} when there is none.`)

/** Of the status of a queue. */
export const LIMITED =
  'How many messages a rate limit, or a hold of the queue, keeps waiting. With a `groupRateLimit` all blocked messages count, also ' +
  'those that wait for `groupConcurrency` or a key: to tell them apart, each would be read.'

/** `messages` in `perSeconds`. */
const RATES = { messages: whole(1, 100_000), perSeconds: whole(1, 86_400) }
const RATE_RULES = rulesOf({ messages: required(RATES.messages), perSeconds: required(RATES.perSeconds) })
const RATE: Field<{ messages: number; perSeconds: number }> = {
  fault(value) {
    if (typeof value !== 'object' || value === null) return 'must be { messages, perSeconds }'
    const faults = faultsOf(value, RATE_RULES).map(({ pointer, detail }) => `${pointer?.slice(1)} ${detail}`)
    return faults.length === 0 ? null : faults.join('; ')
  },
  schema: {
    type: 'object',
    required: ['messages', 'perSeconds'],
    properties: { messages: RATES.messages.schema, perSeconds: RATES.perSeconds.schema },
    additionalProperties: false,
  },
}

/** The settings, each with the document's description of it. */
export const SETTING = {
  visibilityTimeoutSeconds: said(VISIBILITY_SECONDS, 'How long a receiver has a message for itself.'),
  maxReceives: said(
    MAX_RECEIVES,
    'A message whose claim ends without an `ack` after this many receives is dead. Null is no limit.',
  ),
  deadLetterQueue: said(NAME, 'Where dead messages go: a queue that exists. Null: they stay, with the state `dead`.'),
  onAck: said(oneOf(['remove', 'archive']), 'Whether a message that its receiver acknowledges is removed or archived.'),
  retentionSeconds: said(whole(1, MAX_TTL_SECONDS), 'How long archived messages are kept. Null: for ever.'),
  groupConcurrency: said(
    whole(1, 1000),
    'How many messages of one `messageGroup` are ready or in flight at once; the others are blocked, and follow in the order in ' +
      'which they were sent. Null is no limit.',
  ),
  maxMessages: said(
    whole(1, 10_000_000),
    'Sends are refused with `queue_full` while the queue has this many messages, or the send would bring more. Null is no limit.',
  ),
  rateLimit: said(RATE, 'At most `messages` are received in each span of `perSeconds`. Null is no limit.'),
  groupRateLimit: said(RATE, 'The same for each `messageGroup`. Null is no limit.'),
}

@Component(
  'QueueSettings',
  'A setting that is left out gets its default: `visibilityTimeoutSeconds` 30, ' +
    `\`maxReceives\` ${DEFAULT_MAX_RECEIVES}, \`onAck\` \`remove\`; the others null.`,
)
export class QueueSettingsDto extends Judged {
  @Optional(SETTING.visibilityTimeoutSeconds) visibilityTimeoutSeconds?: number
  @Nullable(SETTING.maxReceives) maxReceives?: number | null
  @Nullable(SETTING.deadLetterQueue) deadLetterQueue?: string | null
  @Optional(SETTING.onAck) onAck?: OnAck
  @Nullable(SETTING.retentionSeconds) retentionSeconds?: number | null
  @Nullable(SETTING.groupConcurrency) groupConcurrency?: number | null
  @Nullable(SETTING.maxMessages) maxMessages?: number | null
  @Nullable(SETTING.rateLimit) rateLimit?: QueueSettings['rateLimit']
  @Nullable(SETTING.groupRateLimit) groupRateLimit?: QueueSettings['groupRateLimit']
  // An app that sets its queues up must not undo an operator's pause.
  @Refused('is not a setting: pause the queue with `pause`, and resume it with `resume`') paused?: undefined
}

export const QUEUE_SETTINGS_RULES = rulesOfDto(QueueSettingsDto)

@Component('QueueChanges', 'A setting that is left out stays as it is.')
export class QueueChangesDto extends QueueSettingsDto {
  @NotNull(SETTING.visibilityTimeoutSeconds) override visibilityTimeoutSeconds?: number
  @NotNull(SETTING.onAck) override onAck?: OnAck
}

export const QUEUE_DEFAULTS = {
  visibilityTimeoutSeconds: 30,
  maxReceives: DEFAULT_MAX_RECEIVES,
  deadLetterQueue: null,
  onAck: 'remove',
  retentionSeconds: null,
  groupConcurrency: null,
  maxMessages: null,
  rateLimit: null,
  groupRateLimit: null,
} as const

export const ERRORS_RULES = rulesOf({ from: optional(NAME) })
export const QUEUE_LIST_RULES = rulesOf({
  ...prefixPage,
  state: optional(oneOf(QUEUE_STATES)),
  sort: optional(oneOf(QUEUE_ORDERS)),
  deadLetterQueue: optional(NAME),
})
export const HISTORY_RULES = rulesOf({ period: optional(oneOf(HISTORY_PERIODS)) })

@Component('Hold')
export class HoldDto extends Judged {
  @Optional(NAME, 'The message group; the whole queue when left out.') group?: string
  @Required(whole(0, MAX_VISIBILITY_SECONDS), 'Counted from now; 0 ends the hold.') seconds!: number

  @Optional(text(), 'The claim of a message that is given back, as if it had not been received.')
  receiptHandle?: string
}
export const HOLD_RULES = rulesOfDto(HoldDto)

/** A request without members. */
@Component('NoFields')
export class NoFieldsDto extends Judged {}
