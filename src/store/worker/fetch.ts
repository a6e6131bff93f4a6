/**
 * How a worker gets its messages: by receives that wait while there are none. Owns what is asked for. After a fault it asks
 * again, later each time, for ever.
 *
 * Invariant: every claim that a receive brought is passed on, with a lease that is counted from before the receive.
 */

import { Lease } from '../../kit/lease'
import { Pauses } from '../../shared/backoff'
import { RecentnError } from '../../shared/errors'
import { mayHaveKilled } from '../../shared/failures'
import { clearTimeout, performance, setTimeout } from '../../shared/platform'
import type { Message, Queues } from '../../shared/queue-types'

const WAIT_SECONDS = 20
const LONGEST_PAUSE_MS = 5000
/** Receives at the same time: a second one gains nothing beside one that waits, but does beside one that comes back full. */
const AT_ONCE = 2
/** After an empty answer that took no longer than this, the next receive waits as long. */
const SOON_MS = 100
/** The least that an extension asks for. */
const MIN_SECONDS = 1

export type HeldMessage = Lease<Message>

/** The operations that a worker needs. */
export interface WorkSource extends Pick<Queues, 'receive' | 'ackMany' | 'nackMany' | 'extendMany'> {
  /**
   * Ends claims as if they had not been made: ready again, with the receive count that they had before. Stale handles
   * are ignored.
   */
  giveBack(queue: string, receiptHandles: readonly string[]): Promise<unknown>
  /** Throws where `once` would wait for itself. */
  guard?: (() => void) | undefined
}

export interface FetcherOptions {
  source: WorkSource
  queue: string
  visibilityTimeoutSeconds: number | null
  /** What a receive brought; called after each one, and when it is time to ask again. Never rejects. */
  onLeases(leases: readonly HeldMessage[]): Promise<void>
  onFault(error: unknown): void
  onAnswered(): void
  /** The store is closed: there is nothing to ask any more. */
  onClosed(): void
}

export class Fetcher {
  readonly #pauses = new Pauses(LONGEST_PAUSE_MS)
  /** Receives in flight, and what they brought while it is taken in. */
  readonly #deliveries = new Set<Promise<void>>()
  #inFlight = 0
  #asked = 0
  #wasFull = false
  #isStopped = false
  #pause: NodeJS.Timeout | null = null
  #interruption = new AbortController()

  constructor(private readonly options: FetcherOptions) {}

  /** Messages that receives in flight may bring. */
  get asked(): number {
    return this.#asked
  }

  /** Asks for up to `limit` messages, unless enough receives are in flight or the last one has just failed. */
  fetch(limit: number): boolean {
    if (this.#isStopped || this.#pause || this.#inFlight >= (this.#wasFull ? AT_ONCE : 1)) return false
    const delivery = this.#deliver(limit).finally(() => this.#deliveries.delete(delivery))
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

  async #deliver(limit: number): Promise<void> {
    this.#inFlight++
    this.#asked += limit
    const leases = await this.#receive(limit)
    this.#inFlight--
    this.#asked -= limit
    await this.options.onLeases(leases)
  }

  async #receive(limit: number): Promise<HeldMessage[]> {
    try {
      return await this.#claim(limit)
    } catch (error) {
      this.#wasFull = false
      if (error instanceof RecentnError && error.code === 'closed') this.options.onClosed()
      else {
        this.options.onFault(error)
        this.#pauseFor(this.#pauses.next())
      }
      return []
    }
  }

  async #claim(limit: number): Promise<HeldMessage[]> {
    const { signal } = this.#interruption
    const sentAt = performance.now()
    const leases = await this.claim(limit, { waitSeconds: WAIT_SECONDS, signal })
    this.#pauses.reset()
    this.#wasFull = leases.length === limit
    if (leases.length === 0 && !signal.aborted && performance.now() - sentAt < SOON_MS) this.#pauseFor(SOON_MS)
    return leases
  }

  /** One receive, without a wait unless one is given, for a caller that deals with its errors. */
  async claim(limit: number, wait: { waitSeconds?: number; signal?: AbortSignal } = {}): Promise<HeldMessage[]> {
    const { source, queue, visibilityTimeoutSeconds } = this.options
    const sentAt = performance.now()
    const messages = await source.receive(queue, {
      limit,
      ...wait,
      ...(visibilityTimeoutSeconds === null ? {} : { visibilityTimeoutSeconds }),
    })
    this.options.onAnswered()
    return messages.map((message) => leaseOf(message, sentAt, visibilityTimeoutSeconds))
  }

  #pauseFor(ms: number): void {
    if (this.#isStopped) return
    if (this.#pause) clearTimeout(this.#pause)
    this.#pause = setTimeout(() => {
      this.#pause = null
      void this.options.onLeases([])
    }, ms)
  }
}

/** How long a message is held follows from two times of the database's clock, where the receive did not say it. */
function leaseOf(message: Message, sentAt: number, visibilityTimeoutSeconds: number | null): HeldMessage {
  const heldMs = message.visibleAt.getTime() - message.receivedAt.getTime()
  const claimedMs = visibilityTimeoutSeconds === null ? heldMs : visibilityTimeoutSeconds * 1000
  const ms = Math.max(MIN_SECONDS, Math.ceil(claimedMs / 1000)) * 1000
  const { receiveCount, maxReceives } = message
  const isSuspect = mayHaveKilled(message) && maxReceives !== null && receiveCount >= maxReceives
  return new Lease(message, { ms, sentAt, heldMs: claimedMs, isKept: false, isSuspect })
}
