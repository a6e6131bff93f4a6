/**
 * Sending: the messages of many requests in one transaction, each request all or nothing.
 *
 * Order of the locks: the queues' heads (shared), dedup ids, flows (each sorted); the messages themselves are new.
 */
import type { Parameter, Session, Statements, Tx } from '../../database/engine'
import { RecentnError } from '../../errors'
import { chunksBySize } from '../chunks'
import { leaveMark, type Writer } from '../writers'
import { type DedupCandidate, findDuplicates, saveDedups } from './dedups'
import { assignStarts, takeStarts } from './flows'
import { CYCLED, type HeldHeads, holdHeads, lowerShortest, notFound, type QueueHead } from './heads'
import type { QueueMemory } from './memory'
import { sendQuickly } from './quick-send'
import { MESSAGE_COLUMNS, type MessageToSend, type SendRequest, STATE, urgencyOf } from './rows'
import type { Sent } from './types'

/** A message of the transaction: to be sent, or a duplicate of another message. */
interface OutgoingMessage extends DedupCandidate {
  row: MessageToSend
  start: number
}

/** Limits of one INSERT. A UTF-16 unit may become six bytes of it, and the smallest usual `max_allowed_packet` is 1 MiB. */
const MAX_INSERT_ROWS = 1000
const MAX_INSERT_UNITS = 128 * 1024
/** The size of a row without its texts. */
const ROW_UNITS = 60

/** Starts that were taken before the transaction, by queue and priority. */
export type StartsAhead = ReadonlyMap<string, number>

function aheadKey(queueId: bigint, priority: number): string {
  return `${queueId}/${priority}`
}

/** Messages of a request that is worth a lane of its own. */
const LARGE = 100

/** Requests of one queue go through one lane. Large ones take turns in all lanes: while one is inserted, the next is written. */
export function keyOfSend(memory: QueueMemory, { queue, rows }: SendRequest): string | number {
  return rows.length < LARGE ? queue : memory.nextTurn()
}

function textsOf({ body, attributes }: MessageToSend): number {
  return body.length + (attributes?.length ?? 0)
}

export function sizeOfSend({ rows }: SendRequest): { items: number; bytes: number } {
  return { items: rows.length, bytes: rows.reduce((sum, row) => sum + textsOf(row), 0) }
}

/** Sends the messages of one request, all or nothing. */
export async function sendAlone(session: Session, memory: QueueMemory, request: SendRequest): Promise<Sent[]> {
  const [outcome] = await session.write((tx) => sendAll(tx, memory, [request]))
  if (outcome instanceof RecentnError) throw outcome
  return outcome as Sent[]
}

/** `sendAll` as a group commit runs it, with the mark of the batch. */
export function sendBatch(memory: QueueMemory) {
  return async (
    tx: Tx,
    requests: readonly SendRequest[],
    { writer, prepared }: { writer: Writer; prepared: StartsAhead },
  ): Promise<(Sent[] | RecentnError)[]> => {
    await leaveMark(tx, writer)
    return sendAll(tx, memory, requests, prepared)
  }
}

/** Sends the messages of many requests: for each request what became of its messages, or why nothing was sent. */
export async function sendAll(
  tx: Tx,
  memory: QueueMemory,
  requests: readonly SendRequest[],
  ahead: StartsAhead = new Map(),
): Promise<(Sent[] | RecentnError)[]> {
  const quick = await sendQuickly(tx, memory, requests)
  if (quick !== null) return quick
  const held = await holdHeads(tx, [...new Set(requests.map(({ queue }) => queue))])
  const { nowMs } = held
  for (const head of held.heads) memory.learn(head)
  const heads = new Map(held.heads.map((head) => [head.queue, head]))
  const outcomes = requests.map(({ queue, rows }) => {
    const head = heads.get(queue)
    return head ? rows.map((row): OutgoingMessage => ({ head, row, id: 0n, first: null, sent: true, start: 0 })) : null
  })
  const all = outcomes.flatMap((outcome) => outcome ?? [])
  const dedups = await findDuplicates(tx, all, nowMs)
  const news = all.filter(({ sent }) => sent)
  await lowerAll(tx, news)
  const ready = news.filter(({ row }) => row.delayMs === 0)
  await giveStarts(tx, ready, new Map(ahead))
  await insertMessages(tx, news, held)
  await saveDedups(tx, dedups, nowMs)
  memory.becameReady(
    tx,
    ready.map(({ head, row, start }) => ({ head, priority: row.priority, start })),
  )
  return outcomes.map((outcome, index) =>
    outcome === null
      ? notFound((requests[index] as SendRequest).queue)
      : outcome.map(({ id, first, sent }) => ({ id: first?.id ?? id, sent })),
  )
}

/** Queues and priorities of one batch: with more of them it costs less to take their starts in the transaction. */
const MAX_LEVELS = 2
/** Messages of one batch for which a further commit, which takes starts ahead, is worth its time. */
const WORTH_A_COMMIT = 200

