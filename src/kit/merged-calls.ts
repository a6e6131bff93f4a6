/**
 * Merged calls: while a statement is in flight, incoming calls collect, and the next statement answers them all. There is
 * no timer: a lone call starts in the same turn of the event loop. Further statements of a kind run beside the
 * first only when as much waits as is in flight. Otherwise a few callers would keep them all busy with one call each. Owns
 * the calls that wait; no SQL.
 *
 * Invariants: a call joins only a statement that has not been sent yet, so that it sees whatever was acknowledged before.
 * An id of a request is in one statement at a time. Every call is answered exactly once. When a statement fails, each of
 * its calls runs by itself, so that only the call that caused it fails.
 */
import { RecentnError } from '../shared/errors'
import { nextTick } from '../shared/platform'
import type { Merging, Requester } from '../shared/requests'
import { type Admission, answer, isShared, PendingCalls } from './admission'
import type { Histogram } from './histogram'

export interface MergedCallsOptions<Request, Result> extends Admission, Merging<Request, Result> {
  /** Statements in flight, of each kind. */
  atOnce: number
  /** Unanswered size beyond which calls are refused with `overloaded`. */
  maxPendingSize: number
  /** Answers requests of one kind with one statement: a result or an error for each. */
  run(requests: readonly Request[]): Promise<readonly (Result | RecentnError)[]>
  /** Counts the size of each statement. */
  batches?: Histogram | undefined
}

interface MergedCall<Request, Result> {
  request: Request
  ids: readonly string[]
  size: number
  caller: Requester<Result>
}

interface Line<Request, Result> {
  kind: string
  waiting: MergedCall<Request, Result>[]
  waitingSize: number
  inFlight: number
  inFlightSize: number
  ids: Set<string>
  isPlanned: boolean
}

const NO_IDS: readonly string[] = []

export class MergedCalls<Request, Result> {
  readonly #lines = new Map<string, Line<Request, Result>>()
  readonly #pending: PendingCalls

  constructor(private readonly options: MergedCallsOptions<Request, Result>) {
    this.#pending = new PendingCalls({ ...options, maxItems: options.maxPendingSize })
  }

  /**
   * The caller gets the answer of one statement, sent after this call. Throws `overloaded` when too much is unanswered, and
   * `closed` after `close`.
   */
  hand(request: Request, caller: Requester<Result>): void {
    const { kindOf, sizeOf } = this.options
    const size = sizeOf === undefined ? 1 : sizeOf(request)
    this.#pending.admit({ items: size, bytes: 0 })
    this.#begin(kindOf === undefined ? '' : kindOf(request), { request, ids: this.#idsOf(request), size, caller })
  }

  /** Refuses later calls; resolves when all that were accepted are answered. */
  close(): Promise<void> {
    return this.#pending.close()
  }

  #idsOf(request: Request): readonly string[] {
    return this.options.idsOf?.(request) ?? NO_IDS
  }

  #begin(kind: string, call: MergedCall<Request, Result>): void {
    let line = this.#lines.get(kind)
    if (line === undefined) {
      line = { kind, waiting: [], waitingSize: 0, inFlight: 0, inFlightSize: 0, ids: new Set(), isPlanned: false }
      this.#lines.set(kind, line)
    }
    line.waiting.push(call)
    line.waitingSize += call.size
    if (this.options.startsAtOnce) this.#next(line)
    else this.#plan(line)
  }

  /** At the end of this turn of the event loop: calls that come together go together. */
  #plan(line: Line<Request, Result>): void {
    if (line.isPlanned) return
    line.isPlanned = true
    nextTick(() => {
      line.isPlanned = false
      this.#next(line)
    })
  }

  #next(line: Line<Request, Result>): void {
    while (this.#isDue(line)) {
      const { calls, size } = this.#take(line)
      if (calls.length === 0) break
      this.options.batches?.add(size)
      line.inFlight++
      line.inFlightSize += size
      this.#run(line, calls).finally(() => {
        line.inFlight--
        line.inFlightSize -= size
        this.#next(line)
      })
    }
    if (line.inFlight === 0 && line.waiting.length === 0) this.#lines.delete(line.kind)
  }

  #isDue({ waiting, waitingSize, inFlight, inFlightSize }: Line<Request, Result>): boolean {
    if (waiting.length === 0 || inFlight === this.options.atOnce) return false
    return waitingSize >= Math.min(inFlightSize, this.options.maxBatchSize)
  }

  /** The first calls that one statement takes, without those that have an id in common with a call before them. */
  #take(line: Line<Request, Result>): { calls: MergedCall<Request, Result>[]; size: number } {
    const calls: MergedCall<Request, Result>[] = []
    const passed: MergedCall<Request, Result>[] = []
    let size = 0
    for (const call of line.waiting) {
      if (calls.length > 0 && size + call.size > this.options.maxBatchSize) break
      if (call.ids.some((id) => line.ids.has(id))) {
        passed.push(call)
        continue
      }
      for (const id of call.ids) line.ids.add(id)
      calls.push(call)
      size += call.size
    }
    line.waiting.splice(0, calls.length + passed.length, ...passed)
    line.waitingSize -= size
    return { calls, size }
  }

  async #run(line: Line<Request, Result>, calls: readonly MergedCall<Request, Result>[]): Promise<void> {
    try {
      const results = await this.options.run(calls.map(({ request }) => request))
      for (let index = 0; index < calls.length; index++) {
        this.#answer(line, calls[index] as MergedCall<Request, Result>, results[index] as Result | RecentnError)
      }
    } catch (error) {
      if (calls.length > 1 && !isShared(error)) for (const call of calls) await this.#run(line, [call])
      else for (const call of calls) this.#fail(line, call, error)
    }
  }

  #answer(line: Line<Request, Result>, call: MergedCall<Request, Result>, result: Result | RecentnError): void {
    if (result instanceof RecentnError) {
      this.#fail(line, call, result)
      return
    }
    const request = this.options.again?.(call.request, result)
    this.#leave(line, call)
    if (request !== undefined) {
      this.#begin(line.kind, { ...call, request, ids: this.#idsOf(request) })
      return
    }
    answer(call.caller, result)
    this.#pending.settle({ items: call.size, bytes: 0 })
  }

  #fail(line: Line<Request, Result>, call: MergedCall<Request, Result>, error: unknown): void {
    this.#leave(line, call)
    call.caller.reject(error)
    this.#pending.settle({ items: call.size, bytes: 0 })
  }

  #leave({ ids }: Line<Request, Result>, call: MergedCall<Request, Result>): void {
    for (const id of call.ids) ids.delete(id)
  }
}
