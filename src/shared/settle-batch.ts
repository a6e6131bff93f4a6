/**
 * How a worker of the library or of the client ends its claims. Handlers that end in one turn of the event loop share a
 * call. Owns which settles are not answered yet. Browsers load this file too.
 *
 * Invariant: what the source did not answer is asked again until the claim has ended, and beyond that while the source is
 * away. The handle fences, so that a late ack still saves work when no other receiver has the message.
 */

import { type Clock, Pauses, retrySeconds } from './backoff'
import { errorText } from './error-text'
import { isUnrecoverable } from './failures'
import type { Faults } from './faults'
import type { Lease } from './leases'
import type { Message, Queues } from './queue-types'

const MAX_HANDLES = 1000
const LONGEST_PAUSE_MS = 5000
/** How long a worker that is stopping asks again. */
const LAST_LIMIT_MS = 30_000

/** The claim of a message. `endsAt`: when it ends, as the clock counts. */
type Claimed = Pick<Lease<Message>, 'subject' | 'endsAt'>

export interface SettleBatchesOptions {
  source: Pick<Queues, 'ackMany' | 'nackMany'>
  queue: string
  backoff: { minSeconds: number; maxSeconds: number }
  faults: Faults<Message>
  /** Called once the source has answered that it is so. */
  onDone?: ((message: Message) => void) | undefined
  onDead?: ((message: Message, error: unknown) => void) | undefined
  /** Whether to ask again about this claim after this error. `isStopping`: since the worker only waits for its settles. */
  again(error: unknown, claim: Claimed, isStopping: boolean): boolean
  clock: Clock
}

/** Resolves to the handles that had an effect. */
type SettleCall = (handles: readonly string[]) => Promise<readonly string[]>

export class SettleBatches {
  /** Messages whose handlers have resolved in this turn of the event loop. */
  #done: Claimed[] = []
  readonly #unanswered = new InFlight()
  readonly #givingUp = new AbortController()
  #limitEndsAt = Number.POSITIVE_INFINITY

  constructor(private readonly options: SettleBatchesOptions) {}

  done(claim: Claimed): void {
    this.#done.push(claim)
    if (this.#done.length > 1) return
    this.#unanswered.begin()
    this.options.clock.endOfTurn(() => {
      const { source, queue, onDone } = this.options
      this.settle(this.#done, async (handles) => (await source.ackMany(queue, handles)).acked, onDone)
      this.#done = []
      this.#unanswered.end()
    })
  }

  /** The handler has thrown: the message is handed out again after a backoff, or is dead. */
  failed(claim: Claimed, error: unknown): void {
    const dead = isUnrecoverable(error)
    const delaySeconds = dead ? 0 : retrySeconds(claim.subject.receiveCount, this.options.backoff)
    this.#nack(claim, error, { delaySeconds, dead })
  }

  /** The handler runs on, and the worker waits for it no more. */
  abandoned(claim: Claimed): void {
    const error = new Error('The worker was stopped before the handler ended')
    this.#nack(claim, error, { delaySeconds: 0, dead: false })
  }

  /** Makes the call for up to 1,000 handles at a time, and the hook is called with the messages on which it had an effect. */
  settle(claims: readonly Claimed[], call: SettleCall, hook?: (message: Message) => void): void {
    for (let at = 0; at < claims.length; at += MAX_HANDLES) {
      void this.#settle(claims.slice(at, at + MAX_HANDLES), call, hook)
    }
  }

  /** Resolves when all settles are answered. */
  drained(): Promise<void> {
    return this.#unanswered.none()
  }

  /** From now on what the source does not answer is given up when its claim has ended, or after half a minute. */
  hurry(): void {
    this.#limitEndsAt = this.options.clock.now() + LAST_LIMIT_MS
  }

  /** Asks no more: what is not settled is handed out again when its visibility timeout has expired. */
  giveUp(): void {
    this.#givingUp.abort()
  }

  #nack(claim: Claimed, error: unknown, how: { delaySeconds: number; dead: boolean }): void {
    const { source, queue, onDead } = this.options
    const { receiveCount, maxReceives } = claim.subject
    const isDead = how.dead || (maxReceives !== null && receiveCount >= maxReceives)
    const nack = { ...how, error: errorText(error) }
    void this.#settle(
      [claim],
      async (handles) => (await source.nackMany(queue, handles, nack)).nacked,
      isDead && onDead ? (message) => onDead(message, error) : undefined,
    )
  }

  async #settle(claims: readonly Claimed[], call: SettleCall, hook?: (message: Message) => void): Promise<void> {
    const { faults, clock, again } = this.options
    const { signal } = this.#givingUp
    this.#unanswered.begin()
    let pauses: Pauses | null = null
    for (let left = claims; left.length > 0 && !signal.aborted; ) {
      try {
        const settled = await call(left.map(({ subject }) => subject.receiptHandle))
        const there = new Set(settled)
        for (const { subject } of hook ? left : []) {
          if (there.has(subject.receiptHandle)) faults.hook(() => hook?.(subject), subject)
        }
        break
      } catch (error) {
        faults.database(error)
        const isStopping = this.#limitEndsAt < Number.POSITIVE_INFINITY
        left = left.filter((claim) => clock.now() < this.#limitEndsAt && again(error, claim, isStopping))
        pauses ??= new Pauses(LONGEST_PAUSE_MS)
        if (left.length > 0) await clock.pause(pauses.next(), signal)
      }
    }
    this.#unanswered.end()
  }
}

/** Counts what is under way, for a caller that waits until nothing is. */
export class InFlight {
  #count = 0
  #onNone: (() => void)[] = []

  get count(): number {
    return this.#count
  }

  /** `end` must follow. */
  begin(count = 1): void {
    this.#count += count
  }

  end(count = 1): void {
    this.#count -= count
    if (this.#count === 0) for (const resolve of this.#onNone.splice(0)) resolve()
  }

  /** Resolves when nothing is under way. */
  async none(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#onNone.push(resolve))
  }
}
