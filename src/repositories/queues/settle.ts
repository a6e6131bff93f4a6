/**
 * Settling by receipt: deleting, releasing and extending. A statement changes only rows that still have the receipt,
 * so that a late worker is fenced out. The messages of one call are settled together, with an outcome for each handle.
 */
import { type Parameter, placeholders, type Reader, type Statements, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import type { OnReady } from './context'
import { holdHead, type QueueHead, readHeadById } from './heads'
import { MAX_IDS, MAX_REMOVED, NO_RECEIPT, OWN_LIMIT, type Receipt, STATE } from './rows'
import {
  isOutOfReceives,
  type LockedRow,
  lockedColumns,
  lockedOf,
  makeDead,
  makeDelayed,
  makeReady,
  updateRows,
} from './transitions'

/** The receipts that did it: a message may be named by an old one as well. */
export type Settled = Set<string>

/** What the tries of one removal know. */
export interface Removal {
  settled: Settled
  /** In a DELETE of which it is not known what it did: what is gone of them, that one has removed. */
  unsure: Set<string>
}

/** Removes, adding to what is settled; false when the head has changed since it was read. */
export async function removeAll(
  statements: Statements,
  head: QueueHead,
  receipts: readonly Receipt[],
  removal: Removal,
): Promise<boolean> {
  const left = receipts.filter(({ receipt }) => !removal.settled.has(receipt))
  for (const chunk of chunksOf(left, MAX_REMOVED)) {
    const removed = await removeSome(statements, head, chunk, removal.unsure)
    for (const receipt of removed) removal.settled.add(receipt)
    // One that names an old version has waited for nothing: what was in doubt is so still.
    if (removed.length < chunk.length && !(await isCurrent(statements, head))) return false
    for (const { receipt } of chunk) removal.unsure.delete(receipt)
  }
  return true
}

/**
 * What an earlier try may have removed is looked for once this one's DELETE has waited for it. An error but a lost
 * connection leaves nothing removed: what is gone after that, somebody else has removed.
 */
async function removeSome(
  statements: Statements,
  head: QueueHead,
  receipts: readonly Receipt[],
  unsure: Set<string>,
): Promise<string[]> {
  const earlier = receipts.filter(({ receipt }) => unsure.has(receipt))
  const { engine } = statements
  // How many were removed is told, not which: what is not there is left out before.
  const isTold = engine.returning || receipts.length === 1
  const list = isTold ? receipts : await receiptsThere(statements, receipts)
  for (const { receipt } of list) unsure.add(receipt)
  const removed = await removeListed(statements, head, list).catch((error: unknown) => {
    if (engine.failure(error) !== 'lost') {
      for (const { receipt } of list) unsure.delete(receipt)
      for (const { receipt } of earlier) unsure.add(receipt)
    }
    throw error
  })
  const left = earlier.filter(({ receipt }) => !removed.includes(receipt))
  const gone = left.length === 0 ? [] : await goneOf(statements, left)
  const inDoubt = new Set(earlier)
  for (const one of receipts) if (!inDoubt.has(one)) unsure.delete(one.receipt)
  return [...removed, ...gone]
}

async function removeListed(statements: Statements, head: QueueHead, list: readonly Receipt[]): Promise<string[]> {
  if (list.length === 0) return []
  const { where, parameters } = held(list)
  const sql =
    `DELETE FROM ${statements.tables.queueMessages} WHERE ${where} AND queue_id = ${head.id} ` +
    `AND (SELECT version FROM ${statements.tables.queues} WHERE id = ${head.id}) = ${head.version}`
  if (statements.engine.returning) {
    const rows = await statements.rows(`${sql} RETURNING receipt`, parameters)
    return rows.map(({ receipt }) => receipt as string)
  }
  const removed = await statements.run(sql, parameters)
  if (removed === list.length) return list.map(({ receipt }) => receipt)
  // Somebody was faster with some of them: those that are still there others have claimed.
  return list.length === 1 ? [] : goneOf(statements, list)
}

/** Those whose messages are no more. */
async function goneOf(reader: Reader, receipts: readonly Receipt[]): Promise<string[]> {
  const there = await idsThere(reader, receipts)
  return receipts.filter(({ id }) => !there.has(id)).map(({ receipt }) => receipt)
}

async function receiptsThere(reader: Reader, receipts: readonly Receipt[]): Promise<Receipt[]> {
  const { where, parameters } = held(receipts)
  const rows = await reader.rows(`SELECT receipt FROM ${reader.tables.queueMessages} WHERE ${where}`, parameters)
  const there = new Set(rows.map(({ receipt }) => receipt))
  return receipts.filter(({ receipt }) => there.has(receipt))
}

async function idsThere(reader: Reader, receipts: readonly Receipt[]): Promise<Set<bigint>> {
  const { where, parameters } = among(receipts)
  const id = `${reader.engine.bigint('id')} AS id`
  const rows = await reader.rows(`SELECT ${id} FROM ${reader.tables.queueMessages} WHERE ${where}`, parameters)
  return new Set(rows.map((row) => BigInt(row.id as string)))
}

async function isCurrent(statements: Statements, head: QueueHead): Promise<boolean> {
  const { engine, separate } = statements
  // In a transaction it could be what was before, by its snapshot.
  const lock = separate ? '' : engine.forShare
  const [row] = await statements.rows(
    `SELECT ${engine.bigint('version')} AS version FROM ${statements.tables.queues} WHERE id = ${head.id}${lock}`,
  )
  return row !== undefined && BigInt(row.version as string) === head.version
}

/** A receipt is drawn for one message, so that a row with one of these ids and one of these receipts has its own. */
function held(receipts: readonly Receipt[]): { where: string; parameters: Parameter[] } {
  const { where, parameters } = among(receipts)
  return {
    where: `${where} AND receipt IN (${placeholders(receipts.length)})`,
    parameters: [...parameters, ...receipts.map(({ receipt }) => receipt)],
  }
}

function among(receipts: readonly Receipt[]): { where: string; parameters: Parameter[] } {
  return { where: `id IN (${placeholders(receipts.length)})`, parameters: receipts.map(({ id }) => id) }
}

/** The messages that the receipts hold in this queue, locked. */
export async function lockHeld(tx: Tx, queueId: bigint, receipts: readonly Receipt[]): Promise<LockedRow[]> {
  const locked: LockedRow[] = []
  const sorted = [...receipts].sort((a, b) => (a.id < b.id ? -1 : 1))
  for (const chunk of chunksOf(sorted, MAX_IDS)) {
    const { where, parameters } = held(chunk)
    const rows = await tx.rows(
      `SELECT ${lockedColumns(tx)} FROM ${tx.tables.queueMessages} WHERE ${where} AND queue_id = ? ORDER BY ${tx.tables.queueMessages}.id${tx.engine.forUpdate}`,
      [...parameters, queueId],
    )
    for (const row of rows) locked.push(lockedOf(row))
  }
  return locked
}

/** What the archive has as it was; the limit of receives is the one that was in force. */
const KEPT =
  'queue_id, id, priority, receive_count, sent_at_ms, visible_at_ms, last_received_at_ms, ' +
  'message_group, last_error, body'

/** Soft delete: out of the way, with all that is known of the message. */
export async function archiveAll(tx: Tx, queue: string, receipts: readonly Receipt[]): Promise<Settled> {
  const { head, nowMs } = await holdHead(tx, queue)
  const rows = await lockHeld(tx, head.id, receipts)
  for (const chunk of chunksOf(rows, MAX_IDS)) {
    const ids = chunk.map(({ id }) => id)
    const among = `id IN (${placeholders(ids.length)})`
    if (head.onDelete === 'archive') {
      await tx.run(
        `INSERT INTO ${tx.tables.queueArchive} (archived_at_ms, max_receives, ${KEPT}) ` +
          `SELECT ${nowMs}, ${OWN_LIMIT}, ${KEPT} FROM ${tx.tables.queueMessages} WHERE ${among}`,
        ids,
      )
    }
    await tx.run(`DELETE FROM ${tx.tables.queueMessages} WHERE ${among}`, ids)
  }
  return receiptsOf(rows)
}

export interface Release {
  delayMs: number
  error: string | null
  dead: boolean
}

export async function releaseAll(
  tx: Tx,
  queue: string,
  receipts: readonly Receipt[],
  { delayMs, error, dead }: Release,
  onReady: OnReady,
): Promise<Settled> {
  const { head, nowMs } = await holdHead(tx, queue)
  const rows = await lockHeld(tx, head.id, receipts)
  if (error !== null) await updateRows(tx, 'last_error = ?', rows, [error])
  const isOver = (row: LockedRow) => dead || isOutOfReceives(row, head)
  const again = rows.filter((row) => !isOver(row))
  await bury(tx, head, rows.filter(isOver), nowMs, onReady)
  if (delayMs > 0) await makeDelayed(tx, again, nowMs + delayMs)
  else await makeReady(tx, head, again, `, visible_at_ms = ${nowMs}, receipt = '${NO_RECEIPT}'`, onReady)
  return receiptsOf(rows)
}

async function bury(tx: Tx, head: QueueHead, rows: readonly LockedRow[], nowMs: number, onReady: OnReady) {
  if (rows.length === 0) return
  const id = head.deadLetterQueueId
  const letters = id === null ? null : await readHeadById(tx, id, tx.engine.forShare)
  await makeDead(tx, letters?.head ?? null, rows, nowMs, onReady)
}

/** As if they had not been claimed: ready where they stood, with one receive less. */
export async function giveBackAll(
  tx: Tx,
  queue: string,
  receipts: readonly Receipt[],
  onReady: OnReady,
): Promise<Settled> {
  const { head } = await holdHead(tx, queue)
  const rows = (await lockHeld(tx, head.id, receipts)).filter(({ state }) => state === STATE.inFlight)
  const cycle = head.cycled === 0 ? 0 : head.id
  await updateRows(
    tx,
    `state = ${STATE.ready}, sort_major = -priority, sort_minor = virtual_start, cycle_queue_id = ${cycle}, ` +
      `receive_count = receive_count - 1, receipt = '${NO_RECEIPT}'`,
    rows,
  )
  for (const { priority } of rows) onReady(head.id, -priority, Number.NEGATIVE_INFINITY)
  return receiptsOf(rows)
}

export async function extendAll(
  tx: Tx,
  queue: string,
  receipts: readonly Receipt[],
  visibilityMs: number,
): Promise<Settled> {
  const { head, nowMs } = await holdHead(tx, queue)
  const rows = await lockHeld(tx, head.id, receipts)
  const until = nowMs + visibilityMs
  await updateRows(tx, `state = ${STATE.inFlight}, sort_major = ?, cycle_queue_id = 0, visible_at_ms = ?`, rows, [
    until,
    until,
  ])
  return receiptsOf(rows)
}

function receiptsOf(rows: readonly LockedRow[]): Settled {
  return new Set(rows.map(({ receipt }) => receipt))
}

/** Whether a settling transaction that was cut off has arrived: then nothing has these receipts any more. */
export async function isSettled(tx: Tx, queueId: bigint, receipts: readonly Receipt[]): Promise<boolean> {
  return (await lockHeld(tx, queueId, receipts)).length === 0
}
