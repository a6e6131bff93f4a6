/**
 * Reads that may have much to answer. A few run at a time, and the others wait: a burst of them would otherwise be read as a
 * whole before the first answer is known to be left unread.
 */
import { mustHaveRoomToBegin } from './sending'

/** A read of no more rows than this is not a large one. */
const FEW_ROWS = 20

const MOST_AT_ONCE = 16

export function isLargeRead(query: unknown): boolean {
  return ((query as { limit?: number }).limit ?? 0) > FEW_ROWS
}

export class LargeReads {
  #running = 0
  readonly #waiting: (() => void)[] = []

  /** Runs `answer` in its turn. Throws `overloaded` where too much is unsent by then. */
  async run(answer: () => Promise<void>): Promise<void> {
    if (this.#running < MOST_AT_ONCE) this.#running++
    // Whoever ends hands on its place.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      mustHaveRoomToBegin()
      await answer()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#running--
    }
  }
}
