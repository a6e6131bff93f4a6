/**
 * A store's memory of its queues, to save statements: their rows, where claims end, how large messages are, how many
 * there are. It also knows whom to tell when messages become ready. All repositories of a store share one memory; a
 * transaction has its own beside it (`forTransaction`), because it may read an old snapshot, or roll back.
 *
 * Invariant: no decision depends on it alone. A statement that relies on a remembered row names the version that it knows,
 * and does nothing when the row has another version. A claim that finds nothing after a remembered place starts over.
 */
import type { Reader, Tx } from '../../database/engine'
import { performance } from '../../shared/platform'
import { Reminders } from '../reminders'
import { type Taker, Takers } from './claim/takers'
import { KnownTotals } from './counts'
import type { UngroupedLevel } from './groups/flows'
import { judgeHead, notFound, type QueueHead } from './heads'
import type { QueueTraffic, Traffic } from './history/read'
import { type ClaimPlace, isBefore } from './pages'
import { OwnReceiver } from './receivers/own'
import { REMINDED_QUEUES } from './reminded'
import { urgencyOf } from './rows'

/** Approximate size of the bodies that one receive brings: the rest waits for the next. */
export const MAX_CLAIM_BYTES = 32 * 1024 * 1024
/** Messages of the first claim, when it is not known how large they are. */
const FIRST_CLAIM = 64
const PLACE_MS = 800
const URGENT_MS = 50
const QUICK_MS = 100
const QUIET_MS = 200

type QueueCount = `messages${'Sent' | 'Deduplicated' | 'Superseded' | 'Received' | 'Acked' | 'Nacked' | 'Extended'}`

export class QueueMemory {
  /** A store's, of what is committed. */
  counts: Record<QueueCount, number> | null = null
  /** The same by queue, where the store keeps a history. */
  traffic: QueueTraffic | null = null
  readonly #heads = new Map<string, QueueHead>()
  readonly #fitting = new Map<bigint, number>()
  readonly #places = new Map<bigint, { place: ClaimPlace; since: number; urgentAt: number }>()
  readonly #looks = new Map<bigint, { at: number; now: string; isReady: boolean }>()
  readonly #readyAt = new Map<bigint, number>()
  readonly #notQuick = new Map<bigint, number>()
  readonly #nextStarts = new Map<bigint, Map<number, number>>()
  /** Called with the name of each queue in which this process has made messages ready, or given some to this receive. */
  onReady = (_queue: string, _taker?: Taker): void => {}
  /** Called when this process has changed a schedule. */
  onSchedule = (): void => {}
  /** When a sweep last left nothing to remove, by `performance.now`. */
  removedAt = Number.NEGATIVE_INFINITY
  /** Removals go round through the queues, some at a time, by their ids: which are next, and whether this round corrects places. */
  removal = { after: 0n, to: 0n }
  isMending = false
  /** When such a round began. */
  mendedAt = Number.NEGATIVE_INFINITY

  #turn = 0

  /** How many messages there are. */
  readonly totals: KnownTotals
  /** When to look at queues with messages that become due. */
  readonly reminders: Reminders
  /** The store as a receiver. */
  readonly receiver: OwnReceiver
  readonly takers = new Takers()

  constructor(/** The store's; null for the store's own. */ private readonly shared: QueueMemory | null = null) {
    this.reminders = shared ? shared.reminders.forTransaction() : new Reminders(REMINDED_QUEUES)
    this.totals = new KnownTotals(shared === null)
    this.receiver = shared?.receiver ?? new OwnReceiver()
  }

  /** For the operations of one transaction, and gone with it; it calls the store's listeners. */
  forTransaction(): QueueMemory {
    return new QueueMemory(this)
  }

  /** The head as it was last seen. */
  known(queue: string): QueueHead | undefined {
    return this.#heads.get(queue)
  }

  /** The same for a hint, in a transaction too. */
  seen(queue: string): QueueHead | undefined {
    return this.#heads.get(queue) ?? this.shared?.known(queue)
  }

  /** The head as it was last seen, or as it is; throws `queue_not_found`. */
  async headOf(reader: Reader, queue: string): Promise<QueueHead> {
    return this.#heads.get(queue) ?? (await this.refresh(reader, queue))
  }

  async refresh(reader: Reader, queue: string): Promise<QueueHead> {
    return (await this.judge(reader, queue)).head
  }

  /** The head as it is, and the number that a question, SQL on its row, gives; throws `queue_not_found`. */
  async judge(reader: Reader, queue: string, question?: string): Promise<{ head: QueueHead; answer: number }> {
    // A plain read in a transaction may show an old snapshot.
    const read = await judgeHead(reader, queue, this.shared ? reader.engine.forShare : '', question)
    this.#heads.delete(queue)
    if (read === null) throw notFound(queue)
    this.learn(read.head)
    return read
  }

  learn(head: QueueHead): void {
    this.#heads.set(head.queue, head)
  }

  /** A send that guessed how the queue is was wrong: for a moment none guesses again. */
  notQuick(queueId: bigint): void {
    this.#notQuick.set(queueId, performance.now())
  }

