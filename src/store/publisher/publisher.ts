/**
 * The loop that numbers the entries of feeds: at once after this process has committed some, and by polling for those of
 * others. Any number of processes may publish at once; the repository makes them take turns. After a fault (the database
 * is away) each pause is longer, and the loop recovers by itself. No SQL.
 *
 * Invariant: one round runs at a time; what is written during a round is published by a round after it.
 */
import { Loop } from '../../kit/loop'
import { performance } from '../../real-time'
import type { WorkCounts } from '../work-counts'

/** What a round has left to do. */
export interface PublishingRound {
  /** How long it took to find the feeds with something to publish. */
  lookMs: number
  /** Feeds with more to publish. */
  again: Iterable<string>
  /** Another process was publishing one of the feeds: look again soon. */
  isBusy: boolean
}

export interface PublisherOptions {
  /** Publishes part of what there is, in these feeds or in all. */
  publish: (feeds: ReadonlySet<string> | null) => Promise<PublishingRound>
  /** Whether a reader in this process waits for changes. */
  isAwaited: () => boolean
  onError: (error: unknown) => void
  counts?: Pick<WorkCounts, 'publisherRounds' | 'publisherFaults'>
}

/** Time between two looks at all feeds. */
const POLL_MS = 500
/** The same while a reader waits in this process. */
const AWAITED_POLL_MS = 150
/** Looking takes at most this fraction of the time (1 / 20), so that very many feeds are looked at less often … */
const LOOK_SHARE = 20
/** … but at least once in this time. */
const MAX_POLL_MS = 1000
/** Pause before looking again at feeds that another process was publishing. */
const BUSY_MS = 50
/** Pause before a round, and between two: what is written meanwhile is published together. */
const GAP_MS = 5
const FAULT_PAUSES = { firstMs: 2 * POLL_MS, longestMs: 30_000 }

export class Publisher {
  readonly #options: PublisherOptions
  readonly #loop: Loop
  /** Feeds that this process has written to since they were published last. */
  #woken = new Set<string>()
  /** When to look at all feeds, by `performance.now`. */
  #lookAt: number
  #lookMs = 0
  #isFaulty = false

  constructor(options: PublisherOptions) {
    this.#options = options
    const { onError, counts } = options
    this.#loop = new Loop({
      round: () => this.#round(),
      restMs: () => GAP_MS,
      faultPauses: FAULT_PAUSES,
      onFault: (error, isFirst) => {
        if (counts) counts.publisherFaults++
        if (isFirst) onError(error)
      },
      keepsAlive: false,
    })
    this.#lookAt = performance.now() + this.#pollMs
    this.#loop.wake(this.#untilLookMs)
  }

  /** The feed has something to publish. */
  wake(feed: string): void {
    if (this.#loop.isStopped) return
    this.#woken.add(feed)
    // A commit shows that the database is back.
    this.#loop.recovered()
    this.#loop.wake(GAP_MS)
  }

  /** A reader began to wait: look more often. */
  hurry(): void {
    this.#lookAt = Math.min(this.#lookAt, performance.now() + this.#pollMs)
    this.#loop.wake(this.#untilLookMs)
  }

  /** Publishes what this process has written, and ends the loop. */
  async stop(): Promise<void> {
    if (this.#loop.isStopped) return
    await this.#loop.stop()
    // What cannot be published now is published by the next process that looks.
    if (this.#woken.size > 0 && !this.#isFaulty) await this.#options.publish(this.#woken).catch(() => {})
  }

  get #pollMs(): number {
    const pollMs = this.#options.isAwaited() ? AWAITED_POLL_MS : POLL_MS
    const leastMs = Math.min(this.#lookMs * LOOK_SHARE, MAX_POLL_MS)
    return Math.max(pollMs * (0.75 + Math.random() / 2), leastMs)
  }

  get #untilLookMs(): number {
    return Math.max(0, this.#lookAt - performance.now())
  }

  async #round(): Promise<number> {
    // A round that nobody has asked for was begun early, by a clock that was moved on.
    const isLook = this.#untilLookMs === 0 || this.#woken.size === 0
    const woken = this.#woken
    this.#woken = new Set()
    const { publish, counts } = this.#options
    try {
      const { lookMs, again, isBusy } = await publish(isLook ? null : woken)
      this.#isFaulty = false
      if (counts) counts.publisherRounds++
      for (const feed of again) this.#woken.add(feed)
      if (isLook) {
        this.#lookMs = lookMs
        this.#lookAt = performance.now() + this.#pollMs
      }
      if (isBusy) this.#lookAt = Math.min(this.#lookAt, performance.now() + Math.max(BUSY_MS, this.#lookMs))
      return this.#woken.size > 0 ? GAP_MS : this.#untilLookMs
    } catch (error) {
      // The feeds that it was woken for are still to be published.
      for (const feed of woken) this.#woken.add(feed)
      this.#isFaulty = true
      throw error
    }
  }
}
