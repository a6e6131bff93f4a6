/**
 * How many messages a worker should claim now. Owns the pace of its handlers, and counts what became of the messages.
 *
 * A message that waits here is withheld from other workers, and has spent a receive when this process is killed.
 * So only as much is claimed ahead as the handlers begin in the next quarter of a second at their pace. At first, and after
 * messages that may have killed a process, that is nothing. The number allowed ahead doubles with each claim that goes well.
 */
import { mayHaveKilled } from '../../shared/failures'
import type { Lease } from '../../shared/leases'
import type { Message } from '../../shared/queue-types'
import type { WorkSettings } from './options'
import type { WorkResult } from './types'

const AHEAD_MS = 250
/** The clock tells no shorter handler from none. */
const SHORTEST_MS = 0.01
/** The weight of the newest handler in the mean. */
const NEWEST = 0.05
/** While one claim of messages is worked on, the next is fetched. */
const BATCHES_AHEAD = 2

export class Prefetch {
  result: WorkResult = { done: 0, failed: 0 }
  #meanMs: number | null = null
  #allowed = 0
  #isSingle = false
  #inFlight = 0
  /** Messages that receives in flight may bring. */
  #asked = 0
  #wasFull = false

  constructor(private readonly options: WorkSettings) {}

  handled(ms: number, hasFailed: boolean): void {
    const one = Math.max(ms, SHORTEST_MS)
    this.#meanMs = this.#meanMs === null ? one : this.#meanMs + (one - this.#meanMs) * NEWEST
    this.result[hasFailed ? 'failed' : 'done']++
  }

  /** The number allowed ahead grows, unless a message may have killed a process; after a suspect it is one message at a time. */
  came(leases: readonly Lease<Message>[], isSuspect: boolean): void {
    this.#isSingle = isSuspect
    const { concurrency, batchSize } = this.options
    if (leases.some(({ subject }) => mayHaveKilled(subject))) this.#allowed = 0
    else this.#allowed = Math.min(Math.max(2 * this.#allowed, concurrency, 10), BATCHES_AHEAD * batchSize)
  }

  /** Messages that were claimed ahead were not begun in time. */
  slowed(): void {
    this.#allowed = 0
    this.#meanMs = null
  }

  /** Notes the receive while it is in flight. */
  async receiving(limit: number, receive: () => Promise<Message[]>): Promise<Message[]> {
    this.#asked += limit
    this.#inFlight++
    let came = 0
    try {
      const messages = await receive()
      came = messages.length
      return messages
    } finally {
      this.#asked -= limit
      this.#inFlight--
      this.#wasFull = came === limit
    }
  }

  /**
   * The number to ask for, given those that could run besides and those claimed ahead; 0 while there is enough. A second receive
   * gains nothing beside one that waits, but does beside one that comes back full.
   */
  wanted(free: number, waiting: number, isSecond: boolean): number {
    const { concurrency, batchSize, auto } = this.options
    if (!auto || (isSecond && !(this.#wasFull && this.#inFlight > 0))) return 0
    const ahead = waiting + this.#asked
    if (this.#isSingle) return free > 0 && ahead === 0 ? 1 : 0
    const pace = this.#meanMs === null ? 0 : (concurrency * AHEAD_MS) / this.#meanMs
    const target = Math.floor(Math.min(pace, this.#allowed))
    if (ahead >= free + target / 2) return 0
    return Math.min(free + target - ahead, batchSize)
  }
}
