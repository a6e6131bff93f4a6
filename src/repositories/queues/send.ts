/**
 * Sending: the messages of many requests in one transaction, each request all or nothing.
 *
 * Order of the locks: the queues' rows (shared), dedup ids, flows (each sorted); the messages themselves are new. A
 * dedup id belongs to whoever first inserts its row; another sender waits for that one's end and then sees the id.
 */
import { compareNames, type Parameter, type Tx } from '../../database/engine'
import type { RecentnError } from '../../errors'
import { chunksBySize, chunksOf } from '../chunks'
import type { OnReady } from './context'
import { assignStarts, urgencyOf } from './flows'
import { CYCLED, type Held, holdHeads, lowerShortest, notFound, type QueueHead } from './heads'
import { STATE } from './rows'
import type { Sent } from './types'

/** A checked message on its way in. */
export interface NewRow {
  body: string
  delayMs: number
  visibilityTimeoutSeconds: number | null
  maxReceives: number | null
  dedupId: string | null
  priority: number
  messageGroup: string | null
}

export interface SendRequest {
  queue: string
  rows: readonly NewRow[]
}

/** One message of the transaction: to be sent, or one that another stands for. */
interface Sending {
  head: QueueHead
  row: NewRow
  id: bigint
  /** A message of this very transaction that stands for it. */
  first: Sending | null
  sent: boolean
  start: number
}

/** So long a dedup id is remembered. */
export const DEDUP_MS = 300_000

const COLUMNS = [
  'queue_id',
  'state',
  'sort_major',
  'sort_minor',
  'virtual_start',
  'cycle_queue_id',
  'visible_at_ms',
  'sent_at_ms',
  'priority',
  'max_receives',
  'visibility_timeout_seconds',
  'message_group',
  'body',
]

/**
 * What one INSERT takes. A UTF-16 unit may become six bytes of it, and the smallest `max_allowed_packet` that is about
 * is 1 MiB.
 */
const MAX_INSERT_ROWS = 1000
const MAX_INSERT_UNITS = 128 * 1024
/** What a row has beside its texts. */
const ROW_UNITS = 60

/** Starts that were taken ahead, by queue and priority. */
export type StartsAhead = ReadonlyMap<string, number>

export function aheadKey(queueId: bigint, priority: number): string {
  return `${queueId}/${priority}`
}

export async function sendAll(
  tx: Tx,
  requests: readonly SendRequest[],
  onReady: OnReady,
  ahead: StartsAhead = new Map(),
): Promise<(Sent[] | RecentnError)[]> {
  const held = await holdHeads(tx, [...new Set(requests.map(({ queue }) => queue))])
  const { nowMs } = held
  const heads = new Map(held.heads.map((head) => [head.queue, head]))
  const outcomes = requests.map(({ queue, rows }) => {
    const head = heads.get(queue)
    return head ? rows.map((row): Sending => ({ head, row, id: 0n, first: null, sent: true, start: 0 })) : null
  })
  const all = outcomes.flatMap((outcome) => outcome ?? [])
  const dedups = await findDuplicates(tx, all, nowMs)
  const news = all.filter(({ sent }) => sent)
  await lowerAll(tx, news)
  const ready = news.filter(({ row }) => row.delayMs === 0)
  await giveStarts(tx, ready, new Map(ahead))
  await insertMessages(tx, news, held)
  await saveDedups(tx, dedups, nowMs)
  for (const { head, row, start } of ready) onReady(head.id, urgencyOf(row.priority), start)
  return outcomes.map((outcome, index) =>
    outcome === null
      ? notFound((requests[index] as SendRequest).queue)
      : outcome.map(({ id, first, sent }) => ({ id: first?.id ?? id, sent })),
  )
}

