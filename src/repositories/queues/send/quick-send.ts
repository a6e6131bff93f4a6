/**
 * Sending plain messages: of one queue and priority, without a group or anything else that needs a look at other rows. The
 * text of their INSERT is written in one pass.
 *
 * Where statements can share a round trip, a few messages are inserted before it is known whether the queue is still as it
 * was last seen. If it is not, or a group is ahead of them, the messages are deleted again, and sent in the usual way. Where a
 * receive of this process waits, it has claimed them.
 *
 * Order of the locks: the queue's head (shared), the messages, which are new, and with the commit their flow.
 */
import type { Engine, Parameter, Statement, StatementAnswer, Tx } from '../../../database/engine'
import { SENT } from '../../../fields/answers-queues'
import type { Sent } from '../../../shared/queue-types'
import { chunksOf } from '../../chunks'
import { openStartSql, passStarts, type UngroupedLevel } from '../groups/flows'
import { CYCLED, type HeldHeads, type QueueHead } from '../heads'
import type { QueueMemory } from '../memory'
import {
  insertChunks,
  insertedColumns,
  MAX_IDS,
  type MessageToSend,
  type SendRequest,
  STATE,
  textsOf,
  urgencyOf,
} from '../rows'
import { claimFor, give, type SentClaim } from './sent-claim'

/** The time of the transaction and where its messages begin, which the statements of one packet cannot be given. */
const NOW = '@recentn_now'
const START = '@recentn_start'

/** Of more messages the time counts that the server needs to read the statement, and not the round trip. */
const MAX_MESSAGES = 200
const MAX_UNITS = 64 * 1024

/** Messages of one queue and priority that need nothing but a start. */
export interface PlainBatch {
  /** As it was last seen. */
  head: QueueHead
  level: UngroupedLevel
  messages: readonly MessageToSend[]
}

/** The messages of the requests; null if some of them need more, or it is not known how their queue is. */
export function plainBatch(memory: QueueMemory, requests: readonly SendRequest[]): PlainBatch | null {
  const queue = requests[0]?.queue as string
  const head = memory.known(queue)
  if (head === undefined || head.maxMessages > 0) return null
  const messages: MessageToSend[] = []
  for (const request of requests) {
    if (request.queue !== queue) return null
    for (const row of request.rows) {
      const { messageGroup, dedupId, key, visibilityTimeoutSeconds, delayMs } = row
      const isPlain =
        messageGroup === null && dedupId === null && key === null && visibilityTimeoutSeconds === null && delayMs === 0
      if (!isPlain || row.priority !== requests[0]?.rows[0]?.priority) return null
      messages.push(row)
    }
  }
  const [first] = messages
  return first === undefined ? null : { head, level: { queueId: head.id, priority: first.priority }, messages }
}

/** For each request its messages, sent in one round trip; null if they are to be sent in the usual way. */
export async function sendQuickly(
  tx: Tx,
  memory: QueueMemory,
  requests: readonly SendRequest[],
  { head, level, messages }: PlainBatch,
): Promise<Sent[][] | null> {
  if (messages.length > MAX_MESSAGES || !tx.gathers || !memory.mayBeQuick(head.id)) return null
  if (messages.reduce((sum, message) => sum + textsOf(message), 0) > MAX_UNITS) return null
  const least = memory.reserveStarts(level, messages.length)
  const claim = claimFor(memory, requests[0] as SendRequest, head, messages.length)
  const [seen, , inserted, time] = (await tx.together([
    holdAsSeen(tx, head, openStartSql(tx, level, least)),
    { sql: `SET ${NOW} = ${tx.now}, ${START} = ${tx.engine.lastRemembered}`, parameters: [] },
    insertSql(tx, head, messages, NOW, (index) => `${START} + ${index}`, claim),
    ...(claim ? [{ sql: `SELECT ${NOW} AS now_ms`, parameters: [] }] : []),
  ])) as [StatementAnswer, unknown, StatementAnswer, StatementAnswer | undefined]
  const held = seen.rows[0] ?? { start: 0 }
  const start = Number(held.start)
  if (start === 0) {
    memory.notQuick(head.id)
    for (const some of chunksOf(insertedIds(tx, inserted, messages.length), MAX_IDS)) {
      // MariaDB would otherwise scan a small table, and wait for rows that others have locked.
      const messages = `${tx.tables.queueMessages}${tx.engine.useIndex('PRIMARY')}`
      await tx.later(`DELETE ${tx.tables.queueMessages} FROM ${messages} WHERE id IN (${some.join(', ')})`)
    }
    return null
  }
  const ids = idsOf(tx, inserted, messages.length, BigInt(held.stride as string))
  await passAll(tx, memory, { head, level, messages }, start, claim === null)
  const nowMs = Number(time?.rows[0]?.now_ms)
  if (claim) await give(tx, memory, head, messages, claim, { ids, start, nowMs })
  return sentBy(requests, ids)
}

