/**
 * `client.queues.work`: the worker of the library over REST. It claims as many messages as its handlers begin at once, and
 * none ahead, because REST takes back no claim whose handler has not begun.
 *
 * Invariants: a handler begins only while its claim surely holds. A claim ends in exactly one way: deleted, released, or lost.
 */

import { isUnrecoverable } from '../failures'
import { Pauses, retrySeconds } from '../kit/backoff'
import { errorText, Faults } from '../kit/faults'
import type { RecentnError } from '../recentn-error'
import { parsing } from '../schema'
import { Claim, Claims } from './claims'
import * as loops from './loops'
import { mayPass, pause } from './retry'
import type { Message } from './wire'

const WAIT_SECONDS = 20
const LONGEST_PAUSE_MS = 5000
/** After an empty answer that took no longer than this, the next receive waits as long. */
const SOON_MS = 100
/** How long others are waited for before a suspect begins, and then its end before others begin. */
const CAREFUL_MS = 3000
/** How long handlers have to end after their signals were aborted. */
const LAST_MS = 1000
/** How long the server then has to take what is settled. */
const LAST_SETTLE_MS = 5000
/** How long a worker that is stopping asks a server again that does not answer. */
const LAST_PATIENCE_MS = 30_000
const RULES = {
  ...loops.LOOP_RULES,
  concurrency: loops.whole(1, 1000),
  visibilityTimeoutSeconds: loops.whole(1, 43_200),
  onDone: loops.aFunction,
  onDead: loops.aFunction,
}

/** See `QueuesClient.work`. Throws `invalid_input`. */
export function startWorker(
  queues: loops.WorkSource,
  queue: string,
  handler: loops.Handler,
  options: loops.WorkOptions,
): loops.Running {
  loops.checkLoop(handler, options, RULES)
  return new RemoteWorker(queues, queue, parsing(options.schema, handler), options)
}

class RemoteWorker implements loops.Running {
  readonly #queues: loops.WorkSource
  readonly #queue: string
  readonly #handler: loops.Handler
  readonly #options: loops.WorkOptions
  readonly #faults: Faults<Message>
  readonly #claims: Claims
  readonly #stopping = new AbortController()
  /** Aborted when the server is asked no more about what is not settled. */
  readonly #givingUp = new AbortController()
  readonly #running = new Map<Claim, Promise<void>>()
  readonly #settling = new Set<Promise<void>>()
  readonly #fetched: Promise<void>
  /** Claims whose handlers have resolved in this turn of the event loop. */
  #done: Claim[] = []
  #onRoom: () => void = () => {}
  #ended: Promise<void> | null = null