async function giveStarts(tx: Tx, ready: readonly Sending[], ahead: Map<string, number>): Promise<void> {
  const others: Sending[] = []
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

/** Marks what another message stands for; resolves to those that others will be duplicates of. */
async function findDuplicates(tx: Tx, all: readonly Sending[], nowMs: number): Promise<Sending[]> {
  const firsts = new Map<string, Sending>()
  for (const sending of all) {
    const { head, row } = sending
    if (row.dedupId === null) continue
    const key = `${head.id}/${row.dedupId}`
    const first = firsts.get(key)
    if (!first) firsts.set(key, sending)
    else Object.assign(sending, { first, sent: false })
  }
  const sorted = [...firsts.values()].sort(byDedupId)
  for (const chunk of chunksOf(sorted, MAX_DEDUPS)) await lockDedups(tx, chunk, nowMs)
  return sorted.filter(({ sent }) => sent)
}

function byDedupId(a: Sending, b: Sending): number {
  if (a.head.id !== b.head.id) return a.head.id < b.head.id ? -1 : 1
  return compareNames(a.row.dedupId as string, b.row.dedupId as string)
}

/** Dedup ids of one statement. */
const MAX_DEDUPS = 500
const DEDUP_COLUMNS = ['queue_id', 'dedup_id', 'message_id', 'sent_at_ms']

async function lockDedups(tx: Tx, sendings: readonly Sending[], nowMs: number): Promise<void> {
  const none = tx.engine.upsert(
    tx.tables.queueDedups,
    'queue_id, dedup_id',
    DEDUP_COLUMNS,
    ['queue_id'],
    sendings.map(({ head, row }) => [head.id, row.dedupId, 0, 0]),
  )
  await tx.run(none.sql, none.parameters)
  const keys = sendings.flatMap(({ head, row }) => [head.id, row.dedupId] as Parameter[])
  const where = sendings.map(() => '(queue_id = ? AND dedup_id = ?)').join(' OR ')
  const rows = await tx.rows(
    `SELECT ${tx.engine.bigint('queue_id')} AS queue_id, dedup_id, ${tx.engine.bigint('message_id')} AS message_id, ` +
      `sent_at_ms FROM ${tx.tables.queueDedups} WHERE ${where}${tx.engine.forUpdate}`,
    keys,
  )
  const known = new Map(rows.map((row) => [`${row.queue_id}/${row.dedup_id}`, row]))
  for (const sending of sendings) {
    const row = known.get(`${sending.head.id}/${sending.row.dedupId}`)
    const sentAtMs = Number(row?.sent_at_ms ?? 0)
    // Our time is from before the wait for the row, so that its own may be later; by far later is a clock set back since.
    if (!row || Math.abs(nowMs - sentAtMs) >= DEDUP_MS) continue
    sending.id = BigInt(row.message_id as string)
    sending.sent = false
  }
}

async function saveDedups(tx: Tx, firsts: readonly Sending[], nowMs: number): Promise<void> {
  for (const chunk of chunksOf(firsts, MAX_DEDUPS)) {
    const rows = chunk.map(({ head, row, id }) => [head.id, row.dedupId, id, nowMs])
    const upsert = tx.engine.upsert(
      tx.tables.queueDedups,
      'queue_id, dedup_id',
      DEDUP_COLUMNS,
      DEDUP_COLUMNS.slice(2),
      rows,
    )
    await tx.run(upsert.sql, upsert.parameters)
  }
}

async function lowerAll(tx: Tx, news: readonly Sending[]): Promise<void> {
  const shortest = new Map<QueueHead, number>()
  for (const { head, row } of news) {
    const asked = row.visibilityTimeoutSeconds
    if (asked !== null) shortest.set(head, Math.min(asked, shortest.get(head) ?? asked))
  }
  for (const [head, seconds] of shortest) await lowerShortest(tx, head, seconds)
}

async function insertMessages(tx: Tx, news: readonly Sending[], held: Held): Promise<void> {
  const unitsOf = ({ row }: Sending) => row.body.length + (row.messageGroup?.length ?? 0) + ROW_UNITS
  const chunks = chunksBySize(news, unitsOf, MAX_INSERT_ROWS, MAX_INSERT_UNITS)
  for (const chunk of chunks) await insertChunk(tx, chunk, held)
}

async function insertChunk(tx: Tx, news: readonly Sending[], { nowMs, stride }: Held): Promise<void> {
  const { engine } = tx
  const { sql, parameters } = engine.values(news.map((sending) => columnsOf(sending, nowMs)))
  const { insertId } = await tx.execute(
    `INSERT INTO ${tx.tables.queueMessages} (${COLUMNS.join(', ')}) VALUES ${sql}`,
    parameters,
  )
  const first = engine.firstId(insertId, news.length)
  for (const [index, sending] of news.entries()) sending.id = first + BigInt(index) * stride
}

function columnsOf({ head, row, start }: Sending, nowMs: number): Parameter[] {
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
