/**
 * The loop that numbers the entries of feeds: at once after this process has committed some, and after `look`, or after
 * its own looks, those of others. Any number of processes may publish at once; the repository makes them take turns.
 * After a fault (the database is away) each pause is longer, and the loop recovers by itself. No SQL.
 *
 * Invariant: one round runs at a time; what is written during a round is published by a round after it.
 */
import { Loop } from '../../kit/loop'
import { quietPauseMs, shareOf } from '../../kit/shared-poll'
import { performance } from '../../shared/platform'
import type { WorkCounts } from '../counts'

export interface PublishingRound {
  /** How long it took to find the feeds with something to publish. */
  lookMs: number
  published: number
  again: Iterable<string>
  /** Another process was publishing one of the feeds: look again soon. */
  isBusy: boolean
}

export interface PublisherOptions {
  /** Publishes part of what there is, in these feeds or in all. */
  publish: (feeds: ReadonlySet<string> | null) => Promise<PublishingRound>
  /** The least time between two looks at the writes of others. Without it, it looks when `look` is called. */
  leastMs?: () => number
  onError: (error: unknown) => void
  counts?: Pick<WorkCounts, 'publisherRounds' | 'publisherFaults'>
}

const QUIET_MS = 1000
/** Pause before looking again at feeds that another process was publishing. */
const BUSY_MS = 50
/** Pause before a round, and between two: writes during it are published together. */
const GAP_MS = 5
const FAULT_PAUSES = { firstMs: 1000, longestMs: 30_000 }

export class Publisher {
  readonly #loop: Loop
  /** Feeds that this process has written to since they were published last. */
  #woken = new Set<string>()
  /** When to look at all feeds, by `performance.now`. */
  #lookAt: number
  #lookMs = 0
  #publishedAt = performance.now()
  #isFaulty = false

  constructor(private readonly options: PublisherOptions) {
    const { onError, counts } = options
    this.#loop = new Loop({
      round: () => this.#round(),
      restMs: () => GAP_MS,
      faultPauses: FAULT_PAUSES,
      onFault: (error, isFirst) => {
        if (counts) counts.publisherFaults++
        if (isFirst) onError(error)
      },
    })
    this.#lookAt = performance.now() + this.#pauseMs
    this.#loop.wake(this.#untilLookMs)
  }

  look(): void {
    this.#lookAt = performance.now()
    this.#loop.wake()
  }

  wake(feed: string): void {
    if (this.#loop.isStopped) return
    this.#woken.add(feed)
    // A commit shows that the database is back.
    this.#loop.recovered()
    this.#loop.wake(GAP_MS)
  }

  /** A reader began to wait: look more often. */
  hurry(): void {
    this.#lookAt = Math.min(this.#lookAt, performance.now() + this.#pauseMs)
    this.#loop.wake(this.#untilLookMs)
  }

  /** Publishes what this process has written, and ends the loop. */
  async stop(): Promise<void> {
    if (this.#loop.isStopped) return
    await this.#loop.stop()
    // The next process that looks publishes what cannot be published now.
    if (this.#woken.size > 0 && !this.#isFaulty) await this.options.publish(this.#woken).catch(() => {})
  }

  get #pauseMs(): number {
    const { leastMs } = this.options
    if (leastMs === undefined) return Number.POSITIVE_INFINITY
    const pauseMs = Math.max(leastMs(), quietPauseMs(this.#publishedAt, QUIET_MS))
    return Math.max(pauseMs * (0.75 + Math.random() / 2), shareOf(this.#lookMs))
  }

  get #untilLookMs(): number {
    return Math.max(0, this.#lookAt - performance.now())
  }

  async #round(): Promise<number> {
    // A round without a request was begun early, by a clock that was moved on.
    const isLook = this.#untilLookMs === 0 || this.#woken.size === 0
    const woken = this.#woken
    this.#woken = new Set()
    const { publish, counts } = this.options
    try {
      const { lookMs, again, isBusy, published } = await publish(isLook ? null : woken)
      if (published > 0) this.#publishedAt = performance.now()
      this.#isFaulty = false
      if (counts) counts.publisherRounds++
      for (const feed of again) this.#woken.add(feed)
      if (isLook) {
        this.#lookMs = lookMs
        this.#lookAt = performance.now() + this.#pauseMs
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