  mayBeQuick(queueId: bigint): boolean {
    return performance.now() - (this.#notQuick.get(queueId) ?? Number.NEGATIVE_INFINITY) > QUICK_MS
  }

  /**
   * Where messages without a group begin that are about to be sent: behind those of this process that are under way. Starts
   * that are not used after all are no loss.
   */
  reserveStarts(level: UngroupedLevel, count: number): number {
    const start = this.#nextStarts.get(level.queueId)?.get(level.priority) ?? 0
    this.startsPassed(level, start + count)
    return start
  }

  /** Messages without a group that this process sends go as far as `end`. */
  startsPassed({ queueId, priority }: UngroupedLevel, end: number): void {
    const known = this.#nextStarts.get(queueId) ?? new Map<number, number>()
    this.#nextStarts.set(queueId, known)
    known.set(priority, Math.max(end, known.get(priority) ?? 0))
  }

  /** Another number each time, for requests that take turns. */
  nextTurn(): number {
    return this.#turn++
  }

  /** How many messages of the size of the last ones one claim may bring. */
  fitting(queueId: bigint): number {
    return this.#fitting.get(queueId) ?? FIRST_CLAIM
  }

  weighed(queueId: bigint, count: number, bytes: number): void {
    if (count > 0) this.#fitting.set(queueId, Math.max(1, Math.floor((MAX_CLAIM_BYTES * count) / Math.max(bytes, 1))))
  }

  /**
   * Where a claim may begin: until the server has purged them, a claim passes over all index entries of messages that were
   * claimed before. Messages that other processes have made ready before the place are found when it is `PLACE_MS` old;
   * those with a higher priority, `URGENT_MS` after the last look.
   */
  placeOf(queueId: bigint): { place: ClaimPlace; isUrgentDue: boolean } | null {
    const known = this.#places.get(queueId)
    const now = performance.now()
    if (!known || now - known.since > PLACE_MS) return null
    const isUrgentDue = now - known.urgentAt > URGENT_MS
    if (isUrgentDue) known.urgentAt = now
    return { place: known.place, isUrgentDue }
  }

  /** A claim has ended at `place`; `fromStart` when it began at the very first message. */
  setPlace(queueId: bigint, place: ClaimPlace | null, fromStart: boolean): void {
    const known = this.#places.get(queueId)
    const now = performance.now()
    if (place === null) this.#places.delete(queueId)
    else if (fromStart) this.#places.set(queueId, { place, since: now, urgentAt: now })
    else if (known) known.place = place
  }

  /** Whether a look within `forMs`, by a clock that was not moved since, has shown messages that are ready, and none due. */
  hasLooked(queueId: bigint, now: string, forMs: number): boolean {
    const known = this.#looks.get(queueId)
    return known?.isReady === true && known.now === now && performance.now() - known.at < forMs
  }

  /** `at`: before its statement. */
  looked(queueId: bigint, now: string, isReady: boolean, at: number): void {
    this.#looks.set(queueId, { at, now, isReady })
  }

  /** Whether a moment ago nothing was ready, and this process has neither made nor found anything ready since. */
  isQuiet(queue: string): boolean {
    const id = this.known(queue)?.id ?? 0n
    const look = this.#looks.get(id)
    if (look === undefined || look.isReady || performance.now() - look.at > QUIET_MS) return false
    return look.at > (this.#readyAt.get(id) ?? Number.NEGATIVE_INFINITY)
  }

  /** Messages of the queue are, or were, ready. */
  wereReady(queueId: bigint): void {
    this.#readyAt.set(queueId, performance.now())
  }

  scheduleChanged(tx: Tx): void {
    this.#afterCommit(tx, (memory) => memory.onSchedule())
  }

  /** The messages are ready once the transaction commits: then no claim of this process begins after them, and receivers wake. */
  becameReady(tx: Tx, messages: readonly { head: QueueHead; priority: number; start?: number }[]): void {
    const firsts = new Map<QueueHead, ClaimPlace>()
    for (const { head, priority, start = Number.NEGATIVE_INFINITY } of messages) {
      const place = { major: urgencyOf(priority), minor: start }
      const first = firsts.get(head)
      if (first === undefined || isBefore(place, first)) firsts.set(head, place)
    }
    if (firsts.size === 0) return
    this.#leavePlaces(firsts)
    this.#afterCommit(tx, (memory) => {
      memory.#leavePlaces(firsts)
      for (const { queue } of firsts.keys()) memory.onReady(queue)
    })
  }

  /** A listener for the commit. `passed`: the queue, and what its history calls it. */
  counting(what: QueueCount, count: number, ...passed: [queue: string, what: keyof Traffic] | []): () => void {
    return () => {
      const { counts } = this.shared ?? this
      if (counts !== null) counts[what] += count
      if (passed.length > 0) this.passed(...(passed as [string, keyof Traffic]), count)
    }
  }

  passed(queue: string, what: keyof Traffic, count: number): void {
    ;(this.shared ?? this).traffic?.add(queue, what, count)
  }

  /** The queue's row has changed once the transaction commits; with `resumed`, its messages can be received again. */
  changed(tx: Tx, queue: string, { resumed = false } = {}): void {
    this.#heads.delete(queue)
    this.#afterCommit(tx, (memory) => {
      memory.#heads.delete(queue)
      if (resumed) memory.onReady(queue)
    })
  }

  /** The queue is gone once the transaction commits. */
  dropped(tx: Tx, { id, queue }: QueueHead): void {
    this.#heads.delete(queue)
    this.#afterCommit(tx, (memory) => {
      memory.#heads.delete(queue)
      const byQueue = [memory.#places, memory.#looks, memory.#readyAt, memory.#fitting, memory.totals, memory.#notQuick]
      for (const known of [...byQueue, memory.#nextStarts]) known.delete(id)
      memory.onReady(queue)
    })
  }

  #afterCommit(tx: Tx, listener: (memory: QueueMemory) => void): void {
    tx.afterCommit(() => listener(this.shared ?? this))
  }

  #leavePlaces(firsts: ReadonlyMap<QueueHead, ClaimPlace>): void {
    for (const [{ id }, first] of firsts) {
      this.wereReady(id)
      const known = this.#places.get(id)
      if (known && isBefore(first, known.place)) this.#places.delete(id)
    }
  }
}