/** The same where the head is held; null if it is not known where the messages begin. */
export async function sendPlainly(
  tx: Tx,
  memory: QueueMemory,
  requests: readonly SendRequest[],
  { head: { id }, level, messages }: PlainBatch,
  { heads: [head], nowMs, start, stride }: HeldHeads,
): Promise<Sent[][] | null> {
  if (head?.id !== id || head.maxMessages > 0 || start === null) return null
  const ids: bigint[] = []
  for (const chunk of insertChunks(messages, (message) => message)) {
    const first = start + ids.length
    const insert = insertSql(tx, head, chunk, String(nowMs), (index) => String(first + index))
    const [inserted] = (await tx.together([insert])) as [StatementAnswer]
    for (const id of idsOf(tx, inserted, chunk.length, stride)) ids.push(id)
  }
  await passAll(tx, memory, { head, level, messages }, start)
  return sentBy(requests, ids)
}

/** The messages are inserted: writes where they end, and wakes receivers of those that are ready after the commit. */
async function passAll(
  tx: Tx,
  memory: QueueMemory,
  { head, level, messages }: PlainBatch,
  start: number,
  areReady = true,
): Promise<void> {
  const end = start + messages.length
  await passStarts(tx, level, end)
  memory.startsPassed(level, end)
  if (areReady) memory.becameReady(tx, [{ head, priority: level.priority, start }])
}

function sentBy(requests: readonly SendRequest[], ids: readonly bigint[]): Sent[][] {
  let at = 0
  return requests.map(({ rows }) => rows.map(() => SENT.make({ id: ids[at++] as bigint, sent: true })))
}

/** SQL: the ids, also where no head has said how far apart they are. */
function insertedIds(tx: Tx, inserted: StatementAnswer, count: number): (bigint | string)[] {
  if (tx.engine.returnsIds) return idsOf(tx, inserted, count, 1n)
  const first = tx.engine.firstId(inserted.insertId, count)
  return Array.from({ length: count }, (_, index) => `${first} + ${index} * ${tx.engine.idStride}`)
}

/** Holds the head if it is as it was seen, and remembers where the messages begin: at 0, which none has, if a group is ahead. */
function holdAsSeen({ engine, tables }: Tx, { id, version }: QueueHead, { sql, parameters }: Statement): Statement {
  const start = `${engine.remembered(`COALESCE((${sql}), 0)`)} AS start`
  return {
    sql: `SELECT ${engine.idStride} AS stride, ${start} FROM ${tables.queues} WHERE id = ? AND version = ?${engine.forShare}`,
    parameters: [...parameters, id, version],
  }
}

/** `now` and what `startAt` gives are SQL. */
function insertSql(
  { engine, tables }: Tx,
  { id, cycled }: QueueHead,
  messages: readonly MessageToSend[],
  now: string,
  startAt: (index: number) => string,
  claim: SentClaim | null = null,
): Statement {
  const priority = messages[0]?.priority ?? 0
  const before = claim
    ? `(${id}, ${STATE.inFlight}, ${now} + ${claim.lookMs}, ${claim.number}, `
    : `(${id}, ${STATE.ready}, ${urgencyOf(priority)}, `
  const cycle = cycled === CYCLED.not || claim ? 0 : id
  const after = `, ${cycle}, ${now} + ${claim?.heldMs ?? 0}, ${now}, ${priority}, `
  const { columns, withOwn } = insertedColumns(messages)
  const parameters: Parameter[] = []
  const rows = messages.map((message, index) => {
    const start = startAt(index)
    const own = engine.list(withOwn([], message))
    for (const value of own.parameters) parameters.push(value)
    if (claim === null) return `${before}${start}, ${start}${after}${own.sql})`
    return `${before}${start}${after}${own.sql}, '${claim.receipts[index]}', 1, ${now}, ${now})`
  })
  const all = claim ? `${columns}, receipt, receive_count, first_received_at_ms, last_received_at_ms` : columns
  const sql = `INSERT INTO ${tables.queueMessages} (${all}) VALUES ${rows.join(', ')}`
  return { sql: returningIds(engine, sql), parameters }
}

/**
 * The INSERT of messages, which returns what `idsOf` needs. That is the first id, because the others follow at the step of the
 * session. Where that step may change in between, it is all ids.
 */
export function returningIds(engine: Engine, sql: string): string {
  return engine.returnsIds ? `${sql} RETURNING ${engine.bigint('id')} AS id` : sql
}

/** The ids of `count` new messages, in the order of the INSERT; `stride` is the step of the session. */
export function idsOf({ engine }: Tx, { insertId, rows }: StatementAnswer, count: number, stride: bigint): bigint[] {
  if (engine.returnsIds) return rows.map(({ id }) => BigInt(id as string))
  const ids: bigint[] = []
  let id = engine.firstId(insertId, count)
  // A loop: this runs for each message.
  for (let index = 0; index < count; index++) {
    ids.push(id)
    id += stride
  }
  return ids
}
