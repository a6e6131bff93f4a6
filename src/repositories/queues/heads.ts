/**
 * The rows of queues: reading, locking and remembering them.
 *
 * Invariant: whoever makes messages ready holds a shared lock on the queue's row to the end of its transaction, so that
 * changing or dropping a queue waits for them, and nothing is sent to a queue that is gone. What is remembered may be
 * old: a statement that relies on it names the version that it knows, and does nothing when it is another.
 */
import type { Reader, Row, Tx } from '../../database/engine'
import { placeholders } from '../../database/engine'
import { RecentnError } from '../../errors'
import type { OnDelete, Queue } from './types'

/** What no message may ask for less than, before any has. */
export const LONGEST_VISIBILITY_SECONDS = 43_200

/** How far a queue is received round and round. */
export const CYCLED = { not: 0, begun: 1, wholly: 2 } as const

export interface QueueHead {
  id: bigint
  queue: string
  version: bigint
  visibilityTimeoutSeconds: number
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

export async function readHead(reader: Reader, queue: string, lock = ''): Promise<Read | null> {
  const [row] = await reader.rows(`SELECT ${headColumns(reader)} FROM queues WHERE queue = ?${lock}`, [queue])
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
    `SELECT ${headColumns(tx)}, ${tx.engine.idStride} AS stride FROM queues WHERE queue IN (${placeholders(queues.length)})${tx.engine.forShare}`,
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

export async function holdHeadById(tx: Tx, id: bigint): Promise<Read | null> {
  const [row] = await tx.rows(`SELECT ${headColumns(tx)} FROM queues WHERE id = ?${tx.engine.forShare}`, [id])
  return row ? { head: headOf(row), nowMs: Number(row.now_ms) } : null
}

export function notFound(queue: string): RecentnError {
  return new RecentnError('queue_not_found', `There is no queue ${JSON.stringify(queue)}`)
}

export function queueOf(head: QueueHead, deadLetterQueue: string | null): Queue {
  return {
    queue: head.queue,
    visibilityTimeoutSeconds: head.visibilityTimeoutSeconds,
    maxReceives: head.maxReceives,
    deadLetterQueue,
    onDelete: head.onDelete,
    retentionSeconds: head.retentionSeconds,
    paused: head.paused,
    createdAt: new Date(head.createdAtMs),
  }
}

/** Where the last full claim of a queue ended: what is left stands behind. */
export interface Place {
  major: number
  minor: number
}

/** Of the bodies that one receive brings, about: what is left waits for the next. */
export const MAX_CLAIM_BYTES = 32 * 1024 * 1024
/** Messages of the first claim, when it is not known how large they are. */
const FIRST_CLAIM = 64
const PLACE_MS = 800
const URGENT_MS = 50

/** What a process remembers of queues, to save statements. Nothing that is decided depends on it alone. */
export class QueueMemory {
  readonly #heads = new Map<string, QueueHead>()
  readonly #names = new Map<bigint, string>()
  readonly #fitting = new Map<bigint, number>()
  readonly #isInside: boolean

  /** `isInside`: of one transaction, and gone with it. */
  constructor(isInside: boolean) {
    this.#isInside = isInside
  }

  readonly #places = new Map<bigint, { place: Place; since: number; urgentAt: number }>()
  readonly #looks = new Map<bigint, { at: number; now: string }>()

  /** The head as it was last seen, or as it is; throws `queue_not_found`. */
  async headOf(reader: Reader, queue: string): Promise<QueueHead> {
    return this.#heads.get(queue) ?? (await this.refresh(reader, queue))
  }

  /** The same; null for a queue that does not exist. */
  async find(reader: Reader, queue: string): Promise<QueueHead | null> {
    return this.#heads.get(queue) ?? (await this.#read(reader, queue))
  }

  async refresh(reader: Reader, queue: string): Promise<QueueHead> {
    const head = await this.#read(reader, queue)
    if (head === null) throw notFound(queue)
    return head
  }

  async #read(reader: Reader, queue: string): Promise<QueueHead | null> {
    // A transaction might see what was before, by its snapshot.
    const read = await readHead(reader, queue, this.#isInside ? reader.engine.forShare : '')
    this.outdate(queue)
    if (read !== null) this.learn(read.head)
    return read?.head ?? null
  }

  /** The head has been read. */
  learn(head: QueueHead): void {
    this.outdate(head.queue)
    this.#heads.set(head.queue, head)
    this.#names.set(head.id, head.queue)
  }

  /** How many messages of the size of the last ones one claim may bring. */
  fitting(queueId: bigint): number {
    return this.#fitting.get(queueId) ?? FIRST_CLAIM
  }

  /** A claim has brought so many messages of so many bytes. */
  weighed(queueId: bigint, count: number, bytes: number): void {
    if (count > 0) this.#fitting.set(queueId, Math.max(1, Math.floor((MAX_CLAIM_BYTES * count) / Math.max(bytes, 1))))
  }

  /**
   * Where a claim may begin to look: until the server has purged them, it passes over all entries of messages that were
   * claimed before. What other processes have made ready before that place is found when it is `PLACE_MS` old, and what
   * they sent with a higher priority `URGENT_MS` after the last look.
   */
  placeOf(queueId: bigint): { place: Place; isUrgentDue: boolean } | null {
    const known = this.#places.get(queueId)
    const now = performance.now()
    if (!known || now - known.since > PLACE_MS) return null
    const isUrgentDue = now - known.urgentAt > URGENT_MS
    if (isUrgentDue) known.urgentAt = now
    return { place: known.place, isUrgentDue }
  }

  /** A claim has ended at `place`; `anew` when it looked from the very beginning. */
  setPlace(queueId: bigint, place: Place | null, anew: boolean): void {
    const known = this.#places.get(queueId)
    const now = performance.now()
    if (place === null) this.#places.delete(queueId)
    else if (anew) this.#places.set(queueId, { place, since: now, urgentAt: now })
    else if (known) known.place = place
  }

  /** Messages of this process became ready here: a claim must not begin behind them. */
  readyAt(queueId: bigint, major: number, minor: number): void {
    const known = this.#places.get(queueId)
    if (!known) return
    const { place } = known
    if (major < place.major || (major === place.major && minor < place.minor)) this.#places.delete(queueId)
  }

  /** Whether it was looked for due messages within `forMs`, by a clock that was not moved since. */
  hasLooked(queueId: bigint, now: string, forMs: number): boolean {
    const known = this.#looks.get(queueId)
    return known !== undefined && known.now === now && performance.now() - known.at < forMs
  }

  looked(queueId: bigint, now: string): void {
    this.#looks.set(queueId, { at: performance.now(), now })
  }

  nameOf(queueId: bigint): string | undefined {
    return this.#names.get(queueId)
  }

  /** It has changed, or is gone: the next who asks reads it. */
  outdate(queue: string): void {
    const head = this.#heads.get(queue)
    this.#heads.delete(queue)
    if (head) this.#names.delete(head.id)
  }

  forget({ id, queue }: QueueHead): void {
    this.outdate(queue)
    this.#places.delete(id)
    this.#looks.delete(id)
    this.#fitting.delete(id)
  }
}
