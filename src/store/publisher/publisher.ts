/**
 * Numbers the entries of feeds as they come: at once when this process has committed some, and by looking now and then
 * for what others have. Any number of processes may publish at once; that they take turns is the repository's business.
 * After a fault (the database is away) it waits longer each time, and comes back by itself. No SQL, no lock.
 *
 * Invariant: one round runs at a time; what is written while it runs has a round of its own after it.
 */
import type { WorkCounts } from '../work-counts'

/** What is left of a round. */
export interface Round {
  /** How long it took to find out what there is. */
  lookMs: number
  /** Feeds of which there is more. */
  again: Iterable<string>
  /** Somebody else was at one of them: it is to be looked soon whether something is left. */
  isBusy: boolean
}

export interface PublisherOptions {
  /** Numbers some of what there is, in these feeds or in all. */
  publish: (feeds: ReadonlySet<string> | null) => Promise<Round>
  /** Whether somebody in this process waits for changes. */
  isAwaited: () => boolean
  onError: (error: unknown) => void
  counts?: Pick<WorkCounts, 'publisherRounds' | 'publisherFaults'>
}

/** How often it is looked for what others have written. */
const POLL_MS = 500
/** The same while somebody waits here. */
const AWAITED_POLL_MS = 150
/** At most such a part of the time is spent looking: with very many feeds it is looked less often, but this often. */
const LOOK_SHARE = 20
const MAX_POLL_MS = 1000
/** What somebody else is at is looked for again so soon. */
const BUSY_MS = 50
/** A round ends this long before the next one begins at the least: what is written meanwhile shares it. */
const GAP_MS = 5
const MAX_PAUSE_MS = 30_000

export class Publisher {
  readonly #options: PublisherOptions
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  /** Feeds that this process has written to since they were published last. */
  #woken = new Set<string>()
  /** When it is to be looked at all feeds, by `performance.now`. */
  #lookAt: number
  #lookMs = 0
  #stopped = false
  #faults = 0

  constructor(options: PublisherOptions) {
    this.#options = options
    this.#lookAt = performance.now() + this.#pollMs
    this.#schedule()
  }

  /** There is something to publish in the feed. */
  wake(feed: string): void {
    if (this.#stopped) return
    this.#woken.add(feed)
    // Who has committed has a database.
    if (this.#faults > 0) this.#restart()
    else if (this.#woken.size === 1) this.#schedule()
  }

  /** Somebody began to wait: it is to be looked more often. */
  hurry(): void {
    this.#lookAt = Math.min(this.#lookAt, performance.now() + this.#pollMs)
    this.#schedule()
  }

  /** Publishes what this process has written; then no more rounds. */
  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#running
    // What cannot be published now is, by whoever runs next.
    if (this.#woken.size > 0 && this.#faults === 0) await this.#options.publish(this.#woken).catch(() => {})
  }

  get #pollMs(): number {
    const pollMs = this.#options.isAwaited() ? AWAITED_POLL_MS : POLL_MS
    const leastMs = Math.min(this.#lookMs * LOOK_SHARE, MAX_POLL_MS)
    return Math.max(pollMs * (0.75 + Math.random() / 2), leastMs)
  }

  get #pauseMs(): number {
    if (this.#faults > 0) return Math.min(POLL_MS * 2 ** this.#faults, MAX_PAUSE_MS)
    return this.#woken.size > 0 ? GAP_MS : Math.max(0, this.#lookAt - performance.now())
  }

  #restart(): void {
    this.#faults = 0
    this.#schedule()
  }

  #schedule(): void {
    if (this.#running || this.#stopped) return
    // After a fault the pause that was begun stays.
    if (this.#timer && this.#faults > 0) return
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#running = this.#round().finally(() => {
        this.#running = null
        this.#schedule()
      })
    }, this.#pauseMs)
    this.#timer.unref() // publishing alone keeps no process alive
  }

  async #round(): Promise<void> {
    const since = performance.now()
    const isLook = since >= this.#lookAt
    const woken = this.#woken
    this.#woken = new Set()
    try {
      const { lookMs, again, isBusy } = await this.#options.publish(isLook ? null : woken)
      this.#faults = 0
      if (this.#options.counts) this.#options.counts.publisherRounds++
      for (const feed of again) this.#woken.add(feed)
      if (isLook) this.#lookMs = lookMs
      if (isLook) this.#lookAt = performance.now() + this.#pollMs
      if (isBusy) this.#lookAt = Math.min(this.#lookAt, performance.now() + Math.max(BUSY_MS, this.#lookMs))
    } catch (error) {
      // What it was woken for is still to be done.
      for (const feed of woken) this.#woken.add(feed)
      this.#faults++
      if (this.#options.counts) this.#options.counts.publisherFaults++
      if (this.#faults === 1 && !this.#stopped) this.#options.onError(error)
    }
  }
}
