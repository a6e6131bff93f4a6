/**
 * News for readers that wait for changes of feeds: what this process publishes, and what others do, by the look that all
 * parts of the store share. No SQL.
 */
import { LongPoll, type LongPollCaller } from '../../kit/long-poll'
import type { Looks } from '../../kit/shared-look'
import { lastSyncId } from '../../repositories/feeds/heads'
import type { StoreLook } from '../look'

export interface FeedNewsOptions {
  look: StoreLook
  /** Called when the first reader begins to wait. */
  onWaiting: () => void
  guard: () => void
  onOverload: () => void
}

/** The least time between two looks at the last sync ids. */
const LOOK_MS = 20

export class FeedNews {
  /** The readers by feed, each with the last sync id that it has seen. */
  readonly #readers: LongPoll<bigint>
  readonly #looks: Looks

  constructor(private readonly options: FeedNewsOptions) {
    this.#readers = new LongPoll({
      ...options,
      what: 'reads of changes',
      onWait: () => this.#looks.begin(),
    })
    this.#looks = options.look.join({
      topics: () => this.#readers.awaited,
      question: lastSyncId,
      answered: (feed, answer) => this.#look(feed, answer === null ? 0n : BigInt(answer)),
      failed: () => {},
      leastMs: () => LOOK_MS,
    })
  }

  /** Number of readers that wait. */
  get waiting(): number {
    return this.#readers.size
  }

  /** The reader must leave in the end. Throws `overloaded` when too many wait, and `closed` after `close`. */
  enter(feed: string, how: { waitMs: number; signal: AbortSignal | undefined }): LongPollCaller<bigint> {
    const reader = this.#readers.enter(feed, how)
    if (this.#readers.size === 1) this.options.onWaiting()
    return reader
  }

  /** This process has published entries of the feed. */
  published(feed: string): void {
    this.#looks.news()
    this.#readers.wake(feed)
  }

  /** Answers all readers; resolves when they have left. */
  close(): Promise<void> {
    return this.#readers.close()
  }

  /** Wakes those that have not seen this number. */
  #look(feed: string, value: bigint): boolean {
    let isAnyNews = false
    this.#readers.wake(feed, (seen) => {
      const isNews = seen !== undefined && value > seen
      isAnyNews ||= isNews
      return isNews
    })
    return isAnyNews
  }
}
