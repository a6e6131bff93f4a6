/** Looking at messages without claiming them, and removing them by their ids. */

import type { Reader, Row, Tx } from '../../database/engine'
import { PEEKED_MESSAGE, WHOLE_MESSAGE } from '../../fields/answers-queues'
import { maxBytesOf } from '../../fields/options'
import { invalidInput } from '../../shared/errors'
import { jsonBytes } from '../../shared/json-faults'
import type {
  BodyForm,
  BodyOptions,
  MessagePage,
  MessageState,
  PeekedMessage,
  PeekOptions,
  WholeMessage,
} from '../../shared/queue-types'
import { choosing, OWN_COLUMN } from './dead/dead-choice'
import { movesOf } from './groups/places'
import { holdHead, isLimited, limitOf, type QueueHead, type ReadHead, requireHead } from './heads'
import { keysBefore, type LockedKeys, lockKeys } from './keys/key-locks'
import { KeyTurns, moving, NO_KEYS } from './keys/key-turns'
import type { QueueMemory } from './memory'
import { archivePage, type MessagePlace, pageAfter, placeOf } from './pages'
import { holdersOf } from './receivers/read'
import { removeRows } from './removal'
import {
  attributesOf,
  bodyOf,
  countOf,
  deathColumns,
  OWN_LIMIT,
  PREVIEW_LENGTH,
  stateName,
  storedState,
  timeOf,
} from './rows'
import { failuresOf } from './settle/receipts'
import { type LockedRow, lockChosen } from './settle/transitions'

const COMMON =
  'receive_count, sent_at_ms, visible_at_ms, first_received_at_ms, last_received_at_ms, message_group, message_key, last_error, priority, attributes'
const WHOLE = `${COMMON}, body`
const PREVIEWED = `${COMMON}, SUBSTR(body, 1, ${PREVIEW_LENGTH + 1}) AS body`

/** Rows of one statement: a page of large bodies ends long before. */
const ROWS_AT_ONCE = 50

/** Rows of one page: it ends there, perhaps with no message, if few are chosen. */
const MAX_SEEN = 10_000

const AFTER = /^(-?\d{1,19})\.(-?\d{1,19})\.(\d{1,19})$/

function afterOf(text: string | undefined): MessagePlace | null {
  if (text === undefined) return null
  const parts = AFTER.exec(Buffer.from(text, 'base64url').toString('latin1'))
  const numbers = parts?.slice(1).map((part) => BigInt(part)) ?? []
  // A number that no column holds was never issued, and SQLite's driver takes no such number.
  if (!parts || numbers.some((number) => BigInt.asIntN(64, number) !== number)) {
    throw invalidInput([{ parameter: 'after', detail: 'is not the nextAfter of a page' }])
  }
  const [major, minor, id] = numbers as [bigint, bigint, bigint]
  return { major, minor, id }
}

function textOf({ major, minor, id }: MessagePlace): string {
  return Buffer.from(`${major}.${minor}.${id}`, 'latin1').toString('base64url')
}

/** Ready messages come in the order in which they will be handed out, the others by their time. */
export async function peekPage(
  reader: Reader,
  queue: string,
  options: PeekOptions & { limit: number },
): Promise<MessagePage> {
  const head = await requireHead(reader, queue)
  const { state = 'ready', limit } = options
  const maxBytes = maxBytesOf(options)
  const columns = options.bodies === 'preview' ? PREVIEWED : WHOLE
  const isChosen = choosing(options, queue, state === 'dead')
  let after = afterOf(options.after)
  const shown: Row[] = []
  const page = async (more: boolean): Promise<MessagePage> => {
    const holder = await holdersOf(reader, head.id, state === 'in-flight' ? shown : [])
    const messages = shown.map((row) => peekedOf(row, state, head.maxReceives, { ...options, receiver: holder(row) }))
    return { messages, nextAfter: more && after ? textOf(after) : null }
  }
  let bytes = 0
  for (let seen = 0; ; ) {
    const asked = isChosen ? ROWS_AT_ONCE : Math.min(ROWS_AT_ONCE, limit - shown.length + 1)
    const rows = await rowsAfter(reader, head, state, { after, limit: asked, columns })
    for (const row of rows) {
      if (isChosen && !isChosen(row)) {
        after = placeOf(row)
        continue
      }
      const isFull = shown.length === limit || (shown.length > 0 && bytes + bytesOf(row) > maxBytes)
      if (isFull) return page(true)
      shown.push(row)
      bytes += bytesOf(row)
      after = placeOf(row)
    }
    if (rows.length < asked) return page(false)
    seen += rows.length
    if (seen >= MAX_SEEN) return page(true)
  }
}

/** Size of a message as JSON without its texts: the names of its fields, numbers and times. */
const FRAME_BYTES = 450

function bytesOf({ body, attributes, last_error: error, message_group: group, dead_letter_from: from = null }: Row) {
  const texts = jsonBytes(error as string | null) + jsonBytes(group as string | null) + jsonBytes(from as string | null)
  const kept = Buffer.byteLength(body as string) + Buffer.byteLength((attributes as string | null) ?? '')
  return FRAME_BYTES + kept + texts
}

