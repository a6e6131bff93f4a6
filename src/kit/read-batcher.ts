/**
 * Read merging: while a statement is in flight the reads that come in collect, and the next statement answers them
 * all. No timer: a lone caller's read starts at once. Further statements go beside it only when as much waits as is in
 * flight; else a few callers would keep them all busy with a read each. Owns what waits; no SQL.
 *
 * Invariants: a read joins only a statement that has not been sent yet, so that it sees whatever was acknowledged before
 * its call. Every call is answered exactly once. A call that makes a statement fail is found by running each alone, so
 * that it fails alone; one that a merged statement has no answer for is answered by itself, and nobody waits for it.
 */

import { isShared, Pending } from './pending'
import type { Sizes } from './sizes'

export interface ReadBatcherOptions<Request, Result> {
  /** Merged statements in flight. */
  atOnce: number
  /** What one statement takes at the most; one call is taken whatever its size. */
  maxBatchSize: number
  /** What may be unanswered at the most: beyond it calls are refused with `overloaded`. */
  maxPendingSize: number
  /** Told the size of each statement, and of each call that is refused with `overloaded`. */
  batches?: Sizes
  onOverload?: () => void
  /** Whether the request may go with others; `again` once it has, and was told to come again. */
  isMergeable(request: Request, again: boolean): boolean
  /** Reads for all of them with one statement: a result for each, or what to do to get it. */
  together(calls: readonly { request: Request; again: boolean }[]): Promise<readonly Outcome<Result>[]>
  /** Reads for one, whatever it asks for. */
  alone(request: Request): Promise<Result>
}

type Outcome<Result> = Result | 'again' | 'alone'

interface Call<Request, Result> {
  request: Request
  again: boolean
  size: number
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

export class ReadBatcher<Request, Result extends object> {
  readonly #options: ReadBatcherOptions<Request, Result>
  #waiting: Call<Request, Result>[] = []
  #waitingSize = 0
  #inFlight = 0
  #inFlightSize = 0
  readonly #pending: Pending

  constructor(options: ReadBatcherOptions<Request, Result>) {
    this.#options = options
    this.#pending = new Pending({
      what: 'reads',
      maxItems: options.maxPendingSize,
      onOverload: options.onOverload,
    })
  }

  /**
   * Resolves to what one statement, sent after this call, showed. Rejects with `overloaded` when too much is
   * unanswered, with `closed` after `close`, and with what the request itself makes the database say.
   */
  add(request: Request, size: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      const refusal = this.#pending.admit({ items: size, bytes: 0 })
      if (refusal !== null) {
        reject(refusal)
        return
      }
      this.#begin({ request, again: false, size, resolve, reject })
    })
  }

  /** Refuses what comes from now on; resolves when all that was accepted is answered. */
  close(): Promise<void> {
    return this.#pending.close()
  }

  #begin(call: Call<Request, Result>): void {
    if (this.#options.isMergeable(call.request, call.again)) {
      this.#waiting.push(call)
      this.#waitingSize += call.size
      this.#next()
    } else this.#alone(call)
  }

  #next(): void {
    while (this.#isDue()) {
      const { calls, size } = this.#take()
      this.#options.batches?.add(size)
      this.#inFlight++
      this.#inFlightSize += size
      this.#together(calls).finally(() => {
        this.#inFlight--
        this.#inFlightSize -= size
        this.#next()
      })
    }
  }

  #isDue(): boolean {
    if (this.#waiting.length === 0 || this.#inFlight === this.#options.atOnce) return false
    return this.#waitingSize >= Math.min(this.#inFlightSize, this.#options.maxBatchSize)
  }

  #take(): { calls: Call<Request, Result>[]; size: number } {
    let count = 0
    let size = 0
    for (const call of this.#waiting) {
      if (count > 0 && size + call.size > this.#options.maxBatchSize) break
      size += call.size
      count++
    }
    this.#waitingSize -= size
    return { calls: this.#waiting.splice(0, count), size }
  }

  async #together(calls: readonly Call<Request, Result>[]): Promise<void> {
    try {
      const outcomes = await this.#options.together(calls)
      for (let index = 0; index < calls.length; index++) {
        const call = calls[index] as Call<Request, Result>
        const outcome = outcomes[index] as Outcome<Result>
        if (outcome === 'again') this.#begin({ ...call, again: true })
        else if (outcome === 'alone') this.#alone(call)
        else this.#settle(call, () => call.resolve(outcome))
      }
    } catch (error) {
      if (calls.length === 1 || isShared(error)) {
        for (const call of calls) this.#settle(call, () => call.reject(error))
      } else {
        for (const call of calls) await this.#alone(call)
      }
    }
  }

  async #alone(call: Call<Request, Result>): Promise<void> {
    try {
      const result = await this.#options.alone(call.request)
      this.#settle(call, () => call.resolve(result))
    } catch (error) {
      this.#settle(call, () => call.reject(error))
    }
  }

  #settle({ size }: Call<Request, Result>, answer: () => void): void {
    answer()
    this.#pending.settle({ items: size, bytes: 0 })
  }
}
