/**
 * Group commit: while a transaction is in flight, incoming calls collect, and the next transaction commits them all.
 * There is no timer: a lone call starts at once. Owns the calls that wait; knows no SQL.
 *
 * Invariants: each lane runs one transaction at a time. Calls of one key (an append has its first group's) go through one
 * lane, so that lanes seldom wait for each other's locks. Calls that need the same locks run in their order. Every call
 * is answered exactly once, after its transaction has ended. A call that the database refuses fails alone: a batch that
 * fails runs again with care, and then in halves.
 *
 * When another transaction holds a lock, the calls that need it are set aside, to another lane, with all calls of
 * their keys. Later calls of these keys follow until none of the key is unanswered. That lane runs the calls whose locks are
 * free, and asks for the others again. A lock may be held at each look. Once in a sixth of the time limit the calls
 * that need it wait for it, without others, to get their turn among other processes. A call that is stuck delays others
 * once, for a second, and fails without them. If the transactions that succeed take long, so do waits for their locks. A call
 * that needs further locks (an append to several groups) may be overtaken by one of its key that does not.
 */
import { RecentnError } from '../shared/errors'
import { performance, setImmediate } from '../shared/platform'
import type { Requester } from '../shared/requests'
import { answer, isShared, PendingCalls, type Size } from './admission'
import type { Calls, Conflict, GroupCommitOptions, HeldLocks, Lane, WaitingCall } from './commit-calls'
import * as waiting from './commit-calls'

const MAX_BATCH_BYTES = 8 * 1024 * 1024
/** After a deadlock a batch runs again at once. After a lock timeout, which takes seconds, others must not wait longer. */
const RETRY_MS = 2000
/** About what an item takes in memory beside its texts. */
const ITEM_BYTES = 300

export class GroupCommit<Request, Result> {
  readonly #options: GroupCommitOptions<Request, Result>
  readonly #maxBatch: Size
  readonly #lanes: readonly Lane<Request, Result>[]
  readonly #asideLane: Lane<Request, Result>
  /** How many calls are set aside, by their key. */
  readonly #aside = new Map<number, number>()
  /** Whether a call that is set aside may be locked. */
  #isInDoubt = false
  readonly #pace = new waiting.Pace()
  readonly #pending: PendingCalls

  constructor(options: GroupCommitOptions<Request, Result>) {
    const { lanes, maxPendingItems: maxItems = 100_000, maxPendingBytes: maxBytes = 64 * 1024 * 1024 } = options
    this.#options = options
    this.#maxBatch = { items: options.maxBatchItems ?? 2000, bytes: MAX_BATCH_BYTES }
    this.#pending = new PendingCalls({ ...options, maxItems, maxBytes })
    this.#lanes = Array.from({ length: lanes }, (_, number) => waiting.newLane(number, options.newWriter()))
    this.#asideLane = waiting.newLane(lanes, options.newWriter())
  }

