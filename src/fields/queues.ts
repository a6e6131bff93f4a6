/** The arguments of queues and their messages. */
import type { Fault } from '../shared/errors'
import { RAN_OUT } from '../shared/failures'
import { type Field, nullable, optional, type Rule, ref, refused, required, rulesOf, said } from './field'
import { RATE } from './rates'
import {
  defaulted,
  FORM,
  flag,
  idFault,
  idTextFault,
  MAX_BATCH,
  MAX_TTL_SECONDS,
  NAME,
  oneOf,
  PREFIX,
  page,
  prefixPage,
  SIGNAL,
  text,
  VALUE,
  whole,
} from './rules'

export const MAX_VISIBILITY_SECONDS = 43_200
export const MAX_DELAY_SECONDS = 315_360_000
export const DEFAULT_MAX_RECEIVES = 5
export const MAX_ERROR_CHARACTERS = 1000

export const HISTORY_PERIODS = ['hour', 'week'] as const
export const QUEUE_STATES = ['all', 'main', 'dead', 'growing', 'stuck', 'blocked', 'paused'] as const
export const QUEUE_ORDERS = ['ready', 'in-flight', 'delayed', 'blocked', 'oldest', 'died', 'growth'] as const
export const MESSAGE_STATES = ['ready', 'in-flight', 'delayed', 'blocked', 'dead', 'archived'] as const
export const ON_DELETE = oneOf(['remove', 'archive'])

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
export const GROUP_CONCURRENCY = whole(1, 1000)
export const MAX_MESSAGES = whole(1, 10_000_000)
/** How long a read waits for what is not there yet. */
export const waitSeconds = (what: string) =>
  defaulted(whole(0, 20), 0, `How long to wait for a ${what} when there is none.`)

export const RETENTION_SECONDS = whole(1, MAX_TTL_SECONDS)
export const PAUSED = 'is not a setting: pause the queue with `pause`, and resume it with `resume`'

/** The settings, each with the document's description of it. */
export const SETTING = {
  visibilityTimeoutSeconds: said(VISIBILITY_SECONDS, 'How long a receiver has a message for itself.'),
  maxReceives: said(
    MAX_RECEIVES,
    'A message whose claim ends without an `ack` after this many receives is dead. Null is no limit.',
  ),
  deadLetterQueue: said(NAME, 'Where dead messages go: a queue that exists. Null: they stay, with the state `dead`.'),
  onDelete: said(ON_DELETE, 'Whether a message that its receiver acknowledges is removed or archived.'),
  retentionSeconds: said(RETENTION_SECONDS, 'How long archived messages are kept. Null: for ever.'),
  groupConcurrency: said(
    GROUP_CONCURRENCY,
    'How many messages of one `messageGroup` are ready or in flight at once; the others are blocked, and follow in the order in ' +
      'which they were sent. Null is no limit.',
  ),
  maxMessages: said(
    MAX_MESSAGES,
    'Sends are refused with `queue_full` while the queue has this many messages, or the send would bring more. Null is no limit.',
  ),
  rateLimit: said(RATE, 'At most `messages` are received in each span of `perSeconds`. Null is no limit.'),
  groupRateLimit: said(RATE, 'The same for each `messageGroup`. Null is no limit.'),
}

export const queueSettings = {
  visibilityTimeoutSeconds: optional(SETTING.visibilityTimeoutSeconds),
  maxReceives: nullable(SETTING.maxReceives),
  deadLetterQueue: nullable(SETTING.deadLetterQueue),
  onDelete: optional(SETTING.onDelete),
  retentionSeconds: nullable(SETTING.retentionSeconds),
  groupConcurrency: nullable(SETTING.groupConcurrency),
  maxMessages: nullable(SETTING.maxMessages),
  rateLimit: nullable(SETTING.rateLimit),
  groupRateLimit: nullable(SETTING.groupRateLimit),
  // An app that sets its queues up must not undo an operator's pause.
  paused: refused(PAUSED),
}
export const QUEUE_SETTINGS_RULES = rulesOf(queueSettings)
export const QUEUE_DEFAULTS = {
  visibilityTimeoutSeconds: 30,
  maxReceives: DEFAULT_MAX_RECEIVES,
  deadLetterQueue: null,
  onDelete: 'remove',
  retentionSeconds: null,
  groupConcurrency: null,
  maxMessages: null,
  rateLimit: null,
  groupRateLimit: null,
} as const

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
export const ON_KEY = oneOf(['keep', 'replace', 'postpone'])

