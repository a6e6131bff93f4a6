/** Calls that share batches, one batch after the other: a batch takes everything that came while the last one ran. */

interface Waiting<T, R> {
  item: T
  resolve(result: R): void
  reject(error: unknown): void
}

/** Of one batch: as many as there are callers. */
const MAX_BATCH = 256

export class Lane<T, R> {
  readonly #run: (items: readonly T[]) => Promise<R[]>
  #waiting: Waiting<T, R>[] = []
  #isRunning = false

  /** `run` gives a result for each item. */
  constructor(run: (items: readonly T[]) => Promise<R[]>) {
    this.#run = run
  }

  call(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (!this.#isRunning) this.#start()
    })
  }

  /** All calls of this turn come first: those who have just got their answers call again in it. */
  #start(): void {
    this.#isRunning = true
    setImmediate(() => void this.#batch())
  }

  async #batch(): Promise<void> {
    const batch = this.#waiting.splice(0, MAX_BATCH)
    try {
      const results = await this.#run(batch.map(({ item }) => item))
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as R)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#isRunning = false
    if (this.#waiting.length > 0) this.#start()
  }
}