  /**
   * The caller gets the result once the request is committed, all or nothing. Throws `overloaded` when too much is
   * unanswered, and `closed` after `close`.
   */
  hand(request: Request, caller: Requester<Result>): void {
    const of = this.#options.keyOf(request)
    const key = typeof of === 'string' ? waiting.keyOf(of) : of
    const { items, bytes: texts } = this.#options.sizeOf(request)
    const bytes = texts + items * ITEM_BYTES
    const call = { key, isAside: false, since: null, turnAt: 0, turns: 0, request, items, bytes, caller }
    this.#pending.admit(call)
    if (this.#aside.size > 0 && this.#aside.has(key)) this.#setAside(call)
    else this.#enqueue(this.#lanes[key % this.#lanes.length] as Lane<Request, Result>, call)
  }

  /** Refuses later calls; resolves when all that were accepted are answered, and the marks are removed. */
  async close(): Promise<void> {
    await this.#pending.close()
    const used = [...this.#lanes, this.#asideLane].map(({ writer }) => writer).filter(({ batch }) => batch > 0n)
    // Where the database is away they stay; the sweeper of another process removes them some day.
    await this.#options.forget(used).catch(() => {})
  }

  #enqueue(lane: Lane<Request, Result>, call: WaitingCall<Request, Result>): void {
    lane.waiting.push(call)
    if (lane.running) return
    lane.running = true
    // At the end of this turn of the event loop: callers that come together go together.
    setImmediate(() => this.#runLane(lane))
  }

  async #runLane(lane: Lane<Request, Result>): Promise<void> {
    while (lane.waiting.length > 0) {
      if (lane === this.#asideLane) await this.#runAside(lane)
      else {
        const calls = waiting.takeBatch(lane, this.#maxBatch)
        for (const conflict of await this.#commit(lane, calls)) await this.#sortOut(lane, conflict, false)
      }
      // Callers that this batch has answered may call again at once, and then belong to the next.
      await new Promise(setImmediate)
    }
    lane.running = false
  }

  /** Commits the calls as one batch of the lane, and answers them; resolves to those that met a conflict. */
  async #commit(
    lane: Lane<Request, Result>,
    calls: Calls<Request, Result>,
    isCareful = false,
  ): Promise<Conflict<Request, Result>[]> {
    const { batches, run } = this.#options
    const { writer } = lane
    const requests = calls.map(waiting.requestOf)
    writer.batch++
    try {
      const { lockSeconds } = this.#pace
      const begun = performance.now()
      const results = await run(requests, { writer, isCareful, retryMs: RETRY_MS, lockSeconds })
      this.#pace.took(performance.now() - begun)
      batches?.add(waiting.itemsOf(calls))
      for (let index = 0; index < calls.length; index++) {
        this.#answer(calls[index] as WaitingCall<Request, Result>, results[index] as Result | RecentnError)
      }
    } catch (error) {
      if (error instanceof RecentnError && error.code === 'conflict') return [{ calls, error }]
      if (isShared(error) || (isCareful && calls.length === 1)) this.#fail(calls, error)
      else if (!isCareful) return this.#commit(lane, calls, true)
      else {
        const middle = Math.ceil(calls.length / 2)
        const conflicts = await this.#commit(lane, calls.slice(0, middle), true)
        return [...conflicts, ...(await this.#commit(lane, calls.slice(middle), true))]
      }
    }
    return []
  }

  /** Sets aside the calls that wait for another transaction's lock, so that the others of the lane continue. */
  async #sortOut(lane: Lane<Request, Result>, conflict: Conflict<Request, Result>, isAgain: boolean): Promise<void> {
    const calls = this.#inTime(conflict)
    const locked = await this.#locked(calls)
    if (locked === null) return
    const isFree = locked.size === 0
    // Where none is locked any more all continue, but only once: another conflict would stop the lane again and again.
    const others = isFree && !isAgain ? calls : this.#withoutKeys(lane, calls, isFree ? calls : [...locked.keys()])
    if (others.length === 0) return
    for (const next of await this.#commit(lane, others)) await this.#sortOut(lane, next, isAgain || isFree)
  }

  /** Sets aside all calls, of these and of the lane's, that have a key of `locked`; gives these calls without them. */
  #withoutKeys(
    lane: Lane<Request, Result>,
    calls: Calls<Request, Result>,
    locked: Calls<Request, Result>,
  ): WaitingCall<Request, Result>[] {
    const keys = new Set(locked.map(({ key }) => key))
    const isLocked = ({ key }: WaitingCall<Request, Result>) => keys.has(key)
    for (const call of [...calls, ...lane.waiting].filter(isLocked)) this.#setAside(call)
    lane.waiting = lane.waiting.filter((call) => !isLocked(call))
    this.#isInDoubt = true
    return calls.filter((call) => !isLocked(call))
  }

  #setAside(call: WaitingCall<Request, Result>): void {
    call.isAside = true
    call.since ??= performance.now()
    call.turnAt ||= performance.now() + waiting.turnMs(this.#options)
    this.#aside.set(call.key, (this.#aside.get(call.key) ?? 0) + 1)
    this.#enqueue(this.#asideLane, call)
  }

  /** Runs the calls whose locks look free, then one whose turn it is to wait for its lock; rests where there is neither. */
  async #runAside(lane: Lane<Request, Result>): Promise<void> {
    const calls = lane.waiting.splice(0)
    const isInDoubt = this.#isInDoubt
    this.#isInDoubt = false
    const locked: HeldLocks<Request, Result> | null = isInDoubt ? await this.#locked(calls) : new Map()
    if (locked === null) return
    if (locked.size > 0) this.#isInDoubt = true
    const free = calls.filter((call) => !locked.has(call))
    const chosen = waiting.fitting(free, this.#maxBatch)
    const held = this.#inTime({ calls: [...locked.keys()], error: waiting.stillHeld() })
    const isLeft = new Set([...free.slice(chosen.length), ...held])
    lane.waiting = [...calls.filter((call) => isLeft.has(call)), ...lane.waiting]
    if (chosen.length > 0) {
      this.#pace.awake()
      for (const conflict of await this.#commit(lane, chosen)) await this.#part(lane, conflict)
    }
    const next = waiting.fitting(waiting.nextTurn(held, locked), this.#maxBatch)
    if (next.length > 0) await this.#takeTurn(lane, next)
    else if (chosen.length === 0) await this.#pace.rest()
  }

  async #takeTurn(lane: Lane<Request, Result>, calls: Calls<Request, Result>): Promise<void> {
    const taken = new Set(calls)
    lane.waiting = lane.waiting.filter((call) => !taken.has(call))
    for (const call of calls) {
      call.turnAt = performance.now() + waiting.turnMs(this.#options)
      call.turns++
    }
    for (const conflict of await this.#commit(lane, calls)) this.#wait(lane, this.#inTime(conflict))
  }

  /** One of the calls that looked free may be what keeps the others from their locks. */
  async #part(lane: Lane<Request, Result>, conflict: Conflict<Request, Result>): Promise<void> {
    // Each part may wait for a lock as long as the whole has.
    const calls = this.#inTime(conflict)
    if (calls.length === 0) return
    const locked = await this.#locked(calls)
    if (locked === null) return
    const halves = locked.size > 0 ? null : waiting.halvesByKey(calls)
    if (halves === null) return this.#wait(lane, calls)
    for (const half of halves) {
      for (const next of await this.#commit(lane, half)) await this.#part(lane, next)
    }
  }

  /** They stay aside, before the calls that came after them. */
  #wait(lane: Lane<Request, Result>, calls: Calls<Request, Result>): void {
    lane.waiting = [...calls, ...lane.waiting]
    this.#isInDoubt = true
  }

  /** The calls whose locks another transaction holds, as far as is known. Null where asking has failed them. */
  async #locked(calls: Calls<Request, Result>): Promise<HeldLocks<Request, Result> | null> {
    try {
      return await waiting.heldOf(this.#options.heldLocks, calls)
    } catch (error) {
      this.#fail(calls, error)
      return null
    }
  }

  /** Fails the calls that have waited long enough, and gives the others. */
  #inTime({ calls, error }: Conflict<Request, Result>): WaitingCall<Request, Result>[] {
    const now = performance.now()
    const timeLimitMs = waiting.timeLimitOf(this.#options)
    for (const call of calls) call.since ??= now
    const isInTime = ({ since }: WaitingCall<Request, Result>) => now - (since as number) < timeLimitMs
    const late = calls.filter((call) => !isInTime(call))
    this.#fail(late, error)
    return calls.filter(isInTime)
  }

  #fail(calls: Calls<Request, Result>, error: unknown): void {
    for (const call of calls) {
      this.#settle(call)
      call.caller.reject(error)
    }
  }

  #answer(call: WaitingCall<Request, Result>, result: Result | RecentnError): void {
    this.#settle(call)
    answer(call.caller, result)
  }

  #settle(call: WaitingCall<Request, Result>): void {
    if (call.isAside) {
      const count = this.#aside.get(call.key) ?? 1
      if (count === 1) this.#aside.delete(call.key)
      else this.#aside.set(call.key, count - 1)
    }
    this.#pending.settle(call)
  }
}
