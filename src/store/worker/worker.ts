/**
 * `store.queues.work`: claims messages ahead, runs a handler on each, and settles them in batches. Owns the messages that
 * wait here and the handlers that run; the database's locks are the repository's.
 *
 * Invariants: a handler begins only while the lease of its message surely holds, and at most `concurrency` run. Every
 * claim that came in ends in exactly one way: deleted, released, handed back, or lost. A message that may have killed a
 * process, and has no other receive left, runs by itself, so that no other message dies of it, and it of no other.
 */
import { AsyncResource } from 'node:async_hooks'
import { checkedStop } from '../../fields/options'
import { retrySeconds } from '../../kit/backoff'
import { errorText, Faults } from '../../kit/faults'
import { sleep, within } from '../../kit/patience'
import type { Message } from '../../repositories/queues/types'
import { isUnrecoverable } from '../unrecoverable'
import { type Claim, ClaimKeeper, HandlerContext } from './claims'
import { Fetcher } from './fetch'
import { checkedWork, type WorkSettings } from './options'
import { Prefetch } from './prefetch'
import { Settles } from './settles'
import { isSuspect, type WorkSource } from './source'
import type { Handler, StopOptions, Worker, WorkOptions } from './types'

/** How long others are waited for before a suspect begins, and then its end before others begin. */
const CAREFUL_MS = 3000
/** How long handlers have after they were told to abort, and then the database to take what is settled. */
const LAST_MS = 1000
const STOPPED = 'The worker was stopped before the handler ended'

/** Workers belong to no caller: one that is started inside a transaction must not run inside it. */
const OUTSIDE = new AsyncResource('recentn.Worker')

/** See `StoreQueues.work`. Throws `invalid_input`. */
export function startWorker(source: WorkSource, queue: string, handler: Handler, options: WorkOptions = {}): Worker {
  const settings = checkedWork(queue, handler, options)
  return OUTSIDE.runInAsyncScope(() => new QueueWorker(source, queue, handler, settings))
}

