/**
 * How long to wait before something is tried again: a failed message by how often it was handed out, a database that is
 * away by how often it was asked. Always with jitter, so that those who failed together don't come back together.
 */
import type { Bounds } from '../fields/options'

/**
 * Whole seconds until a message that failed is handed out again: from `minSeconds`, doubled with each receive, each time
 * up to half as much again, so that a later pause is never shorter than an earlier one below the maximum. With
 * `minSeconds` 0 the first pause is none and the second a second.
 */
export function retrySeconds(receiveCount: number, { minSeconds, maxSeconds }: Bounds, random = Math.random): number {
  const doubled = (minSeconds || (receiveCount > 1 ? 0.5 : 0)) * 2 ** (receiveCount - 1)
  const longest = Math.min(1.5 * doubled, maxSeconds)
  return Math.max(minSeconds, Math.round(longest * (1 - random() / 3)))
}

const FIRST_MS = 100

/** The pauses of one loop that asks the database. */
export class Pauses {
  readonly #longestMs: number
  #faults = 0

  constructor(longestMs: number) {
    this.#longestMs = longestMs
  }

  /** It has failed once more: milliseconds to wait. */
  next(): number {
    const ms = Math.min(FIRST_MS * 2 ** this.#faults, this.#longestMs)
    this.#faults++
    return ms * (0.5 + Math.random() / 2)
  }

  reset(): void {
    this.#faults = 0
  }
}
