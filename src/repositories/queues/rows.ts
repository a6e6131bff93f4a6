/** How messages stand in the tables: their states, columns and receipts, and what becomes of a row. */
import type { Engine, Row } from '../../database/engine'
import type { Tables } from '../../database/tables'
import { MAX_ID } from '../../fields/rules'
import { JsonText } from '../../json'
import { asPeeked, MessageResult } from '../../results/queues'
import { limitOf, type QueueHead } from './heads'
import type { BodyForm, BodyOptions, Message, MessageState, PeekedMessage } from './types'

export const STATE = { ready: 0, inFlight: 1, delayed: 2, dead: 3 } as const

const STATE_NAMES: readonly MessageState[] = ['ready', 'in-flight', 'delayed', 'dead']

/**
 * The order of a line in the index of claims. `id` alone would be the column of the answer where it is a text, and the
 * rows would be sorted by it, all of them, and locked.
 */
export const inLine = ({ queueMessages }: Tables) => `sort_major, sort_minor, ${queueMessages}.id`

/** The line of the index that a state is; null for what is in the archive. */
export function lineOf(state: MessageState): number | null {
  const line = STATE_NAMES.indexOf(state)
  return line < 0 ? null : line
}

/** The receipt of a message that nobody has a claim on. */
export const NO_RECEIPT = '0'.repeat(32)

/** Ids in one statement: with some hundreds of them a server may go through the whole table, and lock it. */
export const MAX_IDS = 100

/** Ids of one DELETE, which commits by itself: what each costs beside its rows is shared by more of them. */
export const MAX_REMOVED = 500

/** A message's own limit of receives, which does not hold among the dead letters. */
export const OWN_LIMIT = 'CASE WHEN source_queue_id IS NULL THEN max_receives END AS max_receives'

/** The name of the queue that a dead letter died in. */
export const deadLetterFrom = ({ queues, queueMessages }: Tables) =>
  `(SELECT source.queue FROM ${queues} source WHERE source.id = ${queueMessages}.source_queue_id) AS dead_letter_from`

export function messageColumns(engine: Engine): string {
  return (
    `${engine.bigint('id')} AS id, receipt, receive_count, ${OWN_LIMIT}, sent_at_ms, last_received_at_ms, visible_at_ms, ` +
    'last_error, message_group, priority, virtual_start, body'
  )
}

/** A claimed message, and where it stood. */
export interface ClaimedRow {
  id: bigint
  receipt: string
  receiveCount: number
  maxReceives: number | null
  sentAtMs: number
  receivedAtMs: number
  visibleAtMs: number
  lastError: string | null
  messageGroup: string | null
  priority: number
  virtualStart: number
  body: string
}

export function claimedOf(row: Row): ClaimedRow {
  return {
    id: BigInt(row.id as string),
    receipt: row.receipt as string,
    receiveCount: Number(row.receive_count),
    maxReceives: row.max_receives === null ? null : Number(row.max_receives),
    sentAtMs: Number(row.sent_at_ms),
    receivedAtMs: Number(row.last_received_at_ms),
    visibleAtMs: Number(row.visible_at_ms),
    lastError: row.last_error as string | null,
    messageGroup: row.message_group as string | null,
    priority: Number(row.priority),
    virtualStart: Number(row.virtual_start),
    body: row.body as string,
  }
}

export function messageOf({ id: queueId, maxReceives }: QueueHead, row: ClaimedRow, { bodies }: BodyOptions): Message {
  return new MessageResult(
    row.id,
    bodyOf(row.body, bodies),
    row.receiveCount,
    handleOf(queueId, row.id, row.receipt),
    new Date(row.sentAtMs),
    new Date(row.receivedAtMs),
    new Date(row.visibleAtMs),
    limitOf(row.maxReceives ?? maxReceives),
    row.lastError,
    row.messageGroup,
    row.priority,
  )
}

/** Characters of a preview. */
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

/** `limit` is the queue's, as it stands in the table, for messages without their own. */
export function peekedOf(
  row: Row,
  state: MessageState,
  limit: number,
  { bodies }: { bodies?: BodyForm },
): PeekedMessage {
  const lastReceivedAtMs = Number(row.last_received_at_ms)
  return asPeeked({
    id: BigInt(row.id as string),
    state,
    body: bodyOf(row.body as string, bodies),
    receiveCount: Number(row.receive_count),
    maxReceives: limitOf(row.max_receives === null ? limit : Number(row.max_receives)),
    sentAt: new Date(Number(row.sent_at_ms)),
    visibleAt: new Date(Number(row.visible_at_ms)),
    lastReceivedAt: lastReceivedAtMs === 0 ? null : new Date(lastReceivedAtMs),
    archivedAt: state === 'archived' ? new Date(Number(row.archived_at_ms)) : null,
    deadLetterFrom: (row.dead_letter_from as string | null | undefined) ?? null,
    lastError: row.last_error as string | null,
    messageGroup: row.message_group as string | null,
    priority: Number(row.priority),
  })
}

export function stateName(line: unknown): MessageState {
  return STATE_NAMES[Number(line)] as MessageState
}

/** What a handle names. */
export interface Receipt {
  handle: string
  id: bigint
  /** In upper-case hexadecimal digits, as it stands in the table. */
  receipt: string
}

const HANDLE_BYTES = 28
const HANDLE = /^[A-Za-z0-9_-]{38}$/

/**
 * The id and the secret of the claim, 128 random bits of the database's own for each message and claim. The check is
 * no secret: it tells a handle that was garbled, or that belongs to another queue, from one that is stale.
 */
export function handleOf(queueId: bigint, id: bigint, receipt: string): string {
  const bytes = Buffer.allocUnsafe(HANDLE_BYTES)
  bytes.writeBigUInt64BE(id, 0)
  bytes.write(receipt, 8, 16, 'hex')
  bytes.writeUInt32BE(checkOf(queueId, bytes), 24)
  return bytes.toString('base64url')
}

/** Null for what is no handle of this queue. */
export function receiptOf(queueId: bigint, handle: unknown): Receipt | null {
  if (typeof handle !== 'string' || !HANDLE.test(handle)) return null
  const bytes = Buffer.from(handle, 'base64url')
  if (bytes.length !== HANDLE_BYTES || bytes.readUInt32BE(24) !== checkOf(queueId, bytes)) return null
  const receipt = bytes.toString('hex', 8, 24).toUpperCase()
  // Four bits of the last character are unused: only one way of writing them is ours.
  if (receipt === NO_RECEIPT || bytes.toString('base64url') !== handle) return null
  const id = bytes.readBigUInt64BE(0)
  return id > MAX_ID ? null : { handle, id, receipt }
}

/** FNV-1a. */
function checkOf(queueId: bigint, bytes: Buffer): number {
  let hash = 0x811c9dc5 ^ Number(BigInt.asUintN(32, queueId))
  for (let index = 0; index < HANDLE_BYTES - 4; index++) hash = Math.imul(hash ^ (bytes[index] as number), 0x01000193)
  return hash >>> 0
}
