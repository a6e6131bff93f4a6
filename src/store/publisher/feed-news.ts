/**
 * Readers that wait for changes of feeds. One query of the sequences serves all that wait in this process. It runs often
 * while there was news a short time ago, less often in quiet times, and not at all while nobody waits. No SQL.
 */
import { RecentnError } from '../../errors'

export interface FeedNewsOptions {
  /** The last sync ids of these feeds; a feed that has not begun is left out. */
  look: (feeds: readonly string[]) => Promise<ReadonlyMap<string, bigint>>
  /** Called when the first reader begins to wait. */
  onWaiting: () => void
  /** Called for each wait that is refused with `overloaded`. */
  onOverload?: () => void
}

interface WaitingReader {
  feed: string
  /** A greater sync id is news. */
  value: bigint
  answer: (isNews: boolean) => void
}

const MIN_PAUSE_MS = 20
const MAX_PAUSE_MS = 75
/** Part of the time since the last news: after a long quiet time a little more delay matters less. */
const PAUSE_SHARE = 0.02
const MAX_WAITING = 10_000

export class FeedNews {
  readonly #options: FeedNewsOptions
  readonly #readers = new Set<WaitingReader>()
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> | null = null
  #newsAt = performance.now()
  #closed = false

  constructor(options: FeedNewsOptions) {
    this.#options = options
  }

  /** Number of readers that wait. */
  get waiting(): number {
    return this.#readers.size
  }

  /**
   * Resolves to true when the feed has gone beyond `value`, and to false at the deadline (by `performance.now`), when the
   * signal is aborted, and when the store closes. Rejects with `overloaded` when too many wait.
   */
  wait(feed: string, value: bigint, deadline: number, signal?: AbortSignal): Promise<boolean> {
    const waitMs = deadline - performance.now()
    if (this.#closed || signal?.aborted || waitMs <= 0) return Promise.resolve(false)
    if (this.#readers.size >= MAX_WAITING) {
      this.#options.onOverload?.()
      const detail = `${this.#readers.size} calls wait for changes`
      return Promise.reject(new RecentnError('overloaded', detail, { retryAfterMs: 1000 }))
    }
    return new Promise((resolve) => {
      const answer = (isNews: boolean) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', giveUp)
        this.#readers.delete(reader)
        resolve(isNews)
      }
      const giveUp = () => answer(false)
      const timer = setTimeout(giveUp, waitMs)
      const reader = { feed, value, answer }
      signal?.addEventListener('abort', giveUp)
      this.#readers.add(reader)
      if (this.#readers.size === 1) this.#options.onWaiting()
      this.#schedule()
    })
  }

  /** This process has published entries of the feed. */
  published(feed: string): void {
    for (const reader of [...this.#readers]) if (reader.feed === feed) reader.answer(true)
    this.#newsAt = performance.now()
  }

  /** Answers all readers; resolves when no query is running. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer) clearTimeout(this.#timer)
    for (const reader of [...this.#readers]) reader.answer(false)
    await this.#looking
  }

  #schedule(): void {
    if (this.#timer || this.#looking || this.#closed || this.#readers.size === 0) return
    const quietMs = performance.now() - this.#newsAt
    const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, quietMs * PAUSE_SHARE))
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#looking = this.#look().finally(() => {
        this.#looking = null
        this.#schedule()
      })
    }, pauseMs)
  }

  async #look(): Promise<void> {
    const feeds = new Set([...this.#readers].map(({ feed }) => feed))
    if (feeds.size === 0) return
    try {
      const values = await this.#options.look([...feeds])
      for (const reader of [...this.#readers]) {
        if ((values.get(reader.feed) ?? 0n) <= reader.value) continue
        this.#newsAt = performance.now()
        reader.answer(true)
      }
    } catch {
      // The database is away: a reader is answered at its deadline, and its next call reports the error.
    }
  }
}
