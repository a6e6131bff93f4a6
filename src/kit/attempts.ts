/**
 * Calls whose requests are written together, and how they are answered. No SQL.
 *
 * Invariant: every call is answered exactly once, after its transaction has ended. A call that the database refuses is
 * found by halving the batch, so that it fails alone; what to do about a lock that could not be had is the caller's.
 */
import { RecentnError } from '../errors'
import { isShared, type Size } from './pending'
import type { Sizes } from './sizes'

export interface Writing<Request, Result> {
  /** What one transaction takes at the most; one call is taken whatever its size. */
  maxBatchItems: number
  maxBatchBytes: number
  /** Told how many items each commit has. */
  batches?: Sizes
  /**
   * Runs the requests in one transaction: an outcome for each. Rejects when nothing of it was done: with `conflict`, soon,
   * when a lock could not be had.
   */
  run(lane: number, requests: readonly Request[]): Promise<readonly (Result | RecentnError)[]>
  /** For each request whether somebody else holds a lock that it needs; left out where that can't be asked. */
  areLocked?(requests: readonly Request[]): Promise<readonly boolean[]>
  /** The same as `run` for one request that it has rejected, to find out what is wrong with it. */
  runAlone(lane: number, request: Request): Promise<Result>
  /** No attempt begins later than this after a call's first conflict; else 30,000. */
  patienceMs?: number
}

export interface Call<Request, Result> extends Size {
  /** Calls of one key keep their order. */
  key: number
  isAside: boolean
  /** When it first met a conflict, or was put aside. */
  since: number | null
  request: Request
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** What to do about calls that were not run for a lock that could not be had. */
export type OnConflict<Request, Result> = (calls: readonly Call<Request, Result>[], error: unknown) => Promise<void>

const PATIENCE_MS = 30_000

export class Attempts<Request, Result> {
  readonly #writing: Writing<Request, Result>
  readonly #onAnswer: (call: Call<Request, Result>) => void

  /** `onAnswer` is told of each call that is about to be answered. */
  constructor(writing: Writing<Request, Result>, onAnswer: (call: Call<Request, Result>) => void) {
    this.#writing = writing
    this.#onAnswer = onAnswer
  }

  /** The first of the calls, as many as one transaction takes. */
  fitting(calls: readonly Call<Request, Result>[]): Call<Request, Result>[] {
    const { maxBatchItems, maxBatchBytes } = this.#writing
    let count = 0
    let items = 0
    let bytes = 0
    for (const call of calls) {
      items += call.items
      bytes += call.bytes
      if (count > 0 && (items > maxBatchItems || bytes > maxBatchBytes)) break
      count++
    }
    return calls.slice(0, count)
  }

  /** Runs the calls as one batch of a lane, and answers them. */
  async attempt(
    lane: number,
    calls: readonly Call<Request, Result>[],
    onConflict: OnConflict<Request, Result>,
  ): Promise<void> {
    try {
      const outcomes = await this.#writing.run(lane, calls.map(requestOf))
      this.#writing.batches?.add(itemsOf(calls))
      for (let index = 0; index < calls.length; index++) {
        this.#answer(calls[index] as Call<Request, Result>, outcomes[index] as Result | RecentnError)
      }
    } catch (error) {
      if (error instanceof RecentnError && error.code === 'conflict') await onConflict(calls, error)
      else if (isShared(error)) this.#fail(calls, error)
      else if (calls.length > 1) {
        const middle = Math.ceil(calls.length / 2)
        await this.attempt(lane, calls.slice(0, middle), onConflict)
        await this.attempt(lane, calls.slice(middle), onConflict)
      } else await this.#attemptAlone(lane, calls[0] as Call<Request, Result>)
    }
  }

  async #attemptAlone(lane: number, call: Call<Request, Result>): Promise<void> {
    try {
      const result = await this.#writing.runAlone(lane, call.request)
      this.#writing.batches?.add(call.items)
      this.#answer(call, result)
    } catch (error) {
      this.#fail([call], error)
    }
  }

  /** Whether `locked` knows. */
  get isAskable(): boolean {
    return this.#writing.areLocked !== undefined
  }

  /** Those of the calls that somebody else's lock keeps waiting, as far as is known. Null where asking has failed them. */
  async locked(calls: readonly Call<Request, Result>[]): Promise<ReadonlySet<Call<Request, Result>> | null> {
    if (calls.length === 0 || !this.isAskable) return new Set()
    try {
      const locked = await this.#writing.areLocked?.(calls.map(requestOf))
      return new Set(calls.filter((_, index) => locked?.[index]))
    } catch (error) {
      this.#fail(calls, error)
      return null
    }
  }

  /** Fails those of the calls that have waited long enough, and gives the others. */
  patient(calls: readonly Call<Request, Result>[], error: unknown): Call<Request, Result>[] {
    const now = performance.now()
    const { patienceMs = PATIENCE_MS } = this.#writing
    const patient: Call<Request, Result>[] = []
    for (const call of calls) {
      call.since ??= now
      if (now - call.since < patienceMs) patient.push(call)
      else this.#fail([call], error)
    }
    return patient
  }

  #fail(calls: readonly Call<Request, Result>[], error: unknown): void {
    for (const call of calls) {
      this.#onAnswer(call)
      call.reject(error)
    }
  }

  #answer(call: Call<Request, Result>, outcome: Result | RecentnError): void {
    this.#onAnswer(call)
    if (outcome instanceof RecentnError) call.reject(outcome)
    else call.resolve(outcome)
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
