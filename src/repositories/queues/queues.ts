/**
 * Queues themselves: making, changing, listing and dropping them. Whoever changes which queue has which dead-letter
 * queue holds the one row of recentn_schema, so that no two of them close a circle, or drop what the other names.
 */
import type { Parameter, Reader, Session, Tx } from '../../database/engine'
import { type Fault, RecentnError } from '../../errors'
import { asQueue } from '../../results/queues'
import { nameRange } from '../name-range'
import {
  headColumns,
  headOf,
  LONGEST_VISIBILITY_SECONDS,
  lowerShortest,
  type QueueHead,
  queueOf,
  type Read,
  readHead,
  readHeadById,
} from './heads'
import { clearDropped } from './removal'
import type { Queue, QueueSettings } from './types'

/** A queue, the name of its dead-letter queue, and whether it is one. */
export interface NamedHead {
  head: QueueHead
  deadLetterQueue: string | null
  isDeadLetterQueue: boolean
}

async function lockSettings(tx: Tx): Promise<void> {
  await tx.rows(`SELECT id FROM ${tx.tables.schema} WHERE id = 1${tx.engine.forUpdate}`)
}

export async function namedHead(reader: Reader, queue: string): Promise<NamedHead | null> {
  const read = await readHead(reader, queue)
  if (read === null) return null
  const { head } = read
  const letters = head.deadLetterQueueId === null ? null : await readHeadById(reader, head.deadLetterQueueId)
  const [source] = await reader.rows(`SELECT id FROM ${reader.tables.queues} WHERE dead_letter_queue_id = ? LIMIT 1`, [
    head.id,
  ])
  return { head, deadLetterQueue: letters?.head.queue ?? null, isDeadLetterQueue: source !== undefined }
}

export async function putQueue(tx: Tx, queue: string, settings: QueueSettings): Promise<Queue & { created: boolean }> {
  await lockSettings(tx)
  // With locks: a snapshot of the caller's transaction may be older than the lock on the settings.
  const before = await readHead(tx, queue, tx.engine.forUpdate)
  const name = settings.deadLetterQueue ?? null
  const letters = name === null ? null : await deadLetters(tx, queue, name)
  const values: Record<string, Parameter> = {
    visibility_timeout_seconds: settings.visibilityTimeoutSeconds ?? 30,
    max_receives: settings.maxReceives ?? 0,
    dead_letter_queue_id: letters?.id ?? null,
    on_delete: settings.onDelete ?? 'remove',
    retention_seconds: settings.retentionSeconds ?? null,
    paused: settings.paused ? 1 : 0,
  }
  const columns = Object.keys(values)
  if (before !== null) {
    const sets = columns.map((column) => `${column} = ?`).join(', ')
    await tx.run(`UPDATE ${tx.tables.queues} SET ${sets}, version = version + 1 WHERE id = ?`, [
      ...Object.values(values),
      before.head.id,
    ])
  } else {
    const all = [...columns, 'queue', 'version', 'cycled', 'shortest_visibility_seconds', 'created_at_ms']
    const marks = [...columns.map(() => '?'), '?', '1', '0', String(LONGEST_VISIBILITY_SECONDS), tx.now].join(', ')
    await tx.run(`INSERT INTO ${tx.tables.queues} (${all.join(', ')}) VALUES (${marks})`, [
      ...Object.values(values),
      queue,
    ])
  }
  const { head } = (await readHead(tx, queue, tx.engine.forShare)) as Read
  if (letters !== null) await takeLetters(tx, letters, head)
  return asQueue({ ...queueOf(head, letters?.queue ?? null), created: before === null })
}

/** Follows the dead-letter queues from the one named; none may lead back to `queue`. */
async function deadLetters(tx: Tx, queue: string, name: string): Promise<QueueHead> {
  const faults = (detail: string): Fault[] => [{ pointer: '/deadLetterQueue', detail }]
  const circle = () =>
    new RecentnError('dead_letter_cycle', `The dead letters of ${JSON.stringify(queue)} would come back to it`, {
      faults: faults('closes a circle'),
    })
  if (name === queue) throw circle()
  const first = await readHead(tx, name, tx.engine.forShare)
  if (first === null) {
    const detail = `There is no queue ${JSON.stringify(name)}`
    throw new RecentnError('queue_not_found', detail, { faults: faults('is no queue') })
  }
  for (let next: Read | null = first; next?.head.deadLetterQueueId; ) {
    next = await readHeadById(tx, next.head.deadLetterQueueId, tx.engine.forShare)
    if (next?.head.queue === queue) throw circle()
  }
  return first.head
}

/** Makes `letters` ready for dead letters of `source`, so that nobody who buries one has to change it. */
async function takeLetters(tx: Tx, letters: QueueHead, source: QueueHead): Promise<void> {
  if (!letters.hasLetters) await tx.run(`UPDATE ${tx.tables.queues} SET has_letters = 1 WHERE id = ?`, [letters.id])
  await lowerShortest(tx, letters, source.shortestVisibilitySeconds)
}

export async function listHeads(
  reader: Reader,
  { limit, after = '', prefix = '' }: { limit: number; after?: string; prefix?: string },
): Promise<NamedHead[]> {
  const { where, parameters } = nameRange('queue', after, prefix)
  const rows = await reader.rows(
    `SELECT ${headColumns(reader)}, (SELECT letters.queue FROM ${reader.tables.queues} letters WHERE letters.id = ${reader.tables.queues}.dead_letter_queue_id) ` +
      `AS letters FROM ${reader.tables.queues} WHERE ${where} ORDER BY queue LIMIT ${limit}`,
    parameters,
  )
  // One walk along the queues, in place of one for each of them: there is no index for it.
  const named = await reader.rows(
    `SELECT DISTINCT ${reader.engine.bigint('dead_letter_queue_id')} AS id FROM ${reader.tables.queues} WHERE dead_letter_queue_id IS NOT NULL`,
  )
  const letters = new Set(named.map(({ id }) => BigInt(id as string)))
  return rows.map((row) => {
    const head = headOf(row)
    return { head, deadLetterQueue: row.letters as string | null, isDeadLetterQueue: letters.has(head.id) }
  })
}

/** Drops the queue at once, and then its messages; the sweeper goes on where this is cut off. */
export async function dropQueue(session: Session, queue: string): Promise<QueueHead | null> {
  return session.whole(async (whole) => {
    const head = await whole.write((tx) => dropHead(tx, queue))
    if (head !== null) await clearDropped(whole, head.id)
    return head
  })
}

async function dropHead(tx: Tx, queue: string): Promise<QueueHead | null> {
  await lockSettings(tx)
  const read = await readHead(tx, queue, tx.engine.forUpdate)
  if (read === null) return null
  const { head } = read
  const [other] = await tx.rows(
    `SELECT queue FROM ${tx.tables.queues} WHERE dead_letter_queue_id = ? ORDER BY queue LIMIT 1${tx.engine.forShare}`,
    [head.id],
  )
  if (other) throw new RecentnError('queue_in_use', `${JSON.stringify(other.queue)} has it as its dead-letter queue`)
  await tx.run(`INSERT INTO ${tx.tables.queueDrops} (queue_id) VALUES (?)`, [head.id])
  for (const table of [tx.tables.queueFlows, tx.tables.queueCursors]) {
    await tx.run(`DELETE FROM ${table} WHERE queue_id = ?`, [head.id])
  }
  await tx.run(`DELETE FROM ${tx.tables.queues} WHERE id = ?`, [head.id])
  return head
}
