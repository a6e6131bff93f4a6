/**
 * Sending in one round trip, where statements can share one: the starts are taken and the messages inserted before it is
 * known whether the queue is still as it was last seen. If it is not, or a group is ahead of messages without one, the
 * messages are deleted again, and sent in the usual way.
 *
 * Order of the locks: the queue's head (shared), its flow; the messages themselves are new.
 */
import type { Parameter, Statement, StatementAnswer, Tx } from '../../database/engine'
import { takeStartsSql } from './flows'
import { CYCLED, heldHeads, holdHeadsSql, type QueueHead } from './heads'
import type { QueueMemory } from './memory'
import { MESSAGE_COLUMNS, type MessageToSend, type SendRequest, STATE, urgencyOf } from './rows'
import type { Sent } from './types'

/** Of more messages the text of the statement counts, not the round trip. */
const MAX_MESSAGES = 200
const MAX_UNITS = 64 * 1024
/** The time of the transaction, which the statements of one packet cannot be given. */
const NOW = '@recentn_now'

/** Messages of one queue and priority that need nothing but a start. */
interface QuickBatch {
  head: QueueHead
  priority: number
  messages: readonly MessageToSend[]
}

/** For each request what became of its messages; null if they are to be sent in the usual way. */
export async function sendQuickly(
  tx: Tx,
  memory: QueueMemory,
  requests: readonly SendRequest[],
): Promise<Sent[][] | null> {
  const batch = tx.gathers && tx.engine.remembers ? batchOf(memory, requests) : null
  if (batch === null) return null
  const { head, priority, messages } = batch
  const answers = await tx.together([
    holdHeadsSql(tx, [head.queue]),
    { sql: `SET ${NOW} = ${tx.now}`, parameters: [] },
    takeStartsSql(tx, { queueId: head.id, priority }, messages.length),
    insertSql(tx, batch),
  ])
  const [heads, , starts, inserted] = answers as [StatementAnswer, unknown, StatementAnswer, StatementAnswer]
  const {
    heads: [held],
    stride,
  } = heldHeads(heads.rows)
  const first = tx.engine.firstId(inserted.insertId, messages.length)
  const idOf = (index: number) => first + BigInt(index) * stride
  if (held?.id !== head.id || held.cycled !== head.cycled || starts.affected === 0) {
    memory.notQuick(head.id)
    // Also where no head has said how far apart the ids are.
    const ids = messages.map((_, index) => `${first} + ${index} * ${tx.engine.idStride}`)
    await tx.later(`DELETE FROM ${tx.tables.queueMessages} WHERE id IN (${ids.join(', ')})`)
    return null
  }
  memory.becameReady(tx, [{ head: held, priority, start: Number(starts.insertId) }])
  let sent = 0
  return requests.map(({ rows }) => rows.map(() => ({ id: idOf(sent++), sent: true })))
}

function batchOf(memory: QueueMemory, requests: readonly SendRequest[]): QuickBatch | null {
  const queue = requests[0]?.queue as string
  const head = memory.known(queue)
  if (head === undefined || !memory.mayBeQuick(head.id)) return null
  const messages: MessageToSend[] = []
  let units = 0
  for (const request of requests) {
    if (request.queue !== queue) return null
    for (const row of request.rows) {
      const { messageGroup, dedupId, visibilityTimeoutSeconds, attributes, delayMs } = row
      const isPlain = [messageGroup, dedupId, visibilityTimeoutSeconds, attributes].every((one) => one === null)
      if (!isPlain || delayMs > 0 || row.priority !== requests[0]?.rows[0]?.priority) return null
      messages.push(row)
      units += row.body.length
    }
    if (messages.length >= MAX_MESSAGES || units > MAX_UNITS) return null
  }
  const [first] = messages
  return first === undefined ? null : { head, priority: first.priority, messages }
}

function insertSql({ engine, tables }: Tx, { head, priority, messages }: QuickBatch): Statement {
  const cycle = head.cycled === CYCLED.not ? 0 : head.id
  const parameters: Parameter[] = []
  const rows = messages.map(({ maxReceives, body }, index) => {
    const start = `${engine.lastRemembered} + ${index}`
    parameters.push(maxReceives, body)
    return `(${head.id}, ${STATE.ready}, ${urgencyOf(priority)}, ${start}, ${start}, ${cycle}, ${NOW}, ${NOW}, ${priority}, ?, NULL, NULL, ?)`
  })
  return { sql: `INSERT INTO ${tables.queueMessages} (${MESSAGE_COLUMNS}) VALUES ${rows.join(', ')}`, parameters }
}