function rowsAfter(
  reader: Reader,
  { id }: QueueHead,
  state: MessageState,
  { after, limit, columns }: { after: MessagePlace | null; limit: number; columns: string },
): Promise<Row[]> {
  const { engine } = reader
  const stored = storedState(state)
  if (stored === null) {
    const archived = `${engine.bigint('id')} AS id, archived_at_ms, max_receives, ${columns}`
    return archivePage(reader, { columns: archived, queueId: id, lock: '', limit }, after)
  }
  const all = `${engine.bigint('id')} AS id, ${OWN_COLUMN}, ${OWN_LIMIT} AS max_receives, ${deathColumns(reader.tables)}, ${columns}`
  return pageAfter(reader, { columns: all, queueId: id, state: stored, where: '', lock: '', limit }, after)
}

export async function getMessage(
  reader: Reader,
  queue: string,
  id: bigint,
  options: BodyOptions,
): Promise<WholeMessage | null> {
  const head = await requireHead(reader, queue)
  const text = `${reader.engine.bigint('id')} AS id`
  const columns = `${WHOLE}, failures`
  const [row] = await reader.rows(
    `SELECT ${text}, state, ${reader.engine.bigint('sort_minor')} AS minor, ${OWN_LIMIT} AS max_receives, ${deathColumns(reader.tables)}, ${columns} FROM ${reader.tables.queueMessages} WHERE id = ? AND queue_id = ?`,
    [id, head.id],
  )
  if (row) {
    const state = stateName(row.state)
    const holder = await holdersOf(reader, head.id, state === 'in-flight' ? [row] : [])
    return wholeOf(row, state, head.maxReceives, { ...options, receiver: holder(row) })
  }
  const [archived] = await reader.rows(
    `SELECT ${text}, archived_at_ms, max_receives, ${columns} FROM ${reader.tables.queueArchive} WHERE id = ? AND queue_id = ?`,
    [id, head.id],
  )
  return archived ? wholeOf(archived, 'archived', head.maxReceives, { ...options, receiver: null }) : null
}

export async function removeMessage(tx: Tx, memory: QueueMemory, queue: string, id: bigint): Promise<boolean> {
  const held = await holdHead(tx, queue)
  const { head } = held
  if (head.isKeyed || isLimited(head)) {
    const keys = head.isKeyed ? await lockKeys(tx, await keysBefore(tx, head, [id])) : NO_KEYS
    const rows = await lockChosen(tx, head, [id], '1 = 1')
    await removeEnded(tx, memory, held, keys, rows)
    if (rows.length > 0) return true
  }
  const removed = await tx.run(`DELETE FROM ${tx.tables.queueMessages} WHERE id = ? AND queue_id = ?`, [id, head.id])
  if (removed > 0) return true
  return (await tx.run(`DELETE FROM ${tx.tables.queueArchive} WHERE id = ? AND queue_id = ?`, [id, head.id])) > 0
}

/** Ends messages that wait in their groups and with their keys, and removes them. */
async function removeEnded(
  tx: Tx,
  memory: QueueMemory,
  { head, nowMs }: ReadHead,
  keys: LockedKeys,
  rows: readonly LockedRow[],
): Promise<void> {
  const turns = new KeyTurns(keys)
  turns.end(head, rows)
  await moving(tx, memory, { nowMs, turns }, movesOf(rows, head, null), () =>
    removeRows(tx, rows, tx.tables.queueMessages),
  )
}

type PeekedRow = [
  row: Row,
  state: MessageState,
  limit: number,
  also: { bodies?: BodyForm; receiver: PeekedMessage['receiver'] },
]

const peekedOf = (...given: PeekedRow): PeekedMessage => PEEKED_MESSAGE.of(fieldsOf(...given))

const wholeOf = (...given: PeekedRow): WholeMessage =>
  WHOLE_MESSAGE.of({ ...fieldsOf(...given), failures: failuresOf(given[0].failures) })

/** `limit` is the queue's, as the table has it, for messages without their own. */
function fieldsOf(...[row, state, limit, { bodies, receiver }]: PeekedRow): PeekedMessage {
  return {
    id: BigInt(row.id as string),
    state,
    body: bodyOf(row.body as string, bodies),
    receiveCount: Number(row.receive_count),
    maxReceives: limitOf(row.max_receives === null ? limit : Number(row.max_receives)),
    sentAt: new Date(Number(row.sent_at_ms)),
    visibleAt: new Date(Number(row.visible_at_ms)),
    firstReceivedAt: timeOf(row.first_received_at_ms),
    lastReceivedAt: timeOf(row.last_received_at_ms),
    archivedAt: state === 'archived' ? new Date(Number(row.archived_at_ms)) : null,
    deadAt: timeOf(row.dead_at_ms),
    deadReceiveCount: countOf(row.dead_receive_count),
    deadLetterFrom: (row.dead_letter_from as string | null | undefined) ?? null,
    lastError: row.last_error as string | null,
    messageGroup: row.message_group as string | null,
    key: row.message_key as string | null,
    receiver,
    priority: Number(row.priority),
    attributes: attributesOf(row.attributes as string | null),
  }
}

/** False where none waits. Throws `queue_not_found`. */
export async function cancelWaiting(tx: Tx, memory: QueueMemory, queue: string, key: string): Promise<boolean> {
  const held = await holdHead(tx, queue)
  const { head } = held
  if (!head.isKeyed) return false
  const keys = await lockKeys(tx, [{ head, key }])
  const rows = [...keys.values()].flatMap(({ waiting }) => waiting ?? [])
  await removeEnded(tx, memory, held, keys, rows)
  return rows.length > 0
}
