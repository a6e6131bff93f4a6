/**
 * Receipts: the names of claims. Each claim draws one for each of its messages, and a handle is the receipt as callers have it.
 *
 * Invariant: a statement that settles changes only rows that still have the receipt, so that a receiver that is too late
 * changes nothing.
 */
import { placeholders, type Statement } from '../../../database/engine'
import { MAX_ID } from '../../../fields/rules'
import type { MessageFailure } from '../../../shared/queue-types'

/** The receipt of a message without a claim. */
export const NO_RECEIPT = '0'.repeat(32)

/** A claim of a message, as a handle names it. */
export interface Receipt {
  /** The message's. */
  id: bigint
  /** In upper-case hexadecimal digits, as the table has it. */
  receipt: string
}

const HANDLE_BYTES = 28
/** Four bits of the last character are unused: zeros. */
const HANDLE = /^[A-Za-z0-9_-]{37}[AQgw]$/
/** The bytes of the handle at hand: a Buffer for each, and its own reading of numbers, took twice the time. */
const bytes = Buffer.alloc(HANDLE_BYTES)
const numbers = new DataView(bytes.buffer, bytes.byteOffset, HANDLE_BYTES)

/**
 * The message's id and the secret of the claim: 128 random bits for each message and claim. The checksum
 * tells a stale handle from one that was garbled, or belongs to another queue; it protects nothing.
 */
export function handleOf(queueId: bigint, id: bigint, receipt: string): string {
  numbers.setBigUint64(0, id)
  bytes.write(receipt, 8, 16, 'hex')
  numbers.setUint32(24, checkOf(queueId))
  return bytes.toString('base64url')
}

export function receiptOf(queueId: bigint, handle: unknown): Receipt | null {
  if (typeof handle !== 'string' || !HANDLE.test(handle)) return null
  bytes.write(handle, 'base64url')
  if (numbers.getUint32(24) !== checkOf(queueId)) return null
  const receipt = bytes.toString('hex', 8, 24).toUpperCase()
  const id = numbers.getBigUint64(0)
  return receipt === NO_RECEIPT || id > MAX_ID ? null : { id, receipt }
}

/** FNV-1a. */
function checkOf(queueId: bigint): number {
  let hash = 0x811c9dc5 ^ Number(BigInt.asUintN(32, queueId))
  for (let index = 0; index < HANDLE_BYTES - 4; index++) hash = Math.imul(hash ^ (bytes[index] as number), 0x01000193)
  return hash >>> 0
}

/**
 * SQL: the queue's id, in a condition on messages that are looked up by their ids. The sign, which changes nothing else,
 * keeps SQLite from going through all messages of the queue in place of many look-ups.
 */
export const QUEUE_OF_IDS = '+queue_id'

/** A receipt is drawn for one message, so that a row with one of these ids and one of these receipts has its own. */
export function heldBy(receipts: readonly Receipt[]): Statement {
  const { sql, parameters } = messagesOf(receipts)
  return {
    sql: `${sql} AND receipt IN (${placeholders(receipts.length)})`,
    parameters: [...parameters, ...receipts.map(({ receipt }) => receipt)],
  }
}

/** The messages of the receipts, whoever has them now. */
export function messagesOf(receipts: readonly Receipt[]): Statement {
  return { sql: `id IN (${placeholders(receipts.length)})`, parameters: receipts.map(({ id }) => id) }
}

/**
 * The last failures of a message are lines of text in their own column, the newest first. A failure writes its line in an UPDATE
 * that it needs anyway.
 */
const MAX_FAILURES = 10
/** Ten lines fit, whatever they say. Characters on SQLite, bytes on the servers. */
const MAX_LENGTH = 4000
const MAX_CHARACTERS = 300
const MAX_ERROR_BYTES = 340

const added = (line: string) => `SUBSTR(CONCAT(receive_count, ${line}, COALESCE(failures, '')), 1, ${MAX_LENGTH})`

/** SQL that adds an error, in an UPDATE that leaves the receive count. */
export function addFailure(nowMs: number, error: string): Statement {
  return { sql: `failures = ${added('?')}`, parameters: [` ${nowMs} ${JSON.stringify(cutShort(error))}\n`] }
}

/** SQL, with its comma, that adds the end of a claim, if the message had one: a message that was delayed has no receipt. */
export function addRunOut(nowMs: number): string {
  const line = `' ${nowMs} "The visibility timeout ran out."\n'`
  return `, failures = CASE receipt WHEN '${NO_RECEIPT}' THEN failures ELSE ${added(line)} END`
}

function cutShort(error: string): string {
  let text = error.slice(0, MAX_CHARACTERS)
  while (Buffer.byteLength(JSON.stringify(text)) > MAX_ERROR_BYTES) text = text.slice(0, text.length * 0.9)
  return text === error ? text : `${text.replace(/[\ud800-\udbff]$/, '')}…`
}

const LINE = /^(\d+) (\d+) (".*")$/

/** The failures in the column. The last line may be cut. */
export function failuresOf(column: unknown): MessageFailure[] {
  if (column === null || column === undefined) return []
  const lines = (Buffer.isBuffer(column) ? column.toString() : String(column)).split('\n', MAX_FAILURES)
  return lines.flatMap((line) => {
    const [, receives, ms, error] = LINE.exec(line) ?? []
    if (error === undefined) return []
    return [{ receiveCount: Number(receives), failedAt: new Date(Number(ms)), error: JSON.parse(error) }]
  })
}
