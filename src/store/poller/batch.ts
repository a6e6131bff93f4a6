/**
 * How many rows the next claim takes: as many as the handlers end in a moment. Rows that wait here for a handler could be
 * handled by another process, and are what a crash leaves claimed; a claim for each row would be a transaction more for each.
 */

import type { Limits } from '../../repositories/polls/claims'
import type { PollSettings } from './options'

/** What one claim should be worth. */
const WORTH_MS = 1000

export class BatchSize {
  readonly #min: number
  readonly #max: number
  readonly #concurrency: number
  readonly #hasOneAttempt: boolean
  #size: number

  constructor({ batch, concurrency, maxAttempts }: PollSettings) {
    this.#min = batch.min
    this.#max = batch.max
    this.#concurrency = concurrency
    this.#hasOneAttempt = maxAttempts === 1
    this.#size = this.#bounded(concurrency)
  }

  /**
   * While so many handlers run. Rows that ran out before, and rows that have one attempt only, don't wait here for a
   * handler: they would be given up for having waited in a process that died.
   */
  limits(running: number): Limits {
    const free = this.#concurrency - running
    return { max: this.#hasOneAttempt ? free : this.#size, ranOut: free }
  }

  /** A claim of so many rows was handled in so long. It grows twofold at most, and only when it was full. */
  handled(rows: number, ms: number): void {
    if (rows === 0) return
    const fitting = Math.ceil((rows * WORTH_MS) / Math.max(ms, 1))
    const most = rows >= this.#size ? 2 * this.#size : this.#size
    this.#size = this.#bounded(Math.max(Math.min(fitting, most), this.#concurrency))
  }

  #bounded(size: number): number {
    return Math.min(Math.max(size, this.#min), this.#max)
  }
}
