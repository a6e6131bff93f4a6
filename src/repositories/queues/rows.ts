/** The rows of messages: their states, order and columns, and what callers get of them. */
import { createHash } from 'node:crypto'
import type { Parameter } from '../../database/engine'
import type { Tables } from '../../database/tables'
import { MESSAGE } from '../../fields/answers-queues'
import { JsonText } from '../../shared/json'
import type { BodyForm, BodyOptions, Message, MessageState } from '../../shared/queue-types'
import { chunksBySize } from '../chunks'
import { column, shaped } from '../row-shape'
import { limitOf, type QueueHead } from './heads'
import { handleOf } from './settle/receipts'

export interface MessageToSend {
  body: string
  delayMs: number
  visibilityTimeoutSeconds: number | null
  maxReceives: number | null
  dedupId: string | null
  priority: number
  messageGroup: string | null
  key: string | null
  /** The effect on a message with the key that waits already. */
  onKey: 'keep' | 'replace' | 'postpone'
  /** The longest time from the first send of a message that is postponed until it is due; null is no limit. */
  maxDelayMs: number | null
  /** JSON text; null if there are none. */
  attributes: string | null
}

/** The values of a message without a key. */
export const NO_KEY = { key: null, onKey: 'keep', maxDelayMs: null } as const

export interface SendRequest {
  queue: string
  rows: readonly MessageToSend[]
}

/** The columns that every send sets. */
const SENT_COLUMNS = [
  'queue_id',
  'state',
  'sort_major',
  'sort_minor',
  'virtual_start',
  'cycle_queue_id',
  'visible_at_ms',
  'sent_at_ms',
  'priority',
  'body',
]

/** Null in most messages: a column that no row of an INSERT needs is left out, and costs nothing. */
const OPTIONAL_COLUMNS = [
  ['max_receives', 'maxReceives'],
  ['visibility_timeout_seconds', 'visibilityTimeoutSeconds'],
  ['message_group', 'messageGroup'],
  ['message_key', 'key'],
  ['attributes', 'attributes'],
] as const

/** The columns of an INSERT of these messages, and what adds a message's own values to those of the columns before `body`. */
export function insertedColumns(messages: readonly MessageToSend[]): {
  columns: string
  withOwn: (values: Parameter[], message: MessageToSend) => Parameter[]
} {
  const optional = OPTIONAL_COLUMNS.filter(([, property]) => messages.some((message) => message[property] !== null))
  return {
    columns: [...SENT_COLUMNS, ...optional.map(([column]) => column)].join(', '),
    // A loop: this runs for each message.
    withOwn: (values, message) => {
      values.push(message.body)
      for (const [, property] of optional) values.push(message[property])
      return values
    },
  }
}

/** Limits of one INSERT. A UTF-16 unit may become six bytes of it, and the smallest usual `max_allowed_packet` is 1 MiB. */
const MAX_INSERT_ROWS = 1000
const MAX_INSERT_UNITS = 128 * 1024
/** The size of a row without its texts. */
const ROW_UNITS = 60

/** The UTF-16 units of what the caller has written. */
export function textsOf({ body, attributes }: MessageToSend): number {
  return body.length + (attributes?.length ?? 0)
}

/** Parts of what is to be sent, each for one INSERT. */
export function insertChunks<T>(list: readonly T[], messageOf: (one: T) => MessageToSend): T[][] {
  const unitsOf = (one: T) => {
    const message = messageOf(one)
    return textsOf(message) + (message.messageGroup?.length ?? 0) + (message.key?.length ?? 0) + ROW_UNITS
  }
  return chunksBySize(list, unitsOf, MAX_INSERT_ROWS, MAX_INSERT_UNITS)
}

export const STATE = { ready: 0, inFlight: 1, delayed: 2, dead: 3, blocked: 4 } as const

const STATE_NAMES: readonly MessageState[] = ['ready', 'in-flight', 'delayed', 'dead', 'blocked']

/** Where the claims index has the blocked messages of a group: by a digest of its name. */
export function blockedPlace(group: string): { major: bigint; minor: bigint } {
  const digest = createHash('sha256').update(group).digest()
  return { major: digest.readBigInt64BE(0), minor: digest.readBigInt64BE(8) }
}

/** Messages of a higher priority have a smaller urgency: the claims index has them first. */
export function urgencyOf(priority: number): number {
  return priority === 0 ? 0 : -priority
}

