/**
 * The rows of keys: locking and writing them. It owns recentn_queue_keys.
 *
 * Invariant: of the messages with one key that are in a queue and not dead, one at most waits, and one at most is in flight; the
 * row names both. A transaction that adds, ends or puts back one of them holds the row. A claim takes the one that waits without
 * it: so the states of the messages, which are locked after the row, say which of them is in flight. A dead letter is in no row.
 *
 * Order of the locks: keys (sorted), then their messages. A transaction that has locked a message before its key waits for none.
 */
import { compareNames, type Parameter, placeholders, type Reader, type Row, type Tx } from '../../../database/engine'
import { chunksOf } from '../../chunks'
import type { QueueHead } from '../heads'
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

const COLUMNS = ['queue_id', 'message_key', 'message_id', 'ahead_id']
const MAX_KEYS = 200

export const nameOfKey = ({ id }: Pick<QueueHead, 'id'>, key: string) => `${id}/${key}`

/** The key that a message of the queue holds; null for one without, for a dead letter and a dead message. */
export function heldKey({ messageKey, sourceQueueId, state }: LockedRow): string | null {
  return sourceQueueId === null && state !== STATE.dead ? messageKey : null
}

/** Locks the keys and their messages. `adds`: a key without a row gets one, which is the lock. */
export async function lockKeys(tx: Tx, names: readonly KeyName[], { adds = false } = {}): Promise<LockedKeys> {
  const sorted = sortedKeys(names)
  const rows: Row[] = []
  for (const chunk of chunksOf(sorted, MAX_KEYS)) {
    if (adds) {
      const none = chunk.map(({ head, key }) => [head.id, key, 0, 0])
      const { sql, parameters } = upsertSql(tx, ['queue_id'], none)
      await tx.later(sql, parameters)
    }
    for (const row of await keyRows(tx, chunk, tx.engine.forUpdate)) rows.push(row)
  }
  const messages = await messagesOf(tx, rows, tx.engine.forUpdate)
  return keysOf(sorted, rows, messages)
}

/** The same without waiting: the keys that another transaction has locked, or a message of them, are left out. */
export async function lockFreeKeys(tx: Tx, names: readonly KeyName[]): Promise<LockedKeys> {
  const sorted = sortedKeys(names)
  const { forNext } = tx.engine
  if (forNext === '') return lockKeys(tx, sorted)
  const rows: Row[] = []
  const busy = new Set<string>()
  for (const chunk of chunksOf(sorted, MAX_KEYS)) {
    for (const row of await keyRows(tx, chunk, '')) busy.add(nameOfRow(row))
    for (const row of await keyRows(tx, chunk, forNext)) {
      rows.push(row)
      busy.delete(nameOfRow(row))
    }
  }
  const there = await messagesOf(tx, rows, '')
  const messages = await messagesOf(tx, rows, forNext)
  for (const row of rows) if (idsOf(row).some((id) => there.has(id) && !messages.has(id))) busy.add(nameOfRow(row))
  const free = sorted.filter(({ head, key }) => !busy.has(nameOfKey(head, key)))
  return keysOf(free, rows, messages)
}

function sortedKeys(names: readonly KeyName[]): KeyName[] {
  const distinct = new Map(names.map((name) => [nameOfKey(name.head, name.key), name]))
  return [...distinct.values()].sort((a, b) =>
    a.head.id === b.head.id ? compareNames(a.key, b.key) : a.head.id < b.head.id ? -1 : 1,
  )
}

const nameOfRow = (row: Row) => `${row.queue_id}/${row.message_key}`

function someOf(names: readonly Pick<KeyRow, 'head' | 'key'>[]): { where: string; parameters: Parameter[] } {
  return {
    where: names.map(() => '(queue_id = ? AND message_key = ?)').join(' OR '),
    parameters: names.flatMap(({ head, key }) => [head.id, key]),
  }
}

function keyRows({ engine, tables, rows }: Reader, names: readonly KeyName[], lock: string): Promise<Row[]> {
  const { where, parameters } = someOf(names)
  const ids = ['queue_id', 'message_id', 'ahead_id'].map((column) => `${engine.bigint(column)} AS ${column}`)
  const from = `${tables.queueKeys}${engine.useIndex('PRIMARY')}`
  return rows(`SELECT message_key, ${ids.join(', ')} FROM ${from} WHERE ${where}${lock}`, parameters)
}

