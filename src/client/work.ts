/**
 * `client.queues.work`: the worker of the library over REST. It claims as many messages as its handlers begin at once, and
 * none ahead, because REST takes back no claim whose handler has not begun.
 *
 * Invariants: a handler begins only while its claim surely holds. A claim ends in exactly one way: acked, nacked, or lost.
 */

import { Faults } from '../shared/faults'
import type { Message } from '../shared/queue-types'
import type { RecentnError } from '../shared/recentn-error'
import { Stoppable, surrounded } from '../shared/running'
import { parsing } from '../shared/schema'
import { Settles } from '../shared/settle-batch'
import { Claim, Claims } from './claims'
import * as loops from './loops'
import { aFunction } from './options'
import { mayPass, pause } from './retry'

const WAIT_SECONDS = 20
/** After an empty answer that took no longer than this, the next receive waits as long. */
const SOON_MS = 100
/** How long others are waited for before a suspect begins, and then its end before others begin. */
const CAREFUL_MS = 3000
/** How long handlers have to end after their signals were aborted. */
const LAST_MS = 1000
/** How long the server then has to take what is settled. */
const LAST_SETTLE_MS = 5000
const RULES = {
  ...loops.LOOP_RULES,
  concurrency: loops.whole(1, 1000),
  visibilityTimeoutSeconds: loops.whole(1, 43_200),
  onDone: aFunction,
  onDead: aFunction,
}

/** See `QueuesClient.work`. Throws `invalid_input`. */
export function startWorker(
  queues: loops.WorkSource,
  queue: string,
  handler: loops.Handler,
  options: loops.WorkOptions,
): loops.Running {
  loops.checkLoop(handler, options, RULES)
  return new RemoteWorker(queues, queue, surrounded(options.around, parsing(options.schema, handler)), options)
}

class RemoteWorker extends Stoppable {
  readonly #queues: loops.WorkSource
  readonly #queue: string
  readonly #handler: loops.Handler
  readonly #options: loops.WorkOptions
  readonly #faults: Faults<Message>
  readonly #claims: Claims
  readonly #stopping = new AbortController()
  readonly #running = new Map<Claim, Promise<void>>()
  readonly #settles: Settles<Message>
  readonly #fetched: Promise<void>
  #onRoom: () => void = () => {}
  #ended: Promise<void> | null = null

  constructor(queues: loops.WorkSource, queue: string, handler: loops.Handler, options: loops.WorkOptions) {
    super()
    this.#queues = queues
    this.#queue = queue
    this.#handler = handler
    this.#options = options
    this.#faults = new Faults({ who: 'worker', what: `work on the queue ${queue}`, onError: options.onError })
    this.#claims = new Claims(queues, queue, this.#faults)
    this.#settles = new Settles({
      ...options,
      source: queues,
      queue,
      backoff: loops.pausesOf(options.backoff),
      faults: this.#faults,
      again: (error) => mayPass(error as RecentnError),
      clock: {
        now: () => performance.now(),
        sleep: pause,
        endOfTurn: (run) => setTimeout(run),
      },
    })
    this.#fetched = loops.repeat(this.#stopping.signal, this.#faults, () => this.#fetch())
    this.stopBy(options.signal)
  }

  async stop(options: loops.StopOptions = {}): Promise<void> {
    const patienceMs = loops.checkedPatience(options)
    this.#stopping.abort()
    this.#onRoom()
    this.#ended ??= this.#end()
    await this.#stop(patienceMs, this.#ended)
    this.ended()
  }

  async #stop(patienceMs: number | null, ended: Promise<void>): Promise<void> {
    if (patienceMs === null || (await loops.endsWithin(patienceMs, ended))) return ended
    for (const claim of this.#running.keys()) claim.abort('The worker is being stopped')
    if (await loops.endsWithin(LAST_MS, ended)) return
    for (const claim of this.#running.keys()) {
      if (claim.isOver) continue
      this.#claims.remove(claim)
      this.#settles.abandoned(claim)
    }
    await loops.endsWithin(LAST_SETTLE_MS, this.#settles.drained())
    this.#settles.giveUp()
  }

  async #end(): Promise<void> {
    await this.#fetched
    await Promise.all(this.#running.values())
    this.#settles.hurry()
    await this.#settles.drained()
  }

  // ---- claims that come in

  /** Resolves to the milliseconds until the next receive. */
  async #fetch(): Promise<number> {
    await this.#room()
    if (this.#stopping.signal.aborted) return 0
    const sentAt = performance.now()
    const claims = await this.#receive()
    this.#faults.answered()
    await this.#take(claims)
    return claims.length === 0 && performance.now() - sentAt < SOON_MS ? SOON_MS : 0
  }

  async #receive(): Promise<Claim[]> {
    const { concurrency = 1, visibilityTimeoutSeconds } = this.#options
    const sentAt = performance.now()
    const messages = await this.#queues.receive(this.#queue, {
      limit: concurrency - this.#running.size,
      visibilityTimeoutSeconds,
      waitSeconds: WAIT_SECONDS,
      signal: this.#stopping.signal,
    })
    return messages.map((message) => new Claim(message, sentAt, visibilityTimeoutSeconds))
  }

  /** Resolves when a handler is free, and when the worker is being stopped. */
  async #room(): Promise<void> {
    const { concurrency = 1 } = this.#options
    while (this.#running.size >= concurrency && !this.#stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve
      })
    }
  }

  /** Begins the handlers. Resolves when another receive may begin. */
  async #take(claims: readonly Claim[]): Promise<void> {
    await this.#claims.add(claims)
    for (const claim of claims) if (!claim.isSuspect) void this.#begin(claim)
    for (const claim of claims) {
      if (!claim.isSuspect) continue
      // It runs alone, so that it takes no other message with it, nor another one it.
      await loops.endsWithin(CAREFUL_MS, this.#quiet())
      await loops.endsWithin(CAREFUL_MS, this.#begin(claim))
    }
  }

  async #quiet(): Promise<void> {
    await Promise.all(this.#running.values())
    await this.#settles.drained()
  }

  async #begin(claim: Claim): Promise<void> {
    if (claim.isOver) return
    const run = this.#run(claim)
    this.#running.set(claim, run)
    await run
    this.#running.delete(claim)
    this.#onRoom()
  }

  async #run(claim: Claim): Promise<void> {
    const { subject, signal } = claim
    const failure = await this.#faults.attempt(() => this.#handler(subject, { signal }), subject)
    if (claim.isOver) return
    this.#claims.remove(claim)
    if (failure) this.#settles.failed(claim, failure.error)
    else this.#settles.done(claim)
  }
}
