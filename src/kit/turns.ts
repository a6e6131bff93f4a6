/**
 * Work that may take long, a few at a time: the rest waits for its turn, in the order in which it came, and takes no
 * connection meanwhile. So others find connections, however much of such work is asked for.
 */
import { Pending } from './pending'

export interface TurnsOptions {
  /** How much of it runs at the same time. */
  atOnce: number
  /** How much may be unanswered before the next is refused with `overloaded`. */
  maxPending: number
  onOverload?: () => void
}

export class Turns {
  readonly #atOnce: number
  readonly #pending: Pending
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor({ atOnce, maxPending, onOverload }: TurnsOptions) {
    this.#atOnce = atOnce
    this.#pending = new Pending({ what: 'long reads', maxItems: maxPending, onOverload })
  }

  /** Runs the work when it is its turn. Rejects with `overloaded`, and with `closed` after `close`. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const refusal = this.#pending.admit({ items: 1, bytes: 0 })
    if (refusal !== null) throw refusal
    if (this.#running === this.#atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running++
    try {
      return await work()
    } finally {
      // The place goes to the next one, so that nobody who comes meanwhile takes it.
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
