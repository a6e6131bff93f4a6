/**
 * The rows of queues: reading and locking them.
 *
 * Invariant: whoever makes messages ready holds a shared lock on the queue's row to the end of its transaction, so that
 * changing or dropping a queue waits for them, and nothing is sent to a queue that is gone.
 */
import type { Parameter, Reader, Row, Tx } from '../../database/engine'
import { placeholders } from '../../database/engine'
import { RecentnError } from '../../errors'
import type { OnDelete, Queue } from './types'

/** What no message may ask for less than, before any has. */
export const LONGEST_VISIBILITY_SECONDS = 43_200

/** How far a queue is received round and round. */
export const CYCLED = { not: 0, begun: 1, wholly: 2 } as const

/** How `max_receives` says that there is no limit: null there is the queue's limit. */
const NO_LIMIT = 0

/** A limit of receives as callers give it, where null is no limit, as it stands in the tables. */
export const storedLimit = (limit: number | null): number => limit ?? NO_LIMIT

/** A limit as it stands in the tables, as callers see it. */
export const limitOf = (stored: number): number | null => (stored === NO_LIMIT ? null : stored)

export interface QueueHead {
  id: bigint
  queue: string
  version: bigint
  visibilityTimeoutSeconds: number
  /** As it stands in the table: 0 is no limit. */
  maxReceives: number
  deadLetterQueueId: bigint | null
  onDelete: OnDelete
  retentionSeconds: number | null
  paused: boolean
  cycled: number
  hasLetters: boolean
  shortestVisibilitySeconds: number
  createdAtMs: number
}

/** A head, and the time at which it was read. */
export interface Read {
  head: QueueHead
  nowMs: number
}

export function headColumns({ engine, now }: Reader): string {
  return (
    `${engine.bigint('id')} AS id, queue, ${engine.bigint('version')} AS version, visibility_timeout_seconds, ` +
    `max_receives, ${engine.bigint('dead_letter_queue_id')} AS dead_letter_queue_id, on_delete, retention_seconds, ` +
    `paused, cycled, has_letters, shortest_visibility_seconds, created_at_ms, ${now} AS now_ms`
  )
}

export function headOf(row: Row): QueueHead {
  return {
    id: BigInt(row.id as string),
    queue: row.queue as string,
    version: BigInt(row.version as string),
    visibilityTimeoutSeconds: Number(row.visibility_timeout_seconds),
    maxReceives: Number(row.max_receives),
    deadLetterQueueId: row.dead_letter_queue_id === null ? null : BigInt(row.dead_letter_queue_id as string),
    onDelete: row.on_delete as OnDelete,
    retentionSeconds: row.retention_seconds === null ? null : Number(row.retention_seconds),
    paused: Number(row.paused) === 1,
    cycled: Number(row.cycled),
    hasLetters: Number(row.has_letters) === 1,
    shortestVisibilitySeconds: Number(row.shortest_visibility_seconds),
    createdAtMs: Number(row.created_at_ms),
  }
}

/** The queue of this name; `lock` is how its row is locked. */
export function readHead(reader: Reader, queue: string, lock = ''): Promise<Read | null> {
  return readOne(reader, 'queue', queue, lock)
}

/** The queue of this id. */
export function readHeadById(reader: Reader, id: bigint, lock = ''): Promise<Read | null> {
  return readOne(reader, 'id', id, lock)
}

async function readOne(reader: Reader, key: 'id' | 'queue', value: Parameter, lock: string): Promise<Read | null> {
  const [row] = await reader.rows(
    `SELECT ${headColumns(reader)} FROM ${reader.tables.queues} WHERE ${key} = ?${lock}`,
    [value],
  )
  return row ? { head: headOf(row), nowMs: Number(row.now_ms) } : null
}

export interface Held {
  heads: QueueHead[]
  nowMs: number
  /** By how much the ids of the rows of one INSERT grow: Galera's nodes each have ids of their own. */
  stride: bigint
}

/** The queues of these names that exist, which nobody changes or drops until the transaction ends. */
export async function holdHeads(tx: Tx, queues: readonly string[]): Promise<Held> {
  const rows = await tx.rows(
    `SELECT ${headColumns(tx)}, ${tx.engine.idStride} AS stride FROM ${tx.tables.queues} WHERE queue IN (${placeholders(queues.length)})${tx.engine.forShare}`,
    queues,
  )
  const [first] = rows
  return { heads: rows.map(headOf), nowMs: Number(first?.now_ms ?? 0), stride: BigInt((first?.stride as string) ?? 1) }
}

/** The same for one; throws `queue_not_found`. */
export async function holdHead(tx: Tx, queue: string): Promise<Read> {
  const { heads, nowMs } = await holdHeads(tx, [queue])
  if (heads[0] === undefined) throw notFound(queue)
  return { head: heads[0], nowMs }
}

/**
 * Claims of a queue are looked at no later than the shortest visibility that a message ever asked for, of those sent to
 * it or to a queue whose dead letters it takes. So it is lowered along the dead-letter queues, by whoever sends such a
 * message or names such a queue, and nobody who moves a message has to.
 */
export async function lowerShortest(tx: Tx, head: QueueHead, seconds: number): Promise<void> {
  const { id, deadLetterQueueId, shortestVisibilitySeconds } = head
  if (shortestVisibilitySeconds <= seconds) return
  await tx.run(
    `UPDATE ${tx.tables.queues} SET shortest_visibility_seconds = ?, version = version + 1 WHERE id = ? AND shortest_visibility_seconds > ?`,
    [seconds, id, seconds],
  )
  const letters = deadLetterQueueId === null ? null : await readHeadById(tx, deadLetterQueueId, tx.engine.forUpdate)
  if (letters !== null) await lowerShortest(tx, letters.head, seconds)
}

export function notFound(queue: string): RecentnError {
  return new RecentnError('queue_not_found', `There is no queue ${JSON.stringify(queue)}`)
}

export function queueOf(head: QueueHead, deadLetterQueue: string | null): Queue {
  return {
    queue: head.queue,
    visibilityTimeoutSeconds: head.visibilityTimeoutSeconds,
    maxReceives: limitOf(head.maxReceives),
    deadLetterQueue,
    onDelete: head.onDelete,
    retentionSeconds: head.retentionSeconds,
    paused: head.paused,
    createdAt: new Date(head.createdAtMs),
  }
}
