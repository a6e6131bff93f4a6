/**
 * What a process remembers of queues, to save statements: their rows, where claims stand, how large messages are.
 *
 * Invariant: nothing that is decided depends on it alone. A statement that relies on a remembered row names the version
 * that it knows, and does nothing when it is another; a remembered place is left when nothing is found behind it.
 */
import type { Reader } from '../../database/engine'
import { notFound, type QueueHead, readHead } from './heads'

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

export class QueueMemory {
  readonly #heads = new Map<string, QueueHead>()
  readonly #names = new Map<bigint, string>()
  readonly #fitting = new Map<bigint, number>()
  readonly #places = new Map<bigint, { place: Place; since: number; urgentAt: number }>()
  readonly #looks = new Map<bigint, { at: number; now: string }>()
  readonly #isInside: boolean

  /** `isInside`: of one transaction, and gone with it. */
  constructor(isInside: boolean) {
    this.#isInside = isInside
  }

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
