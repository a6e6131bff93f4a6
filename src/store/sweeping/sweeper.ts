/**
 * Calls for the deletion of expired items: every second, and at once again while there is more to do. After a fault
 * (the database is away) it waits longer each time, and comes back by itself. No SQL, no lock: any number may run.
 */
import type { WorkCounts } from '../work-counts'

export interface SweeperOptions {
  /** One round of work; `more` when another should follow at once. */
  sweep: () => Promise<{ more: boolean }>
  onError?: (error: unknown) => void
  intervalMs?: number
  counts?: Pick<WorkCounts, 'sweeperRounds' | 'sweeperFaults'>
}

const MAX_PAUSE_MS = 30_000

export class Sweeper {
  readonly #options: SweeperOptions
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> = Promise.resolve()
  #stopped = false
  #faults = 0

  constructor(options: SweeperOptions) {
    this.#options = options
    this.#schedule(this.#intervalMs)
  }

  get #intervalMs(): number {
    return this.#options.intervalMs ?? 1000
  }

  /** Resolves when the round that runs has ended; none follows. */
  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#running
  }

  #schedule(pauseMs: number): void {
    if (this.#stopped) return
    // Many processes that started together should not all sweep at the same moment.
    const jitteredMs = pauseMs * (0.75 + Math.random() / 2)
    this.#timer = setTimeout(() => {
      this.#running = this.#round()
    }, jitteredMs)
    this.#timer.unref() // sweeping alone keeps no process alive
  }

  async #round(): Promise<void> {
    try {
      const { more } = await this.#options.sweep()
      this.#faults = 0
      if (this.#options.counts) this.#options.counts.sweeperRounds++
      this.#schedule(more ? 0 : this.#intervalMs)
    } catch (error) {
      this.#faults++
      if (this.#options.counts) this.#options.counts.sweeperFaults++
      if (this.#faults === 1 && !this.#stopped) this.#options.onError?.(error)
      this.#schedule(Math.min(this.#intervalMs * 2 ** this.#faults, MAX_PAUSE_MS))
    }
  }
}
