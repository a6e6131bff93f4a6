/**
 * Acknowledging by receipt, the usual way to settle: removing messages or, where the queue says so, moving them to the archive.
 * That, and an ack in a queue with a `groupConcurrency` or keys, is a transaction.
 *
 * Invariant: a receipt is reported as acknowledged to one caller, also when the connection is lost. Removals are statements that
 * commit by themselves, and a try after a lost connection looks for the messages that the one before may have removed.
 */
import type { Reader, Session, Statements, Tx } from '../../../database/engine'
import { chunksOf, writeAmong } from '../../chunks'
import { movesOf } from '../groups/places'
import { isLimited, type QueueHead } from '../heads'
import { holdWithKeys, moving } from '../keys/key-turns'
import type { QueueMemory } from '../memory'
import { removeRows } from '../removal'
import { MAX_IDS, OWN_LIMIT } from '../rows'
import { heldBy, messagesOf, QUEUE_OF_IDS, type Receipt } from './receipts'
import { MAX_REMOVED, receiptsOf, type SettledReceipts, type SettleRequest, settling, untilSettled } from './settle'

export const ACKS = settling<SettleRequest>(({ queue }) => queue, ackTogether)

async function ackTogether(
  session: Session,
  memory: QueueMemory,
  { queue, receipts }: SettleRequest,
): Promise<SettledReceipts> {
  const removal = new Removal(receipts)
  const isWhole = await session.separately(async (statements) => {
    if (!statements.separate) removal.begin()
    for (;;) {
      const head = await memory.headOf(statements, queue)
      if (head.onAck === 'archive' || head.isKeyed || isLimited(head)) return false
      if (await removal.run(statements, head)) return true
      await memory.refresh(statements, queue)
    }
  })
  let settled = removal.settled
  if (!isWhole) {
    const left = receipts.filter(({ receipt }) => !settled.has(receipt))
    const ended = await session.write((tx) => endAll(tx, memory, queue, left), untilSettled(memory, queue, left))
    settled = new Set([...settled, ...ended])
  }
  await session.afterCommit(memory.counting('messagesAcked', settled.size, queue, 'acked'))
  return settled
}

/** The DELETEs of one removal, which may run again after a deadlock or a lost connection. */
class Removal {
  readonly settled: SettledReceipts = new Set()
  /** Named by a DELETE whose outcome is unknown: the messages of these that are gone were removed by that statement. */
  readonly #unsure = new Set<string>()

  constructor(private readonly receipts: readonly Receipt[]) {}

  /** In a transaction nothing is left of an earlier try. */
  begin(): void {
    this.settled.clear()
    this.#unsure.clear()
  }

  /** False when the head has changed since it was read. */
  async run(statements: Statements, head: QueueHead): Promise<boolean> {
    const left = this.receipts.filter(({ receipt }) => !this.settled.has(receipt))
    for (const chunk of chunksOf(left, MAX_REMOVED)) {
      const removed = await this.#remove(statements, head, chunk)
      for (const receipt of removed) this.settled.add(receipt)
      // A DELETE that names an old version has waited for nothing: what was unknown still is.
      if (removed.length < chunk.length && !(await isCurrent(statements, head))) return false
      for (const { receipt } of chunk) this.#unsure.delete(receipt)
    }
    return true
  }

  /**
   * Receipts that are still unsure are looked up once this try's DELETE has waited for the earlier one. After an error that
   * leaves no doubt nothing was removed: another process has removed messages that are gone after that.
   */
  async #remove(statements: Statements, head: QueueHead, receipts: readonly Receipt[]): Promise<string[]> {
    const unsure = this.#unsure
    const earlier = receipts.filter(({ receipt }) => unsure.has(receipt))
    const { engine } = statements
    // Without RETURNING only the number of rows is known: receipts that are stale already are left out first.
    const isKnown = engine.returning || receipts.length === 1
    const list = isKnown ? receipts : await receiptsThere(statements, receipts)
    for (const { receipt } of list) unsure.add(receipt)
    const removed = await removeListed(statements, head, list).catch((error: unknown) => {
      if (!engine.leavesDoubt(error)) {
        for (const { receipt } of list) unsure.delete(receipt)
        for (const { receipt } of earlier) unsure.add(receipt)
      }
      throw error
    })
    const left = earlier.filter(({ receipt }) => !removed.includes(receipt))
    const gone = left.length === 0 ? [] : await goneOf(statements, left)
    const wasUnsure = new Set(earlier)
    for (const one of receipts) if (!wasUnsure.has(one)) unsure.delete(one.receipt)
    return [...removed, ...gone]
  }
}