  constructor(queues: loops.WorkSource, queue: string, handler: loops.Handler, options: loops.WorkOptions) {
    this.#queues = queues
    this.#queue = queue
    this.#handler = handler
    this.#options = options
    const onFault = (error: unknown) => this.#faults.database(error)
    this.#faults = new Faults({ who: 'worker', what: `work on the queue ${queue}`, onError: options.onError })
    this.#claims = new Claims({ extend: (handles, how) => queues.extend(queue, handles, how), onFault })
    if (options.signal?.aborted) this.#stopping.abort()
    this.#fetched = this.#fetch()
    loops.stopBy(options.signal, () => void this.stop(), this.#fetched)
  }

  async stop(options: loops.StopOptions = {}): Promise<void> {
    const patienceMs = loops.checkedPatience(options)
    this.#stopping.abort()
    this.#onRoom()
    this.#ended ??= this.#end()
    if (patienceMs === null || (await loops.endsWithin(patienceMs, this.#ended))) return this.#ended
    for (const claim of this.#running.keys()) claim.abort('The worker is being stopped')
    if (await loops.endsWithin(LAST_MS, this.#ended)) return
    const error = new Error('The worker was stopped before the handler ended')
    for (const claim of this.#running.keys()) if (!claim.isOver) this.#release(claim, error, 0)
    await loops.endsWithin(LAST_SETTLE_MS, this.#settled())
    this.#givingUp.abort()
  }

  async #end(): Promise<void> {
    await this.#fetched
    await Promise.all(this.#running.values())
    const timer = setTimeout(() => this.#givingUp.abort(), LAST_PATIENCE_MS)
    await this.#settled()
    clearTimeout(timer)
  }

  // ---- claims that come in

  async #fetch(): Promise<void> {
    const { signal } = this.#stopping
    const pauses = new Pauses(LONGEST_PAUSE_MS)
    while (!signal.aborted) {
      const sentAt = performance.now()
      try {
        const claims = await this.#receive()
        this.#faults.answered()
        pauses.reset()
        await this.#take(claims)
        if (claims.length === 0 && performance.now() - sentAt < SOON_MS) await pause(SOON_MS, signal)
      } catch (error) {
        if (signal.aborted) return
        this.#faults.database(error)
        await pause(Math.max(pauses.next(), (error as RecentnError).retryAfterMs ?? 0), signal)
      }
      await this.#room()
    }
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
    await this.#settled()
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
    const { message, signal } = claim
    const failure = await this.#faults.attempt(() => this.#handler(message, { signal }), message)
    if (claim.isOver) return
    if (!failure) return this.#delete(claim)
    const { error } = failure
    const bounds = loops.pausesOf(this.#options.backoff)
    this.#release(claim, error, isUnrecoverable(error) ? null : retrySeconds(message.receiveCount, bounds))
  }

  // ---- claims that end

  /** What is done in one turn of the event loop is deleted by one call. */
  #delete(claim: Claim): void {
    this.#claims.remove(claim)
    this.#done.push(claim)
    if (this.#done.length > 1) return
    this.#settle(async () => {
      await pause(0, undefined)
      const remove = async (handles: string[]) => (await this.#queues.delete(this.#queue, handles)).deleted
      await this.#untilAnswered(this.#done.splice(0), remove, this.#options.onDone)
    })
  }

  /** `delaySeconds`: null for a message that is dead. */
  #release(claim: Claim, error: unknown, delaySeconds: number | null): void {
    this.#claims.remove(claim)
    const { onDead } = this.#options
    const { receiveCount, maxReceives } = claim.message
    const isDead = delaySeconds === null || (maxReceives !== null && receiveCount >= maxReceives)
    const hook = isDead && onDead ? (message: Message) => onDead(message, error) : undefined
    const how = { delaySeconds: delaySeconds ?? 0, error: errorText(error), dead: delaySeconds === null }
    const release = async (handles: string[]) => (await this.#queues.release(this.#queue, handles, how)).released
    this.#settle(() => this.#untilAnswered([claim], release, hook))
  }

  #settle(work: () => Promise<void>): void {
    const settling = work().finally(() => this.#settling.delete(settling))
    this.#settling.add(settling)
  }

  async #settled(): Promise<void> {
    while (this.#settling.size > 0) await Promise.all(this.#settling)
  }

  /**
   * Asks until there is an answer, also when the claims have ended meanwhile: a handle has no effect once somebody else has its
   * message. Calls the hook with what had an effect.
   */
  async #untilAnswered(
    claims: readonly Claim[],
    call: (handles: string[]) => Promise<readonly string[]>,
    hook: ((message: Message) => void) | undefined,
  ): Promise<void> {
    const pauses = new Pauses(LONGEST_PAUSE_MS)
    for (const { signal } = this.#givingUp; !signal.aborted; await pause(pauses.next(), signal)) {
      try {
        const settled = new Set(await call(claims.map(({ message }) => message.receiptHandle)))
        if (!hook) return
        for (const { message } of claims) {
          if (settled.has(message.receiptHandle)) this.#faults.hook(() => hook(message), message)
        }
        return
      } catch (error) {
        this.#faults.database(error)
        if (!mayPass(error as RecentnError)) return
      }
    }
  }
}
