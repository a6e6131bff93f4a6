/**
 * Group commit: while a transaction is in flight the calls that come in collect, and the next transaction commits them
 * all. No timer: a lone caller's call starts at once. Owns what waits; no SQL.
 *
 * Invariants: each lane runs one transaction at a time, and calls of one key (an append has its first group's) go through
 * one lane, so that lanes seldom wait for each other's locks. Those that need the same locks are run in their order.
 *
 * Calls for what somebody else holds the lock of go aside, to a lane of their own, with all of their keys; what comes
 * after them follows, until none of the key is unanswered. There those are run first whose locks are free, and only where
 * none is does the lane wait for locks: who is stuck keeps no others waiting for long, and fails without them. Of one key
 * a call that needs a lock beside its key's (an append to several groups) may be overtaken by one that does not.
 */
import { RecentnError } from '../errors'
import { Attempts, type Call, type OnConflict, type Writing } from './attempts'
import { Pending, type Size } from './pending'

export interface WriteBatcherOptions<Request, Result> extends Writing<Request, Result> {
  /** What the calls are, as an error says it. */
  what: string
  /** Lanes 0 to `lanes` − 1, and one more for what is aside. */
  lanes: number
  /** What may be unanswered at the most: beyond it calls are refused with `overloaded`. */
  maxPendingItems: number
  maxPendingBytes: number
  /** Told of each call that is refused with `overloaded`. */
  onOverload?: () => void
}

interface Lane<Request, Result> {
  number: number
  waiting: Call<Request, Result>[]
  running: boolean
}

export class WriteBatcher<Request, Result> {
  readonly #lanes: Lane<Request, Result>[]
  readonly #asideLane: Lane<Request, Result>
  /** How many calls are aside, by their key. */
  readonly #aside = new Map<number, number>()
  /** Whether something that is aside may be locked. */
  #isInDoubt = false
  readonly #pending: Pending
  readonly #attempts: Attempts<Request, Result>

