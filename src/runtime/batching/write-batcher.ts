/**
 * Group commit: while a transaction is in flight the appends that come in collect, and the next transaction commits
 * them all. No timer: a lone caller's append starts at once. Owns what waits; no SQL.
 *
 * Invariants: each lane runs one transaction at a time, and a group's appends always go through the same lane, so that
 * lanes seldom wait for each other's locks. Every call is answered exactly once, after its transaction has ended. A
 * call that the database refuses is found by halving the batch, so that it fails alone. Calls for what somebody else
 * holds the lock of go aside, to a lane of their own that waits, and so do those after them, until they are answered.
 */
import { RecentnError } from '../../errors'
import type { Sizes } from '../../sizes'
import { isShared, Pending, type Size } from './pending'

export interface WriteBatcherOptions<Request, Result> {
  /** What the calls are, as an error says it. */
  what: string
  /** Lanes 0 to `lanes` − 1, and one more for what is aside. */
  lanes: number
  /** What one transaction takes at the most; one call is taken whatever its size. */
  maxBatchItems: number
  maxBatchBytes: number
  /** What may be unanswered at the most: beyond it calls are refused with `overloaded`. */
  maxPendingItems: number
  maxPendingBytes: number
  /** Told how many items each commit has, and of each call that is refused with `overloaded`. */
  batches?: Sizes
  onOverload?: () => void
  /**
   * Runs the requests in one transaction: an outcome for each. Rejects when nothing of it was done: with `conflict` when
   * a lock could not be had, soon unless `isPatient`.
   */
  run(lane: number, requests: readonly Request[], isPatient: boolean): Promise<readonly (Result | RecentnError)[]>
  /** Whether somebody else holds a lock that the request needs, for each. */
  areLocked(requests: readonly Request[]): Promise<readonly boolean[]>
  /** The same for one request that `run` has rejected, to find out what is wrong with it. */
  runAlone(lane: number, request: Request): Promise<Result>
}

interface Call<Request, Result> extends Size {
  /** What the lane is chosen by. */
  key: number
  isAside: boolean
  request: Request
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

interface Lane<Request, Result> {
  number: number
  waiting: Call<Request, Result>[]
  running: boolean
}

export class WriteBatcher<Request, Result> {
  readonly #options: WriteBatcherOptions<Request, Result>
  readonly #lanes: Lane<Request, Result>[]
  /** How many calls are aside, by their key. */
  readonly #aside = new Map<number, number>()
  readonly #pending: Pending

  constructor(options: WriteBatcherOptions<Request, Result>) {
    this.#options = options
    this.#pending = new Pending({
      what: options.what,
      maxItems: options.maxPendingItems,
      maxBytes: options.maxPendingBytes,
      onOverload: options.onOverload,
    })
    this.#lanes = Array.from({ length: options.lanes + 1 }, (_, number) => ({ number, waiting: [], running: false }))
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
      const call = { key, isAside: false, request, items, bytes, resolve, reject }
      if (this.#aside.has(key)) this.#putAside(call)
      else this.#enqueue(key % this.#options.lanes, call)
    })
  }

  #enqueue(lane: number, call: Call<Request, Result>): void {
    const chosen = this.#lanes[lane] as Lane<Request, Result>
    chosen.waiting.push(call)
    if (!chosen.running) this.#start(chosen)
  }

  #putAside(call: Call<Request, Result>): void {
    call.isAside = true
    this.#aside.set(call.key, (this.#aside.get(call.key) ?? 0) + 1)
    this.#enqueue(this.#options.lanes, call)
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
      await this.#attempt(lane.number, this.#take(lane))
      // Whom this batch has answered may call again at once, and then belongs to the next.
      await new Promise(setImmediate)
    }
    lane.running = false
  }

  #take(lane: Lane<Request, Result>): Call<Request, Result>[] {
    const { maxBatchItems, maxBatchBytes } = this.#options
    let count = 0
    let items = 0
    let bytes = 0
    for (const call of lane.waiting) {
      items += call.items
      bytes += call.bytes
      if (count > 0 && (items > maxBatchItems || bytes > maxBatchBytes)) break
      count++
    }
    return lane.waiting.splice(0, count)
  }

  async #attempt(lane: number, calls: readonly Call<Request, Result>[]): Promise<void> {
    const isAside = lane === this.#options.lanes
    try {
      const outcomes = await this.#options.run(lane, calls.map(requestOf), isAside)
      this.#options.batches?.add(itemsOf(calls))
      for (let index = 0; index < calls.length; index++) {
        this.#answer(calls[index] as Call<Request, Result>, outcomes[index] as Result | RecentnError)
      }
    } catch (error) {
      const isConflict = error instanceof RecentnError && error.code === 'conflict'
      if (isConflict && !isAside) await this.#sortOut(lane, calls)
      else if (isShared(error)) this.#fail(calls, error)
      else if (calls.length > 1) {
        const middle = Math.ceil(calls.length / 2)
        await this.#attempt(lane, calls.slice(0, middle))
        await this.#attempt(lane, calls.slice(middle))
      } else await this.#attemptAlone(lane, calls[0] as Call<Request, Result>)
    }
  }

  /** Puts aside what waits for somebody else's lock, so that the others of the lane go on. */
  async #sortOut(lane: number, calls: readonly Call<Request, Result>[]): Promise<void> {
    let locked: readonly boolean[] = []
    try {
      if (calls.length > 1) locked = await this.#options.areLocked(calls.map(requestOf))
    } catch (error) {
      this.#fail(calls, error)
      return
    }
    const free = calls.filter((_, index) => locked[index] === false)
    // None is any more, or all are: waiting for them here would stop the lane a second time.
    const others = free.length === calls.length ? [] : free
    for (const call of calls) {
      if (!others.includes(call)) this.#putAside(call)
    }
    const chosen = this.#lanes[lane] as Lane<Request, Result>
    const after = chosen.waiting.filter(({ key }) => this.#aside.has(key))
    chosen.waiting = chosen.waiting.filter(({ key }) => !this.#aside.has(key))
    for (const call of after) this.#putAside(call)
    if (others.length > 0) await this.#attempt(lane, others)
  }

  async #attemptAlone(lane: number, call: Call<Request, Result>): Promise<void> {
    try {
      const result = await this.#options.runAlone(lane, call.request)
      this.#options.batches?.add(call.items)
      this.#answer(call, result)
    } catch (error) {
      this.#fail([call], error)
    }
  }

  #fail(calls: readonly Call<Request, Result>[], error: unknown): void {
    for (const call of calls) {
      this.#settle(call)
      call.reject(error)
    }
  }

  #answer(call: Call<Request, Result>, outcome: Result | RecentnError): void {
    this.#settle(call)
    if (outcome instanceof RecentnError) call.reject(outcome)
    else call.resolve(outcome)
  }

  #leaveAside(key: number): void {
    const count = this.#aside.get(key) ?? 1
    if (count === 1) this.#aside.delete(key)
    else this.#aside.set(key, count - 1)
  }

  #settle(call: Call<Request, Result>): void {
    if (call.isAside) this.#leaveAside(call.key)
    this.#pending.settle(call)
  }
}

/** A loop: this is once a batch, of up to some thousands. */
function itemsOf(calls: readonly Size[]): number {
  let items = 0
  for (const call of calls) items += call.items
  return items
}

function requestOf<Request, Result>({ request }: Call<Request, Result>): Request {
  return request
}