/** The ids of the messages in a row of a key. */
function idsOf({ message_id, ahead_id }: Row): bigint[] {
  return [message_id, ahead_id].map((id) => BigInt(id as string)).filter((id) => id !== 0n)
}

async function messagesOf(tx: Tx, rows: readonly Row[], lock: string): Promise<Map<bigint, LockedRow>> {
  const ids = rows.flatMap(idsOf).sort((a, b) => (a < b ? -1 : 1))
  const messages = new Map<bigint, LockedRow>()
  for (const chunk of chunksOf(ids, MAX_IDS)) {
    const { queueMessages } = tx.tables
    const found = await tx.rows(
      `SELECT ${lockedColumns(tx)} FROM ${queueMessages} WHERE id IN (${placeholders(chunk.length)}) ORDER BY ${queueMessages}.id${lock}`,
      chunk,
    )
    for (const row of found.map(lockedOf)) messages.set(row.id, row)
  }
  return messages
}

function keysOf(names: readonly KeyName[], rows: readonly Row[], messages: ReadonlyMap<bigint, LockedRow>): LockedKeys {
  const keys: LockedKeys = new Map()
  for (const { head, key } of names) keys.set(nameOfKey(head, key), { head, key, waiting: null, inFlight: null })
  for (const row of rows) {
    const one = keys.get(nameOfRow(row))
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
export async function saveKeys(tx: Tx, keys: readonly KeyRow[]): Promise<void> {
  for (const chunk of chunksOf(keys, MAX_KEYS)) {
    const kept = chunk.filter(({ messageId }) => messageId !== 0n)
    if (kept.length > 0) {
      const rows = kept.map(({ head, key, messageId, aheadId }) => [head.id, key, messageId, aheadId])
      const { sql, parameters } = upsertSql(tx, ['message_id', 'ahead_id'], rows)
      await tx.later(sql, parameters)
    }
    const over = chunk.filter(({ messageId }) => messageId === 0n)
    if (over.length > 0) {
      const { where, parameters } = someOf(over)
      await tx.later(`DELETE FROM ${tx.tables.queueKeys} WHERE ${where}`, parameters)
    }
  }
}

function upsertSql(tx: Tx, updated: readonly string[], rows: readonly Parameter[][]) {
  return tx.engine.upsert(tx.tables.queueKeys, 'queue_id, message_key', COLUMNS, updated, rows)
}

/** The keys of messages of the queue that are about to be locked. In a transaction it may not see all. */
export async function keysBefore(
  { tables, rows }: Reader,
  head: QueueHead,
  ids: readonly bigint[],
): Promise<KeyName[]> {
  const names: KeyName[] = []
  for (const chunk of chunksOf(ids, MAX_IDS)) {
    const found = await rows(
      `SELECT message_key FROM ${tables.queueMessages} WHERE id IN (${placeholders(chunk.length)}) AND message_key IS NOT NULL`,
      chunk,
    )
    for (const { message_key } of found) names.push({ head, key: message_key as string })
  }
  return names
}

/**
 * The messages, which are locked and wait, are about to be removed. A row that another transaction has locked is left: it names
 * a message that is gone then, which counts as none.
 */
export async function forgetKeys(tx: Tx, rows: readonly LockedRow[]): Promise<void> {
  const keyed = rows.filter((row) => heldKey(row) !== null)
  for (const chunk of chunksOf(keyed, MAX_KEYS)) {
    const where = chunk.map(() => '(queue_id = ? AND message_key = ? AND message_id = ?)').join(' OR ')
    const parameters = chunk.flatMap(({ queueId, messageKey, id }) => [queueId, messageKey, id])
    const from = `${tx.tables.queueKeys}${tx.engine.useIndex('PRIMARY')}`
    const found = await tx.rows(
      `SELECT ${tx.engine.bigint('queue_id')} AS queue_id, message_key, ${tx.engine.bigint('ahead_id')} AS ahead_id ` +
        `FROM ${from} WHERE ${where}${tx.engine.forNext}`,
      parameters,
    )
    await saveKeys(
      tx,
      found.map((row) => {
        const head = { id: BigInt(row.queue_id as string) }
        return { head, key: row.message_key as string, messageId: BigInt(row.ahead_id as string), aheadId: 0n }
      }),
    )
  }
}
