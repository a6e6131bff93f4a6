/**
 * News for readers that wait for changes of feeds: what this process publishes, and what others do. One query of the last sync
 * ids serves all readers of the process. It runs often while there was news a short time ago, less often in quiet times,
 * and not at all while nobody waits. No SQL.
 */
import { LongPoll, type LongPollCaller } from '../../kit/long-poll'
import { Loop } from '../../kit/loop'
import { performance } from '../../real-time'

export interface FeedNewsOptions {
  /** The last sync ids of these feeds; a feed that has not begun is left out. */
  look: (feeds: readonly string[]) => Promise<ReadonlyMap<string, bigint>>
  /** Called when the first reader begins to wait. */
  onWaiting: () => void
  guard: () => void
  onOverload: () => void
}

const MIN_PAUSE_MS = 20
const MAX_PAUSE_MS = 75
/** Part of the time since the last news: after a long quiet time a little more delay matters less. */
const PAUSE_SHARE = 0.02
const FAULT_PAUSES = { firstMs: MAX_PAUSE_MS, longestMs: 1000 }

export class FeedNews {
  readonly #options: FeedNewsOptions
  /** The readers by feed, each with the last sync id that it has seen. */
  readonly #readers: LongPoll<bigint>
  readonly #loop: Loop
  #newsAt = performance.now()

  constructor(options: FeedNewsOptions) {
    this.#options = options
    this.#readers = new LongPoll({
      ...options,
      what: 'reads of changes',
      onWait: () => this.#loop.wake(this.#pauseMs),
    })
    this.#loop = new Loop({ round: () => this.#look(), faultPauses: FAULT_PAUSES, keepsAlive: false })
  }

  /** Number of readers that wait. */
  get waiting(): number {
    return this.#readers.size
  }

  /** The reader must leave in the end. Throws `overloaded` when too many wait, and `closed` after `close`. */
  enter(feed: string, how: { waitMs: number; signal: AbortSignal | undefined }): LongPollCaller<bigint> {
    const reader = this.#readers.enter(feed, how)
    if (this.#readers.size === 1) this.#options.onWaiting()
    return reader
  }

  /** This process has published entries of the feed. */
  published(feed: string): void {
    this.#newsAt = performance.now()
    this.#readers.wake(feed)
  }

  /** Answers all readers; resolves when they have left, and no query is running. */
  async close(): Promise<void> {
    await Promise.all([this.#readers.close(), this.#loop.stop()])
  }

  get #pauseMs(): number {
    const quietMs = performance.now() - this.#newsAt
    return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, quietMs * PAUSE_SHARE))
  }

  async #look(): Promise<number | null> {
    const feeds = this.#readers.awaited
    if (feeds.length === 0) return null
    const values = await this.#options.look(feeds)
    for (const feed of feeds) {
      const value = values.get(feed) ?? 0n
      this.#readers.wake(feed, (seen) => {
        const isNews = seen !== undefined && value > seen
        if (isNews) this.#newsAt = performance.now()
        return isNews
      })
    }
    return this.#pauseMs
  }
}