/** The options of a message without a key. */
const plainOptions = {
  delaySeconds: optional(DELAY_SECONDS),
  visibilityTimeoutSeconds: nullable(VISIBILITY_SECONDS),
  maxReceives: nullable(MAX_RECEIVES),
  dedupId: nullable(NAME),
  priority: optional(PRIORITY),
  messageGroup: nullable(NAME),
  attributes: nullable(ATTRIBUTES),
}
export const plainMessage = { body: required(VALUE), ...plainOptions }
const keyOptions = { key: nullable(NAME), onKey: optional(ON_KEY), maxDelaySeconds: optional(DELAY_SECONDS) }
export const sendOptions = { ...plainOptions, ...keyOptions }
export const newMessage = { ...plainMessage, ...keyOptions }
export const SEND_RULES = rulesOf(sendOptions)
export const NEW_MESSAGE_RULES = rulesOf(newMessage)

/** The faults of the members about a key, taken together. */
export function keyFaults({
  key,
  onKey,
  maxDelaySeconds,
}: {
  key?: unknown
  onKey?: unknown
  maxDelaySeconds?: unknown
}): Fault[] {
  const faults: Fault[] = []
  if (onKey !== undefined && (key ?? null) === null)
    faults.push({ pointer: '/onKey', detail: 'must not be given without key' })
  if (maxDelaySeconds !== undefined && onKey !== 'postpone') {
    faults.push({ pointer: '/maxDelaySeconds', detail: 'must not be given unless onKey is postpone' })
  }
  return faults
}

const bodies = optional(FORM)
export const BATCH_LIMIT = whole(1, MAX_BATCH)
export const WAIT_SECONDS = waitSeconds('message')
export const receiveOptions = {
  limit: optional(BATCH_LIMIT),
  visibilityTimeoutSeconds: optional(VISIBILITY_SECONDS),
  waitSeconds: optional(WAIT_SECONDS),
  signal: optional(SIGNAL),
  bodies,
}
const { waitSeconds: _, ...claiming } = receiveOptions
export const cycleOptions = { ...claiming, cursor: optional(NAME) }
export const RECEIVE_RULES = rulesOf(receiveOptions)
export const CYCLE_RULES = rulesOf(cycleOptions)

export const nackOptions = {
  delaySeconds: optional(DELAY_SECONDS),
  error: nullable(text()),
  dead: optional(flag()),
}
export const NACK_RULES = rulesOf(nackOptions)
export const extendOptions = { visibilityTimeoutSeconds: required(VISIBILITY_SECONDS) }
export const EXTEND_RULES = rulesOf(extendOptions)

/** Like a `lastError`, of which 1,000 characters are kept. */
export const ERROR = text()
export const ALIKE =
  'Only messages whose `lastError` is like this one, numbers and ids aside. Empty: those without an error.'
const deadFilter = { error: optional(ERROR), from: optional(NAME) }
export const ERRORS_RULES = rulesOf({ from: optional(NAME) })
export const QUEUE_LIST_RULES = rulesOf({
  ...prefixPage,
  state: optional(oneOf(QUEUE_STATES)),
  sort: optional(oneOf(QUEUE_ORDERS)),
  deadLetterQueue: optional(NAME),
})
export const HISTORY_RULES = rulesOf({ period: optional(oneOf(HISTORY_PERIODS)) })
export const peekOptions = {
  ...page,
  ...deadFilter,
  bodies: optional(oneOf(['value', 'text', 'preview'])),
  state: optional(oneOf(MESSAGE_STATES)),
}
export const PEEK_RULES = rulesOf(peekOptions)
export const BODY_RULES = rulesOf({ bodies })

const listOf = (fault: Rule) => (value: unknown) =>
  Array.isArray(value) && value.length >= 1 && value.length <= MAX_BATCH && value.every((one) => fault(one) === null)
    ? null
    : `must be a list of 1 to ${MAX_BATCH} ids`
export const IDS: Field<readonly bigint[]> = {
  fault: listOf(idFault),
  wire: {
    fault: listOf(idTextFault),
    read: (value) => (listOf(idTextFault)(value) === null ? (value as string[]).map(BigInt) : undefined),
  },
  schema: { type: 'array', items: ref('Id'), minItems: 1, maxItems: MAX_BATCH },
}
export const IDS_RULES = rulesOf({ ids: required(IDS) })
export const PROMOTE_RULES = rulesOf({ inFlight: optional(flag()) })
export const ANY_COUNT = whole(1, Number.MAX_SAFE_INTEGER)
const deadChoices = { ...deadFilter, ids: optional(IDS), limit: optional(ANY_COUNT), dryRun: optional(flag()) }
export const redriveOptions = { ...deadChoices, prefix: optional(PREFIX) }
export const REDRIVE_RULES = rulesOf(redriveOptions)
export const purgeOptions = { ...deadChoices, dead: optional(flag()) }
export const PURGE_RULES = rulesOf(purgeOptions)