class QueueWorker implements Worker {
  readonly #handler: Handler
  readonly #settings: WorkSettings
  readonly #faults: Faults<Message>
  readonly #fetcher: Fetcher
  readonly #keeper: ClaimKeeper
  readonly #settles: Settles
  readonly #prefetch: Prefetch
  #waiting: Claim[] = []
  /** To begin by itself, and nothing else until then. */
  #suspect: Claim | null = null
  #isCareful = false
  readonly #running = new Map<Claim, Promise<void>>()
  #stopping: Promise<void> | null = null
  #hurry: () => void = () => {}
  /** Resolves when the patience of a `stop` is over. */
  readonly #hurried = new Promise<void>((resolve) => {
    this.#hurry = resolve
  })

  constructor(source: WorkSource, queue: string, handler: Handler, settings: WorkSettings) {
    this.#handler = handler
    this.#settings = settings
    this.#faults = new Faults({ who: 'worker', what: `work on the queue ${queue}`, onError: settings.onError })
    this.#prefetch = new Prefetch(settings)
    const onFault = (error: unknown) => this.#faults.database(error)
    this.#settles = new Settles(source, queue, onFault)
    this.#keeper = new ClaimKeeper({
      extend: (handles, seconds) => source.extend(queue, handles, { visibilityTimeoutSeconds: seconds }),
      onUnkept: (claims) => this.#onUnkept(claims),
      onFault,
    })
    this.#fetcher = new Fetcher({
      source,
      queue,
      visibilityTimeoutSeconds: settings.visibilityTimeoutSeconds,
      onClaims: (claims) => this.#admit(claims),
      onFault,
      onAnswered: () => this.#faults.answered(),
      onClosed: () => void this.stop(),
    })
    this.#next()
  }

  async stop(options: StopOptions = {}): Promise<void> {
    const patienceMs = checkedStop(options)
    if (patienceMs !== null) setTimeout(() => this.#hurry(), Math.min(patienceMs, 2 ** 31 - 1)).unref()
    this.#stopping ??= OUTSIDE.runInAsyncScope(() => this.#stop())
    return this.#stopping
  }

  // ---- claims that come in

  async #admit(claims: readonly Claim[]): Promise<void> {
    if (claims.length > 0) {
      await this.#confirm(claims)
      if (claims.some(({ message }) => isSuspect(message))) this.#prefetch.shrink()
      else this.#prefetch.grow()
      const held = claims.filter(({ isLost }) => !isLost)
      const suspects = held.filter(({ isLastReceive }) => isLastReceive)
      if (!this.#isCareful && suspects.length > 0) {
        this.#suspect = suspects.shift() as Claim
        this.#suspect.isKept = true
        this.#prefetch.single()
      }
      for (const one of held) if (!one.isLastReceive) this.#waiting.push(one)
      this.#keeper.add(held)
      this.#handBack(suspects)
    }
    this.#next()
  }

  /** A claim that may be old, for the receive waited long, or holds nothing, is extended before anything begins. */
  async #confirm(claims: readonly Claim[]): Promise<void> {
    const now = performance.now()
    const late = claims.filter(({ dueAt }) => dueAt <= now)
    if (late.length > 0) await this.#keeper.extend(late)
  }

  /** They were claimed too far ahead: others shall have them. */
  #onUnkept(claims: readonly Claim[]): void {
    const unkept = new Set(claims)
    this.#waiting = this.#waiting.filter((claim) => !unkept.has(claim))
    this.#prefetch.slowed()
    this.#settles.handBack(claims)
    this.#next()
  }

  #handBack(claims: readonly Claim[]): void {
    for (const claim of claims) this.#keeper.remove(claim)
    this.#settles.handBack(claims.filter(({ isLost }) => !isLost))
  }

  // ---- handlers

  /** Begins what may begin, and asks for more. */
  #next(): void {
    if (this.#stopping || this.#suspect || this.#isCareful) {
      this.#handBack(this.#waiting.splice(0))
      if (this.#suspect) this.#nextSuspect(this.#suspect)
      return
    }
    const now = performance.now()
    while (this.#running.size < this.#settings.concurrency && this.#waiting.length > 0) {
      const claim = this.#waiting.shift() as Claim
      // What is due already the keeper hands back.
      if (!claim.isLost && now < claim.dueAt) this.#begin(claim)
    }
    for (;;) {
      const wanted = this.#prefetch.wanted(this.#running.size, this.#waiting.length + this.#fetcher.asked)
      if (wanted === 0 || !this.#fetcher.fetch(wanted)) return
    }
  }

  #nextSuspect(claim: Claim): void {
    if (this.#stopping) {
      this.#suspect = null
      this.#handBack([claim])
    } else if (!this.#isCareful) void this.#runAlone()
  }

  /** Alone where the others' handlers end in time. What it could take with it was handed back before it begins. */
  async #runAlone(): Promise<void> {
    this.#isCareful = true
    await within(CAREFUL_MS, this.#quiet())
    while (this.#running.size >= this.#settings.concurrency) await Promise.race(this.#running.values())
    const claim = this.#suspect
    this.#suspect = null
    if (claim && !claim.isLost) await within(CAREFUL_MS, this.#begin(claim))
    this.#isCareful = false
    this.#next()
  }

  /** Nothing is asked for, runs, or waits to be settled. */
  async #quiet(): Promise<void> {
    await this.#fetcher.interrupt()
    await Promise.all(this.#running.values())
    await this.#settles.drained()
  }

  #begin(claim: Claim): Promise<void> {
    claim.isKept = true
    const run = this.#run(claim)
    this.#running.set(claim, run)
    return run
  }

  async #run(claim: Claim): Promise<void> {
    const beganAt = performance.now()
    const failure = await this.#handle(claim)
    this.#running.delete(claim)
    this.#keeper.remove(claim)
    this.#prefetch.handled(performance.now() - beganAt)
    if (failure) this.#faults.handler(failure.error, claim.message)
    else this.#faults.handled()
    if (!claim.isLost) {
      if (failure) this.#release(claim, failure.error)
      else this.#settles.done(claim)
    }
    this.#next()
  }

  async #handle(claim: Claim): Promise<{ error: unknown } | null> {
    try {
      await this.#handler(claim.message, new HandlerContext(claim))
      return null
    } catch (error) {
      return { error }
    }
  }

  #release(claim: Claim, error: unknown): void {
    const dead = isUnrecoverable(error)
    const delaySeconds = dead ? 0 : retrySeconds(claim.message.receiveCount, this.#settings.backoff)
    this.#settles.failed(claim, { delaySeconds, error: errorText(error), dead })
  }

  // ---- the end

  async #stop(): Promise<void> {
    // After this turn, in which `stop` notes that it is under way.
    await null
    this.#next()
    const ended = Promise.all([this.#fetcher.stop(), ...this.#running.values()])
    await Promise.race([ended, this.#hurried])
    if (this.#running.size > 0) await this.#abandon()
    this.#settles.hurry()
    await Promise.race([this.#settles.drained(), this.#hurried.then(() => sleep(LAST_MS))])
    this.#settles.giveUp()
    this.#keeper.close()
  }

  /** What does not end when it is told to is released, and does not count any more. */
  async #abandon(): Promise<void> {
    for (const claim of this.#running.keys()) claim.abort()
    await within(LAST_MS, Promise.all(this.#running.values()))
    for (const claim of this.#running.keys()) {
      this.#keeper.remove(claim)
      if (claim.isLost) continue
      claim.isLost = true
      this.#settles.failed(claim, { delaySeconds: 0, error: STOPPED, dead: false })
    }
  }
}
