/**
 * The rows of keys: locking and writing them. It owns recentn_queue_keys.
 *
 * Invariant: of the messages with one key that are in a queue and not dead, one at most waits, and one at most is in flight; the
 * row names both. A transaction that adds, ends or puts back one of them holds the row. A claim takes the one that waits without
 * it: so the states of the messages, which are locked after the row, say which of them is in flight. A dead letter is in no row.
 *
 * Order of the locks: keys (sorted), then their messages. A transaction that has locked a message before its key waits for none.
 */
import type { Reader, Row, Tx } from '../../../database/engine'
import { anyOf, chunksOf, rowsAmong } from '../../chunks'
import type { QueueHead } from '../heads'
import { NamedRows } from '../named-rows'
import { MAX_IDS, STATE } from '../rows'
import { type LockedRow, lockedColumns, lockedOf } from '../settle/transitions'

export interface LockedKey extends KeyName {
  /** Ready, delayed or blocked. */
  waiting: LockedRow | null
  inFlight: LockedRow | null
}

/** By `nameOfKey`. */
export type LockedKeys = Map<string, LockedKey>

/** A key that a message has or gets. */
export interface KeyName {
  head: QueueHead
  key: string
}

/** A row of a key. The ids are 0 where there is no message. */
interface KeyRow {
  head: Pick<QueueHead, 'id'>
  key: string
  messageId: bigint
  aheadId: bigint
}

const KEYS = new NamedRows<Pick<KeyRow, 'head' | 'key'>>(
  'queueKeys',
  'message_key',
  { message_id: 0, ahead_id: 0 },
  ({ head, key }) => [head.id, key],
)

export const nameOfKey = (head: Pick<QueueHead, 'id'>, key: string) => KEYS.keyOf({ head, key })

/** The key that a message of the queue holds; null for one without, for a dead letter and a dead message. */
export function heldKey({ messageKey, sourceQueueId, state }: LockedRow): string | null {
  return sourceQueueId === null && state !== STATE.dead ? messageKey : null
}

/** Locks the keys and their messages. `adds`: a key without a row gets one, which is the lock. */
export async function lockKeys(tx: Tx, names: readonly KeyName[], { adds = false } = {}): Promise<LockedKeys> {
  const rows: Row[] = []
  for (const chunk of KEYS.chunks(names)) {
    if (adds) await tx.later(KEYS.make(tx, chunk))
    for (const row of await keyRows(tx, chunk, tx.engine.forUpdate)) rows.push(row)
  }
  const messages = await messagesOf(tx, rows, tx.engine.forUpdate)
  return keysOf(names, rows, messages)
}

/** The same without waiting: the keys that another transaction has locked, or a message of them, are left out. */
export async function lockFreeKeys(tx: Tx, names: readonly KeyName[]): Promise<LockedKeys> {
  const { forNext } = tx.engine
  if (forNext === '') return lockKeys(tx, names)
  const rows: Row[] = []
  const busy = new Set<string>()
  for (const chunk of KEYS.chunks(names)) {
    for (const row of await keyRows(tx, chunk, '')) busy.add(KEYS.keyIn(row))
    for (const row of await keyRows(tx, chunk, forNext)) {
      rows.push(row)
      busy.delete(KEYS.keyIn(row))
    }
  }
  const there = await messagesOf(tx, rows, '')
  const messages = await messagesOf(tx, rows, forNext)
  for (const row of rows) if (idsOf(row).some((id) => there.has(id) && !messages.has(id))) busy.add(KEYS.keyIn(row))
  const free = names.filter(({ head, key }) => !busy.has(nameOfKey(head, key)))
  return keysOf(free, rows, messages)
}

function keyRows(reader: Reader, names: readonly KeyName[], lock: string): Promise<Row[]> {
  const ids = ['message_id', 'ahead_id'].map((column) => `${reader.engine.bigint(column)} AS ${column}`)
  const { sql, parameters } = KEYS.select(reader, names, ids.join(', '), lock)
  return reader.rows(sql, parameters)
}

function idsOf({ message_id, ahead_id }: Row): bigint[] {
  return [message_id, ahead_id].map((id) => BigInt(id as string)).filter((id) => id !== 0n)
}

async function messagesOf(tx: Tx, rows: readonly Row[], lock: string): Promise<Map<bigint, LockedRow>> {
  const ids = rows.flatMap(idsOf).sort((a, b) => (a < b ? -1 : 1))
  const { queueMessages } = tx.tables
  const select = `SELECT ${lockedColumns(tx)} FROM ${queueMessages} WHERE id IN`
  const found = await rowsAmong(tx, ids, MAX_IDS, (some) => `${select} ${some} ORDER BY ${queueMessages}.id${lock}`)
  return new Map(found.map(lockedOf).map((row) => [row.id, row]))
}

function keysOf(names: readonly KeyName[], rows: readonly Row[], messages: ReadonlyMap<bigint, LockedRow>): LockedKeys {
  const keys: LockedKeys = new Map()
  for (const { head, key } of names) keys.set(nameOfKey(head, key), { head, key, waiting: null, inFlight: null })
  for (const row of rows) {
    const one = keys.get(KEYS.keyIn(row))
    if (one === undefined) continue
    for (const id of idsOf(row)) {
      const message = messages.get(id)
      // The row may name a message that was purged, or that is another queue's now.
      if (message === undefined || message.queueId !== one.head.id || heldKey(message) !== one.key) continue
      if (message.state === STATE.inFlight) one.inFlight = message
      else one.waiting = message
    }
  }
  return keys
}

/** Writes what the keys are now. A key without messages needs no row. */
export function saveKeys(tx: Tx, keys: readonly KeyRow[]): Promise<void> {
  return KEYS.save(tx, keys, ({ messageId, aheadId }) => (messageId === 0n ? null : [messageId, aheadId]))
}

/** The keys of messages of the queue that are about to be locked. In a transaction it may not see all. */
export async function keysBefore(reader: Reader, head: QueueHead, ids: readonly bigint[]): Promise<KeyName[]> {
  const select = `SELECT message_key FROM ${reader.tables.queueMessages} WHERE message_key IS NOT NULL AND id IN`
  const found = await rowsAmong(reader, ids, MAX_IDS, (some) => `${select} ${some}`)
  return found.map(({ message_key }) => ({ head, key: message_key as string }))
}

/**
 * The messages, which are locked and wait, are about to be removed. A row that another transaction has locked is left: it names
 * a message that is gone then, which counts as none.
 */
export async function forgetKeys(tx: Tx, rows: readonly LockedRow[]): Promise<void> {
  const keyed = rows.filter((row) => heldKey(row) !== null)
  for (const chunk of chunksOf(keyed, MAX_IDS)) {
    const names = '(queue_id = ? AND message_key = ? AND message_id = ?)'
    const { sql, parameters } = anyOf(chunk, names, ({ queueId, messageKey, id }) => [queueId, messageKey, id])
    const from = `${tx.tables.queueKeys}${tx.engine.useIndex('PRIMARY')}`
    const found = await tx.rows(
      `SELECT ${tx.engine.bigint('queue_id')} AS queue_id, message_key, ${tx.engine.bigint('ahead_id')} AS ahead_id ` +
        `FROM ${from} WHERE ${sql}${tx.engine.forNext}`,
      parameters,
    )
    const keys = found.map((row): KeyRow => {
      const head = { id: BigInt(row.queue_id as string) }
      return { head, key: row.message_key as string, messageId: BigInt(row.ahead_id as string), aheadId: 0n }
    })
    await saveKeys(tx, keys)
  }
}
