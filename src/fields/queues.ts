/** What queues and their messages are given. */
import { RAN_OUT } from '../failures'
import {
  body,
  type Field,
  list,
  notNull,
  nullable,
  optional,
  type Rule,
  ref,
  refused,
  required,
  rulesOf,
} from './field'
import {
  ANSWER_BYTES,
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
  SIGNAL,
  text,
  VALUE,
  whole,
} from './rules'

export const MAX_VISIBILITY_SECONDS = 43_200
export const MAX_DELAY_SECONDS = 315_360_000
export const DEFAULT_MAX_RECEIVES = 5
export const MAX_ERROR_CHARACTERS = 1000

export const MESSAGE_STATES = ['ready', 'in-flight', 'delayed', 'blocked', 'dead', 'archived'] as const
const ON_DELETE = ['remove', 'archive'] as const

/** The `lastError` of a message whose last claim ran out, where nobody had said what went wrong. */
export function ranOutError(receives: number): string {
  return `${RAN_OUT}${receives} ${receives === 1 ? 'receive' : 'receives'}.`
}

const visibility = (description?: string) => whole(0, MAX_VISIBILITY_SECONDS, description)
export const VISIBILITY_SECONDS = visibility()
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
const GROUP_CONCURRENCY = whole(1, 1000)
const MAX_MESSAGES = whole(1, 10_000_000)
/** How long a read waits for what is not there yet. */
export const waitSeconds = (what: string) =>
  defaulted(whole(0, 20), 0, `How long to wait for a ${what} when there is none.`)

/** An app that sets its queues up must not undo an operator's pause. */
const paused = refused('is not a setting: pause the queue with `pause`, and resume it with `resume`')
const HELD = 'How long a receiver has a message for itself'
const DEAD = 'A message whose claim ends without an `ack` after this many receives is dead. Null is no limit'
const LETTERS = 'Where dead messages go: a queue that exists'
const DELETED = 'What happens to a message that its receiver acknowledges'
const PLACES =
  'How many messages of one `messageGroup` are ready or in flight at once; the others are blocked, and follow in the order in ' +
  'which they were sent. Null is no limit'
const ROOM =
  'Sends are refused with `queue_full` while the queue has this many messages, or the send would bring more. Null is no limit'
const KEPT = 'How long archived messages are kept'

/** Those that are left out take their defaults. */
export const QUEUE_SETTINGS = body('QueueSettings', {
  visibilityTimeoutSeconds: optional(visibility(`${HELD}; 30 when left out.`)),
  maxReceives: nullable(MAX_RECEIVES, `${DEAD}; ${DEFAULT_MAX_RECEIVES} when left out.`),
  deadLetterQueue: nullable(NAME, `${LETTERS}. Null, and left out: they stay, with the state \`dead\`.`),
  onDelete: optional(oneOf(ON_DELETE, `${DELETED}; \`remove\` when left out.`)),
  retentionSeconds: nullable(whole(1, MAX_TTL_SECONDS), `${KEPT}; null, and left out: for ever.`),
  groupConcurrency: nullable(GROUP_CONCURRENCY, `${PLACES}, which is what it is when left out.`),
  maxMessages: nullable(MAX_MESSAGES, `${ROOM}, which is what it is when left out.`),
  paused,
})
export const QUEUE_DEFAULTS = {
  visibilityTimeoutSeconds: 30,
  maxReceives: DEFAULT_MAX_RECEIVES,
  deadLetterQueue: null,
  onDelete: 'remove',
  retentionSeconds: null,
  groupConcurrency: null,
  maxMessages: null,
} as const
/** Those that are left out stay as they are. */
export const QUEUE_CHANGES = body('QueueChanges', {
  visibilityTimeoutSeconds: notNull(VISIBILITY_SECONDS, `${HELD}.`),
  maxReceives: nullable(MAX_RECEIVES, `${DEAD}.`),
  deadLetterQueue: nullable(NAME, `${LETTERS}. Null: they stay, with the state \`dead\`.`),
  onDelete: notNull(oneOf(ON_DELETE), `${DELETED}.`),
  retentionSeconds: nullable(whole(1, MAX_TTL_SECONDS), `${KEPT}. Null: for ever.`),
  groupConcurrency: nullable(GROUP_CONCURRENCY, `${PLACES}.`),
  maxMessages: nullable(MAX_MESSAGES, `${ROOM}.`),
  paused,
})

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