async function removeListed(statements: Statements, head: QueueHead, list: readonly Receipt[]): Promise<string[]> {
  if (list.length === 0) return []
  const { sql: where, parameters } = heldBy(list)
  const sql =
    `DELETE FROM ${statements.tables.queueMessages} WHERE ${where} AND ${QUEUE_OF_IDS} = ${head.id} ` +
    `AND (SELECT version FROM ${statements.tables.queues} WHERE id = ${head.id}) = ${head.version}`
  if (statements.engine.returning) {
    const rows = await statements.rows(`${sql} RETURNING receipt`, parameters)
    return rows.map(({ receipt }) => receipt as string)
  }
  const removed = await statements.run(sql, parameters)
  if (removed === list.length) return list.map(({ receipt }) => receipt)
  // Another caller was faster with some of them: messages that are still there have another claim already.
  return list.length === 1 ? [] : goneOf(statements, list)
}

async function goneOf(reader: Reader, receipts: readonly Receipt[]): Promise<string[]> {
  const { sql: where, parameters } = messagesOf(receipts)
  const id = `${reader.engine.bigint('id')} AS id`
  const rows = await reader.rows(`SELECT ${id} FROM ${reader.tables.queueMessages} WHERE ${where}`, parameters)
  const there = new Set(rows.map((row) => BigInt(row.id as string)))
  return receipts.filter(({ id }) => !there.has(id)).map(({ receipt }) => receipt)
}

async function receiptsThere(reader: Reader, receipts: readonly Receipt[]): Promise<Receipt[]> {
  const { sql: where, parameters } = heldBy(receipts)
  const rows = await reader.rows(`SELECT receipt FROM ${reader.tables.queueMessages} WHERE ${where}`, parameters)
  const there = new Set(rows.map(({ receipt }) => receipt))
  return receipts.filter(({ receipt }) => there.has(receipt))
}

async function isCurrent(statements: Statements, head: QueueHead): Promise<boolean> {
  const { engine, separate } = statements
  // A plain read in a transaction may show an old snapshot.
  const lock = separate ? '' : engine.forShare
  const [row] = await statements.rows(
    `SELECT ${engine.bigint('version')} AS version FROM ${statements.tables.queues} WHERE id = ${head.id}${lock}`,
  )
  return row !== undefined && BigInt(row.version as string) === head.version
}

/** Columns that the archive keeps as they were; its limit of receives is the one that was in force. */
const KEPT =
  'queue_id, id, priority, receive_count, sent_at_ms, visible_at_ms, first_received_at_ms, last_received_at_ms, ' +
  'message_group, message_key, last_error, failures, body, attributes'

/** Archives messages, or removes them, as the queue says; the places of their groups go to the next ones. */
async function endAll(
  tx: Tx,
  memory: QueueMemory,
  queue: string,
  receipts: readonly Receipt[],
): Promise<SettledReceipts> {
  const held = await holdWithKeys(tx, memory, queue, receipts)
  const { head, nowMs, rows } = held
  held.turns.end(head, rows)
  await moving(tx, memory, held, movesOf(rows, head, null), async () => {
    if (head.onAck === 'archive') {
      const ids = rows.map(({ id }) => id)
      const archive =
        `INSERT INTO ${tx.tables.queueArchive} (archived_at_ms, max_receives, ${KEPT}) ` +
        `SELECT ${nowMs}, ${OWN_LIMIT}, ${KEPT} FROM ${tx.tables.queueMessages} WHERE id IN`
      await writeAmong(tx, ids, MAX_IDS, (some) => `${archive} ${some}`)
    }
    await removeRows(tx, rows, tx.tables.queueMessages)
  })
  return receiptsOf(rows)
}
