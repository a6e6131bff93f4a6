/** The signals that tell the process to stop: the first one begins it, a later one makes it hurry. */

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** npm passes on a signal that the terminal has sent to us as well: so soon, a second one is the first. */
const SAME_MS = 1000

export class Stopping {
  readonly #told = new AbortController()
  readonly #hurried = new AbortController()
  #toldAt = 0

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal)
  }

  /** Aborted when the process is to stop. */
  get told(): AbortSignal {
    return this.#told.signal
  }

  /** Aborted when it is not to wait for others any more. */
  get hurried(): AbortSignal {
    return this.#hurried.signal
  }

  /** Signals end the process again. */
  end(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal)
  }

  readonly #onSignal = () => {
    if (!this.#told.signal.aborted) {
      this.#toldAt = performance.now()
      this.#told.abort()
    } else if (performance.now() - this.#toldAt > SAME_MS) this.#hurried.abort()
  }
}