  constructor(options: WriteBatcherOptions<Request, Result>) {
    this.#attempts = new Attempts(options, (call) => this.#settle(call))
    this.#pending = new Pending({
      what: options.what,
      maxItems: options.maxPendingItems,
      maxBytes: options.maxPendingBytes,
      onOverload: options.onOverload,
    })
    this.#lanes = Array.from({ length: options.lanes }, (_, number) => ({ number, waiting: [], running: false }))
    this.#asideLane = { number: options.lanes, waiting: [], running: false }
  }

  /**
   * Resolves once the request is committed. Requests of one `key` go through one lane. Rejects with `overloaded` when too
   * much is unanswered, with `closed` after `close`, and with what `run` says of it.
   */
  add(key: number, request: Request, size: Size): Promise<Result> {
    return new Promise((resolve, reject) => {
      const refusal = this.#pending.admit(size)
      if (refusal !== null) {
        reject(refusal)
        return
      }
      const { items, bytes } = size
      const call = { key, isAside: false, since: null, request, items, bytes, resolve, reject }
      if (this.#aside.has(key)) this.#putAside(call)
      else this.#enqueue(this.#lanes[key % this.#lanes.length] as Lane<Request, Result>, call)
    })
  }

  #enqueue(lane: Lane<Request, Result>, call: Call<Request, Result>): void {
    lane.waiting.push(call)
    if (!lane.running) this.#start(lane)
  }

  #putAside(call: Call<Request, Result>): void {
    call.isAside = true
    call.since ??= performance.now()
    this.#aside.set(call.key, (this.#aside.get(call.key) ?? 0) + 1)
    this.#enqueue(this.#asideLane, call)
  }

  /** Refuses what comes from now on; resolves when all that was accepted is answered. */
  close(): Promise<void> {
    return this.#pending.close()
  }

  /** After what else this turn of the event loop brings: callers that come together go together. */
  #start(lane: Lane<Request, Result>): void {
    lane.running = true
    setImmediate(() => this.#runLane(lane))
  }

  async #runLane(lane: Lane<Request, Result>): Promise<void> {
    while (lane.waiting.length > 0) {
      if (lane === this.#asideLane) await this.#runAside(lane)
      else {
        const calls = this.#attempts.fitting(lane.waiting)
        lane.waiting.splice(0, calls.length)
        await this.#attempts.attempt(lane.number, calls, (some, error) => this.#sortOut(lane, some, error, false))
      }
      // Whom this batch has answered may call again at once, and then belongs to the next.
      await new Promise(setImmediate)
    }
    lane.running = false
  }

  /** Puts aside what waits for somebody else's lock, so that the others of the lane go on. */
  async #sortOut(
    lane: Lane<Request, Result>,
    calls: readonly Call<Request, Result>[],
    error: unknown,
    isAgain: boolean,
  ): Promise<void> {
    const patient = this.#attempts.patient(calls, error)
    const locked = await this.#attempts.locked(patient)
    if (locked === null) return
    const isFree = locked.size === 0 && this.#attempts.isAskable
    // Where none is locked any more they go on, but only once: that would stop the lane again and again.
    const others =
      isFree && !isAgain ? patient : this.#withoutKeys(lane, patient, locked.size > 0 ? [...locked] : patient)
    if (others.length === 0) return
    const sortOut: OnConflict<Request, Result> = (some, why) => this.#sortOut(lane, some, why, isAgain || isFree)
    await this.#attempts.attempt(lane.number, others, sortOut)
  }

  /** Puts aside all calls, of these and of what waits in the lane, that have a key of `locked`; gives these without them. */
  #withoutKeys(
    lane: Lane<Request, Result>,
    calls: readonly Call<Request, Result>[],
    locked: readonly Call<Request, Result>[],
  ): Call<Request, Result>[] {
    const keys = new Set(locked.map(({ key }) => key))
    const isLocked = ({ key }: Call<Request, Result>) => keys.has(key)
    const aside = [...calls, ...lane.waiting].filter(isLocked)
    lane.waiting = lane.waiting.filter((call) => !isLocked(call))
    for (const call of aside) this.#putAside(call)
    this.#isInDoubt = true
    return calls.filter((call) => !isLocked(call))
  }

  /** Runs those that nobody holds any more; where there are none, waits for the locks of the others. */
  async #runAside(lane: Lane<Request, Result>): Promise<void> {
    const calls = lane.waiting.splice(0)
    const isInDoubt = this.#isInDoubt
    this.#isInDoubt = false
    const locked = isInDoubt ? await this.#attempts.locked(calls) : new Set()
    if (locked === null) return
    if (locked.size > 0) this.#isInDoubt = true
    const free = calls.filter((call) => !locked.has(call))
    const chosen = this.#attempts.fitting(free.length > 0 ? free : calls)
    const isChosen = new Set(chosen)
    const left = calls.filter((call) => !isChosen.has(call))
    // While others are free these are not tried, and yet not kept for ever.
    const conflict = new RecentnError('conflict', undefined, { retryAfterMs: 1000 })
    const isLate = new Set(free.length > 0 ? left.filter((call) => locked.has(call)) : [])
    for (const call of this.#attempts.patient([...isLate], conflict)) isLate.delete(call)
    lane.waiting = [...left.filter((call) => !isLate.has(call)), ...lane.waiting]
    await this.#attempts.attempt(lane.number, chosen, (some, error) => {
      return free.length > 0 ? this.#part(lane, some, error) : this.#wait(lane, some, error)
    })
  }

  /** One of what looked free, or could not be asked about, may be what keeps the others from their locks. */
  async #part(lane: Lane<Request, Result>, all: readonly Call<Request, Result>[], error: unknown): Promise<void> {
    // Each part may wait for a lock as long as the whole has.
    const calls = this.#attempts.patient(all, error)
    if (calls.length === 0) return
    const keys = [...new Set(calls.map(({ key }) => key))]
    if (keys.length === 1) return this.#wait(lane, calls, error)
    const first = new Set(keys.slice(0, keys.length / 2))
    for (const isFirst of [true, false]) {
      const half = calls.filter(({ key }) => first.has(key) === isFirst)
      await this.#attempts.attempt(lane.number, half, (some, why) => this.#part(lane, some, why))
    }
  }

  /** They stay aside, before what came after them. */
  async #wait(lane: Lane<Request, Result>, calls: readonly Call<Request, Result>[], error: unknown): Promise<void> {
    lane.waiting = [...this.#attempts.patient(calls, error), ...lane.waiting]
    this.#isInDoubt = true
  }

  #settle(call: Call<Request, Result>): void {
    if (call.isAside) this.#leaveAside(call.key)
    this.#pending.settle(call)
  }

  #leaveAside(key: number): void {
    const count = this.#aside.get(key) ?? 1
    if (count === 1) this.#aside.delete(key)
    else this.#aside.set(key, count - 1)
  }
}
