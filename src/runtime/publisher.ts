/**
 * Numbers the entries of feeds as they come: at once when this process has committed some, and by looking now and then
 * for what others have. Any number of processes may publish at once; that they take turns is the repository's business.
 * After a fault (the database is away) it waits longer each time, and comes back by itself. No SQL, no lock.
 *
 * Invariant: one round runs at a time; what is written while it runs has a round of its own after it.
 */
export interface PublisherOptions {
  /** Numbers what there is in all feeds. */
  publish: () => Promise<unknown>
  /** Whether somebody in this process waits for changes. */
  isAwaited: () => boolean
  onError: (error: unknown) => void
}

/** How often it is looked for what others have written. */
const POLL_MS = 500
/** The same while somebody waits here. */
const AWAITED_POLL_MS = 150
/** A round ends this long before the next one begins at the least: what is written meanwhile shares it. */
const GAP_MS = 5
const MAX_PAUSE_MS = 30_000

export class Publisher {
  readonly #options: PublisherOptions
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #isWoken = false
  #stopped = false
  #faults = 0

  constructor(options: PublisherOptions) {
    this.#options = options
    this.#schedule(this.#pollMs)
  }

  /** There is something to publish. */
  wake(): void {
    if (this.#isWoken || this.#stopped) return
    this.#isWoken = true
    if (!this.#running && this.#faults === 0) this.#schedule(GAP_MS)
  }

  /** Somebody began to wait: it is to be looked more often. */
  hurry(): void {
    if (!this.#running && !this.#isWoken && this.#faults === 0) this.#schedule(this.#pollMs)
  }

  /** Publishes what this process has written; then no more rounds. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#running
    // What cannot be published now is, by whoever runs next.
    if (this.#isWoken && this.#faults === 0) await this.#options.publish().catch(() => {})
  }

  get #pollMs(): number {
    return (this.#options.isAwaited() ? AWAITED_POLL_MS : POLL_MS) * (0.75 + Math.random() / 2)
  }

  #schedule(pauseMs: number): void {
    if (this.#timer) clearTimeout(this.#timer)
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#running = this.#round().finally(() => {
        this.#running = null
        this.#schedule(this.#pauseMs)
      })
    }, pauseMs)
    this.#timer.unref() // publishing alone keeps no process alive
  }

  get #pauseMs(): number {
    if (this.#faults > 0) return Math.min(POLL_MS * 2 ** this.#faults, MAX_PAUSE_MS)
    return this.#isWoken ? GAP_MS : this.#pollMs
  }

  async #round(): Promise<void> {
    this.#isWoken = false
    try {
      await this.#options.publish()
      this.#faults = 0
    } catch (error) {
      // What it was woken for is still to be done.
      this.#isWoken = true
      this.#faults++
      if (this.#faults === 1 && !this.#stopped) this.#options.onError(error)
    }
  }
}
