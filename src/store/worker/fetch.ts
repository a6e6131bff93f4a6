/**
 * How a worker gets its messages: by receives that wait in the database's stead while there are none. Owns what is asked
 * for. After a fault it asks again, later each time, for ever.
 *
 * Invariant: every claim that a receive brought is given on, with a lease that was counted from before the receive.
 */
import { RecentnError } from '../../errors'
import { Pauses } from '../../kit/backoff'
import type { Claim } from './claims'
import { claimsOf, type WorkSource } from './source'

const WAIT_SECONDS = 20
const LONGEST_PAUSE_MS = 5000
/** Beside a receive that waits, a second one gains nothing; beside one of those that come back full it does. */
const AT_ONCE = 2
/** An empty answer that took no longer is no reason to ask again at once. */
const SOON_MS = 100

export interface FetcherOptions {
  source: WorkSource
  queue: string
  visibilityTimeoutSeconds: number | null
  /** What a receive brought; called after each one, and when it is time to ask again. Never rejects. */
  onClaims(claims: readonly Claim[]): Promise<void>
  onFault(error: unknown): void
  onAnswered(): void
  /** The store is closed: there is nothing to ask any more. */
  onClosed(): void
}

export class Fetcher {
  readonly #options: FetcherOptions
  readonly #pauses = new Pauses(LONGEST_PAUSE_MS)
  /** Receives in flight, and what they brought while it is taken in. */
  readonly #deliveries = new Set<Promise<void>>()
  #inFlight = 0
  #asked = 0
  #wasFull = false
  #isStopped = false
  #pause: NodeJS.Timeout | null = null
  #interruption = new AbortController()

  constructor(options: FetcherOptions) {
    this.#options = options
  }

  /** Messages that receives in flight may bring. */
  get asked(): number {
    return this.#asked
  }

  /** Asks for so many, unless enough receives are in flight, or the last one has failed just now. */
  fetch(max: number): boolean {
    if (this.#isStopped || this.#pause || this.#inFlight >= (this.#wasFull ? AT_ONCE : 1)) return false
    const delivery = this.#deliver(max).finally(() => this.#deliveries.delete(delivery))
    this.#deliveries.add(delivery)
    return true
  }

  /** Ends the waiting of the receives in flight; resolves when they have ended. What they bring is given on. */
  async interrupt(): Promise<void> {
    this.#interruption.abort()
    await Promise.all(this.#deliveries)
    if (this.#interruption.signal.aborted) this.#interruption = new AbortController()
  }

  stop(): Promise<void> {
    this.#isStopped = true
    if (this.#pause) clearTimeout(this.#pause)
    this.#pause = null
    return this.interrupt()
  }

  async #deliver(max: number): Promise<void> {
    this.#inFlight++
    this.#asked += max
    const claims = await this.#receive(max)
    this.#inFlight--
    this.#asked -= max
    await this.#options.onClaims(claims)
  }

  async #receive(max: number): Promise<Claim[]> {
    try {
      return await this.#claim(max)
    } catch (error) {
      this.#wasFull = false
      if (error instanceof RecentnError && error.code === 'closed') this.#options.onClosed()
      else {
        this.#options.onFault(error)
        this.#pauseFor(this.#pauses.next())
      }
      return []
    }
  }

  async #claim(max: number): Promise<Claim[]> {
    const { source, queue, visibilityTimeoutSeconds } = this.#options
    const { signal } = this.#interruption
    const sentAt = performance.now()
    const messages = await source.receive(queue, {
      max,
      waitSeconds: WAIT_SECONDS,
      signal,
      ...(visibilityTimeoutSeconds === null ? {} : { visibilityTimeoutSeconds }),
    })
    this.#options.onAnswered()
    this.#pauses.reset()
    this.#wasFull = messages.length === max
    if (messages.length === 0 && !signal.aborted && performance.now() - sentAt < SOON_MS) this.#pauseFor(SOON_MS)
    if (messages.length === 0) return []
    return claimsOf(messages, { sentAt, visibilityTimeoutSeconds })
  }

  #pauseFor(ms: number): void {
    if (this.#isStopped) return
    if (this.#pause) clearTimeout(this.#pause)
    this.#pause = setTimeout(() => {
      this.#pause = null
      void this.#options.onClaims([])
    }, ms)
  }
}
