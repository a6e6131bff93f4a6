/**
 * Work that may take long, a few at a time. The rest waits for its turn, first come, first served, and takes no connection
 * meanwhile: others find connections, however much of such work is asked for. Owns the calls that wait; no SQL.
 */
import { Pending } from './pending'

export interface TurnsOptions {
  /** What the calls are, as an error names it. */
  what: string
  /** How many run at the same time. */
  atOnce: number
  /** How many may be unanswered before the next is refused with `overloaded`. */
  maxPending: number
  /** Throws when the caller must not call. */
  guard?: (() => void) | undefined
  onOverload?: (() => void) | undefined
}

export class Turns {
  readonly #atOnce: number
  readonly #pending: Pending
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(options: TurnsOptions) {
    this.#atOnce = options.atOnce
    this.#pending = new Pending({ ...options, maxItems: options.maxPending })
  }

  /** Runs the work when it is its turn. Rejects with `overloaded`, and with `closed` after `close`. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#pending.admit({ items: 1, bytes: 0 })
    if (this.#running === this.#atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    try {
      return await work()
    } finally {
      // The place goes to the next in line, so that no later call takes it.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
      this.#pending.settle({ items: 1, bytes: 0 })
    }
  }

  /** Refuses what comes from now on; resolves when all that was admitted has ended. */
  close(): Promise<void> {
    return this.#pending.close()
  }
}
