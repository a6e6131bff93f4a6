/**
 * Receipts: the names of claims. Each claim draws one for each of its messages, and a handle is the receipt as callers have it.
 *
 * Invariant: a statement that settles changes only rows that still have the receipt, so that a receiver that is too late
 * changes nothing.
 */
import { type Parameter, placeholders } from '../../../database/engine'
import { MAX_ID } from '../../../fields/rules'

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
 * The message's id and the secret of the claim: 128 bits that the database draws for each message and claim. The checksum
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

/** An SQL condition and the values of its placeholders. */
export interface Condition {
  where: string
  parameters: Parameter[]
}

/**
 * SQL: the queue's id, in a condition on messages that are looked up by their ids. The sign, which changes nothing else,
 * keeps SQLite from going through all messages of the queue in place of many look-ups.
 */
export const QUEUE_OF_IDS = '+queue_id'

/** A receipt is drawn for one message, so that a row with one of these ids and one of these receipts has its own. */
export function heldBy(receipts: readonly Receipt[]): Condition {
  const { where, parameters } = messagesOf(receipts)
  return {
    where: `${where} AND receipt IN (${placeholders(receipts.length)})`,
    parameters: [...parameters, ...receipts.map(({ receipt }) => receipt)],
  }
}

/** The messages of the receipts, whoever has them now. */
export function messagesOf(receipts: readonly Receipt[]): Condition {
  return { where: `id IN (${placeholders(receipts.length)})`, parameters: receipts.map(({ id }) => id) }
}