/**
 * The order of the claims index within a queue and state. `id` alone could name the text column of the answer: the server
 * would then sort all rows by it, and lock them.
 */
export const claimOrder = ({ queueMessages }: Tables) => `sort_major, sort_minor, ${queueMessages}.id`

/** Where it has those that wait behind a message with their key. No group has this digest. */
export const BEHIND = { major: 0n, minor: 0n } as const

/** The state as the table has it; null for archived messages, which have another table. */
export function storedState(state: MessageState): number | null {
  const stored = STATE_NAMES.indexOf(state)
  return stored < 0 ? null : stored
}

export function stateName(stored: unknown): MessageState {
  return STATE_NAMES[Number(stored)] as MessageState
}

export const MAX_IDS = 100 // in one statement: with some hundreds of them a server may scan the whole table, and lock it

/** A message's own limit of receives, which does not hold among the dead letters. */
export const OWN_LIMIT = 'CASE WHEN source_queue_id IS NULL THEN max_receives END'

/** Null for 0, which means never, and for a column that is null, or that the archive lacks. */
export const timeOf = (ms: unknown) => (Number(ms ?? 0) === 0 ? null : new Date(Number(ms)))
export const countOf = (value: unknown) => (value === null || value === undefined ? null : Number(value))

/** When a dead letter died, after how many receives, and the name of the queue. */
export const deathColumns = ({ queues, queueMessages }: Tables) =>
  `(SELECT source.queue FROM ${queues} source WHERE source.id = ${queueMessages}.source_queue_id) AS dead_letter_from, ` +
  'dead_at_ms, dead_receive_count'

const CLAIMED = shaped({
  id: column.big.of('id'),
  receipt: column.text.of('receipt'),
  receiveCount: column.number.of('receive_count'),
  maxReceives: column.number.orNull(OWN_LIMIT),
  sentAtMs: column.number.of('sent_at_ms'),
  firstReceivedAt: { sql: () => 'first_received_at_ms', of: timeOf },
  receivedAtMs: column.number.of('last_received_at_ms'),
  deadAt: { sql: () => 'dead_at_ms', of: timeOf },
  deadReceiveCount: column.number.orNull('dead_receive_count'),
  visibleAtMs: column.number.of('visible_at_ms'),
  lastError: column.text.orNull('last_error'),
  messageGroup: column.text.orNull('message_group'),
  priority: column.number.of('priority'),
  virtualStart: column.number.of('virtual_start'),
  body: column.text.of('body'),
  attributes: column.text.orNull('attributes'),
})

/** A claimed message, and where it stood. */
export type ClaimedRow = ReturnType<typeof CLAIMED.of>

export const { columns: claimedColumns, of: claimedOf } = CLAIMED

export interface ClaimedMessages {
  head: QueueHead
  rows: ClaimedRow[]
  nextInMs?: number | null // where there are none: when some may have their turn, if that is known
}

export function messageOf({ id: queueId, maxReceives }: QueueHead, row: ClaimedRow, { bodies }: BodyOptions): Message {
  return MESSAGE.make({
    id: row.id,
    body: bodyOf(row.body, bodies),
    receiveCount: row.receiveCount,
    receiptHandle: handleOf(queueId, row.id, row.receipt),
    sentAt: new Date(row.sentAtMs),
    receivedAt: new Date(row.receivedAtMs),
    visibleAt: new Date(row.visibleAtMs),
    maxReceives: limitOf(row.maxReceives ?? maxReceives),
    firstReceivedAt: row.firstReceivedAt,
    deadAt: row.deadAt,
    deadReceiveCount: row.deadReceiveCount,
    lastError: row.lastError,
    messageGroup: row.messageGroup,
    priority: row.priority,
    attributes: attributesOf(row.attributes),
  })
}

/** The attributes that were sent; none for a message without any. */
export function attributesOf(text: string | null): Readonly<Record<string, string>> {
  return text === null ? {} : JSON.parse(text)
}

export const PREVIEW_LENGTH = 200

/** `text` has at least one character more than a preview where there is more. */
function previewOf(text: string): string {
  const characters = Array.from(text.slice(0, 2 * (PREVIEW_LENGTH + 1)))
  return characters.length > PREVIEW_LENGTH ? `${characters.slice(0, PREVIEW_LENGTH).join('')}…` : text
}

export function bodyOf(text: string, form: BodyForm | undefined): unknown {
  if (form === 'preview') return previewOf(text)
  return form === 'text' ? new JsonText(text) : JSON.parse(text)
}
