/**
 * Dedup ids: a message that is sent with one is not sent again for 5 minutes. This file owns recentn_queue_dedups.
 *
 * Invariant: a dedup id belongs to the sender that first inserts its row. Another sender waits for the end of that
 * transaction, and then sees the id.
 */
import { compareNames, type Parameter, type Tx } from '../../../database/engine'
import { chunksOf } from '../../chunks'
import type { PollFacts } from '../../poll-query'
import type { QueueHead } from '../heads'

const DEDUP_MS = 300_000
const MAX_DEDUPS = 500
const DEDUP_COLUMNS = ['queue_id', 'dedup_id', 'message_id', 'sent_at_ms']

/** A message that is about to be sent. */
export interface DedupCandidate {
  head: QueueHead
  row: { dedupId: string | null }
  /** 0 for a message that is not sent yet. */
  id: bigint
  /** The message of the same transaction that it duplicates. */
  first: DedupCandidate | null
  /** False for a duplicate. */
  sent: boolean
}

/** Marks duplicates of other messages; resolves to the messages that later ones will be duplicates of. */
export async function findDuplicates(tx: Tx, all: readonly DedupCandidate[], nowMs: number): Promise<DedupCandidate[]> {
  const firsts = new Map<string, DedupCandidate>()
  for (const message of all) {
    const { head, row } = message
    if (row.dedupId === null) continue
    const key = `${head.id}/${row.dedupId}`
    const first = firsts.get(key)
    if (!first) firsts.set(key, message)
    else Object.assign(message, { first, sent: false })
  }
  const sorted = [...firsts.values()].sort(byDedupId)
  for (const chunk of chunksOf(sorted, MAX_DEDUPS)) await lockDedups(tx, chunk, nowMs)
  return sorted.filter(({ sent }) => sent)
}

function byDedupId(a: DedupCandidate, b: DedupCandidate): number {
  if (a.head.id !== b.head.id) return a.head.id < b.head.id ? -1 : 1
  return compareNames(a.row.dedupId as string, b.row.dedupId as string)
}

async function lockDedups(tx: Tx, messages: readonly DedupCandidate[], nowMs: number): Promise<void> {
  const none = tx.engine.upsert(
    tx.tables.queueDedups,
    'queue_id, dedup_id',
    DEDUP_COLUMNS,
    ['queue_id'],
    messages.map(({ head, row }) => [head.id, row.dedupId, 0, 0]),
  )
  await tx.later(none.sql, none.parameters)
  const keys = messages.flatMap(({ head, row }) => [head.id, row.dedupId] as Parameter[])
  const where = messages.map(() => '(queue_id = ? AND dedup_id = ?)').join(' OR ')
  const rows = await tx.rows(
    `SELECT ${tx.engine.bigint('queue_id')} AS queue_id, dedup_id, ${tx.engine.bigint('message_id')} AS message_id, ` +
      `sent_at_ms FROM ${tx.tables.queueDedups}${tx.engine.useIndex('PRIMARY')} WHERE ${where}${tx.engine.forUpdate}`,
    keys,
  )
  const known = new Map(rows.map((row) => [`${row.queue_id}/${row.dedup_id}`, row]))
  for (const message of messages) {
    const row = known.get(`${message.head.id}/${message.row.dedupId}`)
    const sentAtMs = Number(row?.sent_at_ms ?? 0)
    // `nowMs` is from before the wait for the row, whose time may be later; much later means that the clock was set back.
    if (!row || Math.abs(nowMs - sentAtMs) >= DEDUP_MS) continue
    message.id = BigInt(row.message_id as string)
    message.sent = false
  }
}

export async function saveDedups(tx: Tx, firsts: readonly DedupCandidate[], nowMs: number): Promise<void> {
  for (const chunk of chunksOf(firsts, MAX_DEDUPS)) {
    const rows = chunk.map(({ head, row, id }) => [head.id, row.dedupId, id, nowMs])
    const upsert = tx.engine.upsert(
      tx.tables.queueDedups,
      'queue_id, dedup_id',
      DEDUP_COLUMNS,
      DEDUP_COLUMNS.slice(2),
      rows,
    )
    await tx.later(upsert.sql, upsert.parameters)
  }
}

/** The dedup ids that have been kept long enough. */
export const oldDedupsSql = ({ tables, now }: PollFacts, what: string) =>
  `SELECT ${what} FROM ${tables.queueDedups} WHERE sent_at_ms <= ${now} - ${DEDUP_MS}`

/** Removes dedup ids that have been kept long enough. */
export async function sweepDedups(tx: Tx): Promise<number> {
  const rows = await tx.rows(
    `${oldDedupsSql(tx, `${tx.engine.bigint('queue_id')} AS queue_id, dedup_id`)} ` +
      `ORDER BY sent_at_ms LIMIT 500${tx.engine.forNext}`,
  )
  for (const chunk of chunksOf(rows, 100)) {
    const where = chunk.map(() => '(queue_id = ? AND dedup_id = ?)').join(' OR ')
    await tx.later(
      `DELETE FROM ${tx.tables.queueDedups} WHERE ${where}`,
      chunk.flatMap(({ queue_id, dedup_id }) => [queue_id, dedup_id] as Parameter[]),
    )
  }
  return rows.length
}
