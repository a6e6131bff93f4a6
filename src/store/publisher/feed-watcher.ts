/**
 * Who waits for changes of feeds. One look at the sequences serves all who wait in this process; it is taken often while
 * there was news a short while ago, and less often in quiet times; none while nobody waits. No SQL.
 */
import { RecentnError } from '../../errors'

export interface FeedWatcherOptions {
  /** The last sync ids of these feeds; those that have not begun are left out. */
  look: (feeds: readonly string[]) => Promise<ReadonlyMap<string, bigint>>
  /** The first one has begun to wait. */
  onWaiting: () => void
  /** Told of each call that is refused with `overloaded`. */
  onOverload?: () => void
}

interface Waiter {
  feed: string
  /** More than this is news. */
  value: bigint
  wake: () => void
}

const MIN_PAUSE_MS = 20
const MAX_PAUSE_MS = 75
/** A part of the time since the last news: the longer it was quiet, the less it matters. */
const PAUSE_SHARE = 0.02
/** Calls that may wait. */
const MAX_WAITERS = 10_000

export class FeedWatcher {
  readonly #options: FeedWatcherOptions
  readonly #waiters = new Set<Waiter>()
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> | null = null
  #newsAt = performance.now()
  #closed = false

  constructor(options: FeedWatcherOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiters.size
  }

  get isAwaited(): boolean {
    return this.#waiters.size > 0
  }

  /** Resolves when the feed has gone beyond `value`, after `waitMs`, when aborted, and when the store closes. */
  wait(feed: string, value: bigint, waitMs: number, signal?: AbortSignal): Promise<void> {
    if (this.#closed || signal?.aborted || waitMs <= 0) return Promise.resolve()
    if (this.#waiters.size >= MAX_WAITERS) {
      this.#options.onOverload?.()
      const detail = `${this.#waiters.size} calls wait for changes`
      return Promise.reject(new RecentnError('overloaded', detail, { retryAfterMs: 1000 }))
    }
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(deadline)
        signal?.removeEventListener('abort', wake)
        this.#waiters.delete(waiter)
        resolve()
      }
      const deadline = setTimeout(wake, waitMs)
      const waiter = { feed, value, wake }
      signal?.addEventListener('abort', wake)
      this.#waiters.add(waiter)
      if (this.#waiters.size === 1) this.#options.onWaiting()
      this.#schedule()
    })
  }

  /** Entries of these feeds were published by this process. */
  published(feeds: Iterable<string>): void {
    const names = new Set(feeds)
    for (const waiter of [...this.#waiters]) if (names.has(waiter.feed)) waiter.wake()
    if (names.size > 0) this.#newsAt = performance.now()
  }

  /** Answers all who wait; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer) clearTimeout(this.#timer)
    for (const waiter of [...this.#waiters]) waiter.wake()
    await this.#looking
  }

  #schedule(): void {
    if (this.#timer || this.#looking || this.#closed || this.#waiters.size === 0) return
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
    const feeds = new Set([...this.#waiters].map(({ feed }) => feed))
    if (feeds.size === 0) return
    try {
      const values = await this.#options.look([...feeds])
      for (const waiter of [...this.#waiters]) {
        if ((values.get(waiter.feed) ?? 0n) <= waiter.value) continue
        this.#newsAt = performance.now()
        waiter.wake()
      }
    } catch {
      // The database is away: who waits is answered in the end, and asks again then.
    }
  }
}