/**
 * Takes the starts of messages without a group before their transaction, where one statement can. A large batch takes long
 * to insert, and others of the queue would wait for it: the row of the starts is locked until the commit.
 */
export async function takeStartsAhead(
  session: Session,
  memory: QueueMemory,
  requests: readonly SendRequest[],
): Promise<StartsAhead> {
  const ahead = new Map<string, number>()
  const levels = levelsOf(requests)
  const count = levels.reduce((sum, level) => sum + level.count, 0)
  if (count < WORTH_A_COMMIT || levels.length > MAX_LEVELS) return ahead
  const take = async (statements: Statements) => {
    if (!statements.engine.remembers) return
    for (const { queue, priority, count } of levels) {
      // A queue that is gone is reported to its callers by the transaction.
      const head = await memory.find(statements, queue)
      const start = head ? await takeStarts(statements, { queueId: head.id, priority }, count) : null
      if (head && start !== null) ahead.set(aheadKey(head.id, priority), start)
    }
  }
  // The transaction meets the same error, and reports it.
  await session.separately(take, { retryMs: 0 }).catch(() => {})
  return ahead
}

/** Messages without a group of one queue and priority, ready at once. */
interface UngroupedLevel {
  queue: string
  priority: number
  count: number
}

function levelsOf(requests: readonly SendRequest[]): UngroupedLevel[] {
  const levels = new Map<string, UngroupedLevel>()
  for (const { queue, rows } of requests) {
    for (const { priority, messageGroup, delayMs } of rows) {
      if (messageGroup !== null || delayMs > 0) continue
      const key = `${priority} ${queue}`
      const level = levels.get(key)
      if (level) level.count++
      else levels.set(key, { queue, priority, count: 1 })
    }
  }
  return [...levels.values()]
}

async function giveStarts(tx: Tx, ready: readonly OutgoingMessage[], ahead: Map<string, number>): Promise<void> {
  const others: OutgoingMessage[] = []
  for (const sending of ready) {
    const { head, row } = sending
    const key = aheadKey(head.id, row.priority)
    const next = ahead.get(key)
    if (row.messageGroup !== null || next === undefined) others.push(sending)
    else {
      sending.start = next
      ahead.set(key, next + 1)
    }
  }
  if (others.length === 0) return
  const starts = await assignStarts(
    tx,
    others.map(({ head, row }) => ({ queueId: head.id, priority: row.priority, messageGroup: row.messageGroup })),
  )
  for (const [index, sending] of others.entries()) sending.start = starts[index] as number
}

async function lowerAll(tx: Tx, news: readonly OutgoingMessage[]): Promise<void> {
  const shortest = new Map<QueueHead, number>()
  for (const { head, row } of news) {
    const asked = row.visibilityTimeoutSeconds
    if (asked !== null) shortest.set(head, Math.min(asked, shortest.get(head) ?? asked))
  }
  for (const [head, seconds] of shortest) await lowerShortest(tx, head, seconds)
}

async function insertMessages(tx: Tx, news: readonly OutgoingMessage[], held: HeldHeads): Promise<void> {
  const unitsOf = ({ row }: OutgoingMessage) => textsOf(row) + (row.messageGroup?.length ?? 0) + ROW_UNITS
  const chunks = chunksBySize(news, unitsOf, MAX_INSERT_ROWS, MAX_INSERT_UNITS)
  for (const chunk of chunks) await insertChunk(tx, chunk, held)
}

async function insertChunk(tx: Tx, news: readonly OutgoingMessage[], { nowMs, stride }: HeldHeads): Promise<void> {
  const { engine } = tx
  // Most messages have none, and a column that is left out costs nothing.
  const hasAttributes = news.some(({ row }) => row.attributes !== null)
  const columns = hasAttributes ? `${MESSAGE_COLUMNS}, attributes` : MESSAGE_COLUMNS
  const { sql, parameters } = engine.insert(
    (values) => `INSERT INTO ${tx.tables.queueMessages} (${columns}) VALUES ${values}`,
    news.map((sending) => {
      const values = columnsOf(sending, nowMs)
      if (hasAttributes) values.push(sending.row.attributes)
      return values
    }),
  )
  const { insertId } = await tx.execute(sql, parameters)
  const first = engine.firstId(insertId, news.length)
  for (const [index, sending] of news.entries()) sending.id = first + BigInt(index) * stride
}

function columnsOf({ head, row, start }: OutgoingMessage, nowMs: number): Parameter[] {
  const dueMs = nowMs + row.delayMs
  const isReady = row.delayMs === 0
  return [
    head.id,
    isReady ? STATE.ready : STATE.delayed,
    isReady ? urgencyOf(row.priority) : dueMs,
    start,
    start,
    isReady && head.cycled !== CYCLED.not ? head.id : 0,
    dueMs,
    nowMs,
    row.priority,
    row.maxReceives,
    row.visibilityTimeoutSeconds,
    row.messageGroup,
    row.body,
  ]
}
