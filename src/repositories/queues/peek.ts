/** Looking at messages without claiming them, and removing them by their ids. */
import { type Parameter, placeholders, type Reader, type Row, type Session, type Tx } from '../../database/engine'
import { invalidInput } from '../../errors'
import { holdHead, notFound, type QueueHead, readHead } from './heads'
import { lineOf, peekedOf, STATE, stateName } from './rows'
import type { BodyOptions, MessagePage, MessageState, PeekedMessage, PeekOptions } from './types'

const COMMON =
  'receive_count, max_receives, sent_at_ms, visible_at_ms, last_received_at_ms, message_group, last_error, priority, body'

/** Rows read at once: a page of great bodies is cut long before. */
const ROWS_AT_ONCE = 50

/** Where a page ended: the order of the line, and the id. */
interface After {
  major: bigint
  minor: bigint
  id: bigint
}

const AFTER = /^(-?\d{1,19})\.(-?\d{1,19})\.(\d{1,19})$/

function afterOf(text: string | undefined): After | null {
  if (text === undefined) return null
  const parts = AFTER.exec(Buffer.from(text, 'base64url').toString('latin1'))
  if (!parts) throw invalidInput([{ parameter: 'after', detail: 'is not the nextAfter of a page' }])
  const [major, minor, id] = parts.slice(1).map((part) => BigInt(part)) as [bigint, bigint, bigint]
  return { major, minor, id }
}

function textOf({ major, minor, id }: After): string {
  return Buffer.from(`${major}.${minor}.${id}`, 'latin1').toString('base64url')
}

/** In the order of the line: what is ready as it will be handed out, what waits by its time. */
export async function peekPage(
  reader: Reader,
  queue: string,
  options: PeekOptions & { limit: number },
): Promise<MessagePage> {
  const read = await readHead(reader, queue)
  if (read === null) throw notFound(queue)
  const { state = 'ready', limit, maxBytes = Number.POSITIVE_INFINITY } = options
  let after = afterOf(options.after)
  const messages: PeekedMessage[] = []
  let bytes = 0
  for (;;) {
    const asked = Math.min(ROWS_AT_ONCE, limit - messages.length + 1)
    const rows = await rowsAfter(reader, read.head, state, after, asked)
    for (const row of rows) {
      const isFull = messages.length === limit || (messages.length > 0 && bytes + bytesOf(row) > maxBytes)
      if (isFull) return { messages, nextAfter: after && textOf(after) }
      messages.push(peekedOf(row, state, read.head.maxReceives, options))
      bytes += bytesOf(row)
      after = placeOf(row)
    }
    if (rows.length < asked) return { messages, nextAfter: null }
  }
}

function bytesOf({ body }: Row): number {
  return Buffer.byteLength(body as string)
}

function placeOf(row: Row): After {
  return { major: BigInt(row.major as string), minor: BigInt(row.minor as string), id: BigInt(row.id as string) }
}

function rowsAfter(
  reader: Reader,
  { id }: QueueHead,
  state: MessageState,
  after: After | null,
  limit: number,
): Promise<Row[]> {
  const { engine } = reader
  const line = lineOf(state)
  if (line === null) {
    const behind = after ? ' AND (archived_at_ms > ? OR (archived_at_ms = ? AND id > ?))' : ''
    return reader.rows(
      `SELECT ${engine.bigint('id')} AS id, ${engine.bigint('archived_at_ms')} AS major, 0 AS minor, archived_at_ms, ${COMMON} ` +
        `FROM queue_archive WHERE queue_id = ?${behind} ORDER BY archived_at_ms, id LIMIT ${limit}`,
      after ? [id, after.major, after.major, after.id] : [id],
    )
  }
  const behind = ' AND (sort_major > ? OR (sort_major = ? AND (sort_minor > ? OR (sort_minor = ? AND id > ?))))'
  const place: Parameter[] = after ? [after.major, after.major, after.minor, after.minor, after.id] : []
  return reader.rows(
    `SELECT ${engine.bigint('id')} AS id, ${engine.bigint('sort_major')} AS major, ${engine.bigint('sort_minor')} AS minor, ` +
      `${COMMON} FROM queue_messages${engine.useIndex('queue_messages_claim')} ` +
      `WHERE queue_id = ? AND state = ?${after ? behind : ''} ORDER BY sort_major, sort_minor, id LIMIT ${limit}`,
    [id, line, ...place],
  )
}

export async function getMessage(
  reader: Reader,
  queue: string,
  id: bigint,
  options: BodyOptions,
): Promise<PeekedMessage | null> {
  const read = await readHead(reader, queue)
  if (read === null) throw notFound(queue)
  const { head } = read
  const text = `${reader.engine.bigint('id')} AS id`
  const [row] = await reader.rows(
    `SELECT ${text}, state, ${COMMON} FROM queue_messages WHERE id = ? AND queue_id = ?`,
    [id, head.id],
  )
  if (row) return peekedOf(row, stateName(row.state), head.maxReceives, options)
  const [archived] = await reader.rows(
    `SELECT ${text}, archived_at_ms, ${COMMON} FROM queue_archive WHERE id = ? AND queue_id = ?`,
    [id, head.id],
  )
  return archived ? peekedOf(archived, 'archived', head.maxReceives, options) : null
}

export async function deleteMessage(tx: Tx, queue: string, id: bigint): Promise<boolean> {
  const { head } = await holdHead(tx, queue)
  const removed = await tx.run('DELETE FROM queue_messages WHERE id = ? AND queue_id = ?', [id, head.id])
  if (removed > 0) return true
  return (await tx.run('DELETE FROM queue_archive WHERE id = ? AND queue_id = ?', [id, head.id])) > 0
}

const PURGED = 500

/** Drops what is ready and delayed when the call arrives, in small transactions. */
export async function purgeQueue(session: Session, queue: string): Promise<number> {
  return session.whole(async (whole) => {
    const [head, last] = await whole.read(async (reader) => {
      const read = await readHead(reader, queue)
      if (read === null) throw notFound(queue)
      const [row] = await reader.rows(`SELECT ${reader.engine.bigint('MAX(id)')} AS id FROM queue_messages`)
      return [read.head, BigInt((row?.id as string | null) ?? 0)]
    })
    let deleted = 0
    for (const state of [STATE.ready, STATE.delayed]) {
      for (let more = true; more; ) {
        const removed = await whole.write((tx) => purgeBatch(tx, head.id, state, last))
        deleted += removed
        more = removed > 0
      }
    }
    return deleted
  })
}

async function purgeBatch(tx: Tx, queueId: bigint, state: number, last: bigint): Promise<number> {
  const { engine } = tx
  const rows = await tx.rows(
    `SELECT ${engine.bigint('id')} AS id FROM queue_messages${engine.useIndex('queue_messages_claim')} ` +
      `WHERE queue_id = ? AND state = ? AND id <= ? ORDER BY sort_major, sort_minor, id LIMIT ${PURGED}${engine.forUpdateSkipLocked}`,
    [queueId, state, last],
  )
  return removeRows(tx, rows)
}

/** Removes locked rows by their ids. */
export async function removeRows(tx: Tx, rows: readonly Row[], table = 'queue_messages'): Promise<number> {
  const ids = rows.map(({ id }) => BigInt(id as string))
  for (let start = 0; start < ids.length; start += 100) {
    const chunk = ids.slice(start, start + 100)
    await tx.run(`DELETE FROM ${table} WHERE id IN (${placeholders(chunk.length)})`, chunk)
  }
  return ids.length
}