export const sendOptions = {
  delaySeconds: optional(defaulted(DELAY_SECONDS, 0, 'The time until the message is handed out.')),
  visibilityTimeoutSeconds: nullable(VISIBILITY_SECONDS, "In place of the queue's, where a receive asks for none."),
  maxReceives: nullable(MAX_RECEIVES, "In place of the queue's. Null is no limit; the queue's when left out."),
  dedupId: nullable(
    NAME,
    'If a message with it was sent to this queue in the last 5 minutes, nothing is sent, and the answer is that message.',
  ),
  priority: optional(defaulted(PRIORITY, 0, 'Higher first.')),
  messageGroup: nullable(
    NAME,
    'Messages of one group take turns with those of other groups. Those without one share one.',
  ),
  attributes: nullable(attributesField(MAX_ATTRIBUTES), 'Handed to the receiver as they are, such as `traceparent`.'),
}
export const NEW_MESSAGE = body('NewMessage', { body: required(VALUE), ...sendOptions })
export const MESSAGES = body('Messages', { messages: required(list(NEW_MESSAGE, MAX_BATCH)) })
export const SEND_RULES = rulesOf(sendOptions)

export const RECEIVE = body('Receive', {
  limit: optional(defaulted(whole(1, MAX_BATCH), 1, 'Maximum number of messages to return.')),
  visibilityTimeoutSeconds: optional(VISIBILITY_SECONDS, "In place of the messages' own and the queue's."),
  waitSeconds: optional(waitSeconds('message')),
})
const { limit, visibilityTimeoutSeconds } = RECEIVE.members
export const CYCLE = body('Cycle', {
  limit,
  visibilityTimeoutSeconds,
  cursor: optional(NAME, 'The name of the cursor; `default` when left out.'),
})
const bodies = optional(FORM)
export const receiveOptions = { ...RECEIVE.members, signal: optional(SIGNAL), bodies }
export const RECEIVE_RULES = rulesOf(receiveOptions)
export const CYCLE_RULES = rulesOf({ ...CYCLE.members, signal: optional(SIGNAL), bodies })

const handles = {
  receiptHandle: notNull(text(), 'One claim: the answer is 204, or 409 if the claim has ended.'),
  receiptHandles: notNull(list(text(), MAX_BATCH), 'Many claims: the answer is 200 and says what became of each.'),
}
export const nackOptions = {
  delaySeconds: optional(defaulted(DELAY_SECONDS, 0, 'The time until the messages are handed out again.')),
  error: nullable(text(), 'Kept as `lastError`, cut to 1,000 characters.'),
  dead: optional(defaulted(flag(), false, 'True: the messages become dead letters, whatever their receive counts.')),
}
const extendOptions = { visibilityTimeoutSeconds: required(VISIBILITY_SECONDS, 'Counted from now.') }
const EITHER = 'Either `receiptHandle` or `receiptHandles` is given.'
export const ACK = body('Ack', handles, EITHER)
export const NACK = body('Nack', { ...handles, ...nackOptions }, EITHER)
export const EXTEND = body('Extend', { ...handles, ...extendOptions }, EITHER)
export const NACK_RULES = rulesOf(nackOptions)
export const EXTEND_RULES = rulesOf(extendOptions)

export const peekOptions = {
  ...page,
  bodies: optional(oneOf(['value', 'text', 'preview'])),
  state: optional(oneOf(MESSAGE_STATES)),
  maxBytes: optional(ANSWER_BYTES),
}
export const PEEK_RULES = rulesOf(peekOptions)
export const BODY_RULES = rulesOf({ bodies })

const dryRun = optional(
  flag('True: nothing changes, and the answer is the number of messages that would be affected now.'),
)
export const PURGE = body('Purge', { dryRun })
const listOf = (fault: Rule) => (value: unknown) =>
  Array.isArray(value) && value.length >= 1 && value.length <= MAX_BATCH && value.every((one) => fault(one) === null)
    ? null
    : `must be a list of 1 to ${MAX_BATCH} ids`
/** 1 to 1,000 ids. */
const IDS: Field<readonly bigint[]> = {
  fault: listOf(idFault),
  wire: {
    fault: listOf(idTextFault),
    read: (value) => (listOf(idTextFault)(value) === null ? (value as string[]).map(BigInt) : undefined),
  },
  schema: { type: 'array', items: ref('Id'), minItems: 1, maxItems: MAX_BATCH },
}
export const REDRIVE = body('Redrive', {
  ids: optional(IDS, 'Only these messages.'),
  limit: optional(whole(1, Number.MAX_SAFE_INTEGER, 'Maximum number of messages; all when left out.')),
  dryRun,
})
export const PROMOTE = body('Promote', { ids: required(IDS) })
export const redriveOptions = {
  ids: REDRIVE.members.ids,
  limit: REDRIVE.members.limit,
  prefix: optional(PREFIX),
  dryRun,
}
export const REDRIVE_RULES = rulesOf(redriveOptions)
/** A request without members. */
export const NO_FIELDS = body('NoFields', {})
