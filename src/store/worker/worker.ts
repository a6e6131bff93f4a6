/**
 * `store.queues.work`: claims messages ahead, runs a handler on each, and settles them. Owns the worker; the database's
 * locks are the repository's.
 *
 * Invariants: a handler begins only while the lease of its message surely holds. Every claim that came in ends in exactly
 * one way: acked, nacked, given back, or lost.
 */

import { checkedStop } from '../../fields/options'
import { isShared } from '../../kit/admission'
import { Handlers } from '../../kit/handlers'
import { Leases, type Unextended } from '../../kit/leases'
import { sleep } from '../../kit/time-limit'
import { RecentnError } from '../../shared/errors'
import { mayHaveKilled } from '../../shared/failures'
import { Faults } from '../../shared/faults'
import { clearInterval, outside, performance, setImmediate, setInterval } from '../../shared/platform'
import type { Message } from '../../shared/queue-types'
import { type StopOptions, Stoppable, surrounded } from '../../shared/running'
import { parsing } from '../../shared/schema'
import { type Claimed, Settles } from '../../shared/settle-batch'
import { Fetcher, type HeldMessage, type WorkSource } from './fetch'
import { checkedWork, type WorkSettings } from './options'
import { Prefetch } from './prefetch'
import type { Handler, WorkContext, Worker, WorkOptions, WorkResult } from './types'

/** At half of its lease a claim is extended, or given back when its handler has not begun. */
const LEASE_SHARE = 0.5
/** How long the database has after the patience of a `stop` to take what is settled. */
const LAST_MS = 1000
const CLOCK = { now: performance.now, sleep, endOfTurn: setImmediate }

/** See `StoreQueues.work`. Throws `invalid_input`. A worker belongs to no caller: one that is started inside a transaction does not run inside it. */
export function startWorker(
  source: WorkSource,
  queue: string,
  handler: Handler,
  options: WorkOptions = {},
): QueueWorker {
  const settings = checkedWork(queue, handler, options)
  const handle = surrounded(settings.around, parsing(settings.schema, handler))
  return outside(() => new QueueWorker(source, queue, handle, settings))
}

/** The signal is made when the handler asks for it. */
const contextOf = (lease: HeldMessage): WorkContext => ({
  get signal() {
    return lease.signal
  },
})

/** While the claim holds; while the database is away, also beyond that. */
function again(error: unknown, { endsAt }: Claimed<Message>, isStopping: boolean): boolean {
  if (error instanceof RecentnError && (error.code === 'closed' || error.code === 'queue_not_found')) return false
  return (isShared(error) && !isStopping) || performance.now() < endsAt
}

export class QueueWorker extends Stoppable implements Worker {
  readonly #source: WorkSource
  readonly #queue: string
  readonly #handler: Handler
  readonly #settings: WorkSettings
  readonly #faults: Faults<Message>
  readonly #fetcher: Fetcher
  readonly #leases: Leases<Message>
  readonly #handlers: Handlers<Message>
  readonly #settles: Settles<Message>
  readonly #prefetch: Prefetch
  /** A worker that waits for messages keeps its process alive. */
  readonly #keepAlive: NodeJS.Timeout | null
  #result: WorkResult = { done: 0, failed: 0 }
  #once: Promise<WorkResult> | null = null
  #stopping: Promise<void> | null = null

  constructor(source: WorkSource, queue: string, handler: Handler, settings: WorkSettings) {
    super()
    this.#source = source
    this.#queue = queue
    this.#handler = handler
    this.#settings = settings
    this.#faults = new Faults({ who: 'worker', what: `work on the queue ${queue}`, onError: settings.onError })
    this.#prefetch = new Prefetch(settings)
    const onFault = (error: unknown) => this.#faults.database(error)
    this.#settles = new Settles({ ...settings, source, queue, faults: this.#faults, again, clock: CLOCK })
    this.#leases = new Leases({
      share: LEASE_SHARE,
      keyOf: ({ id }) => id,
      extend: (leases, ms) => this.#extend(leases, ms),
      onUnkept: (leases) => this.#onUnkept(leases),
      onFault,
    })
    this.#handlers = new Handlers({
      concurrency: settings.concurrency,
      run: (lease) => this.#run(lease),
      giveBack: (leases) => this.#giveBack(leases),
      onRoom: () => this.#fetch(),
      quiet: (ended) => this.#quiet(ended),
    })
    this.#fetcher = new Fetcher({
      source,
      queue,
      visibilityTimeoutSeconds: settings.visibilityTimeoutSeconds,
      onLeases: (leases) => this.#admit(leases),
      onFault,
      onAnswered: () => this.#faults.answered(),
      onClosed: () => void this.stop(),
    })
    this.#keepAlive = settings.auto ? setInterval(() => {}, 2 ** 31 - 1) : null
    this.#fetch()
    this.stopBy(settings.signal)
  }

  async once(): Promise<WorkResult> {
    this.#source.guard?.()
    if (this.#stopping) throw new RecentnError('closed', 'The worker was stopped')
    if (this.#settings.auto) {
      throw new RecentnError('invalid_input', 'The worker receives by itself: `once` is for auto: false')
    }
    this.#once ??= outside(() => this.#onceAlone()).finally(() => {
      this.#once = null
    })
    return this.#once
  }

  /** Resolves when no handler runs and all that have ended are settled, if no message comes in meanwhile. */
  async settled(): Promise<void> {
    await this.#handlers.ended()
    await this.#settles.drained()
  }

  async stop(options: StopOptions = {}): Promise<void> {
    this.#handlers.hurryAfter(checkedStop(options))
    this.#stopping ??= outside(() => this.#stop())
    return this.#stopping
  }

  // ---- claims that come in

  async #onceAlone(): Promise<WorkResult> {
    this.#result = { done: 0, failed: 0 }
    while (!this.#stopping) {
      const leases = await this.#fetcher.claim(this.#settings.concurrency)
      await this.#admit(leases)
      await this.#handlers.room()
      await this.settled()
      if (leases.length === 0) break
    }
    return this.#result
  }

  /** Asks for as many messages as the handlers begin soon. */
  #fetch(): void {
    if (!this.#settings.auto) return
    for (;;) {
      const ahead = this.#handlers.waiting + this.#fetcher.asked
      const wanted = this.#prefetch.wanted(this.#handlers.running, ahead)
      if (wanted === 0 || !this.#fetcher.fetch(wanted)) return
    }
  }

  async #admit(leases: readonly HeldMessage[]): Promise<void> {
    if (leases.length > 0) {
      await this.#confirm(leases)
      if (leases.some(({ subject }) => mayHaveKilled(subject))) this.#prefetch.shrink()
      else this.#prefetch.grow()
    }
    const held = leases.filter(({ isLost }) => !isLost)
    this.#leases.add(held)
    const suspects = held.filter(({ isSuspect }) => isSuspect)
    if (this.#handlers.isClosed) this.#giveBack(held)
    else if (suspects.length === 0) this.#handlers.add(held)
    else {
      // Whatever the suspect could take with it is given back before it begins.
      const [suspect, ...others] = suspects as [HeldMessage, ...HeldMessage[]]
      suspect.isKept = true
      this.#prefetch.single()
      this.#handlers.giveBackWaiting()
      this.#giveBack([...others, ...held.filter(({ isSuspect }) => !isSuspect)])
      this.#handlers.add([suspect])
    }
  }

  /** A lease that is half over, for the receive took long, or that holds for no time, is extended before its handler begins. */
  async #confirm(leases: readonly HeldMessage[]): Promise<void> {
    const now = performance.now()
    const late = leases.filter((lease) => this.#leases.dueAt(lease) <= now)
    if (late.length > 0) await this.#leases.extend(late)
  }

  async #extend(leases: readonly HeldMessage[], ms: number): Promise<Unextended<Message>> {
    const handles = leases.map(({ subject }) => subject.receiptHandle)
    const { failed } = await this.#source.extendMany(this.#queue, handles, { visibilityTimeoutSeconds: ms / 1000 })
    const stale = new Set(failed.map(({ receiptHandle }) => receiptHandle))
    return { lost: new Set(leases.filter(({ subject }) => stale.has(subject.receiptHandle))) }
  }

  /** They were claimed too far ahead: other workers get them. */
  #onUnkept(leases: readonly HeldMessage[]): void {
    this.#handlers.drop(leases)
    this.#prefetch.slowed()
    this.#giveBack(leases)
    this.#handlers.next()
  }

  /** No handler has begun: as if the messages had not been claimed. */
  #giveBack(leases: readonly HeldMessage[]): void {
    for (const lease of leases) this.#leases.remove(lease)
    const held = leases.filter(({ isLost }) => !isLost)
    this.#settles.settle(held, async (handles) => {
      await this.#source.giveBack(this.#queue, handles)
      return handles
    })
  }

  // ---- handlers

  async #run(lease: HeldMessage): Promise<void> {
    const beganAt = performance.now()
    // A claim that is due was given back, or is about to be.
    if (lease.isLost || (!lease.isKept && beganAt >= this.#leases.dueAt(lease))) return
    lease.isKept = true
    const message = lease.subject
    const failure = await this.#faults.attempt(() => this.#handler(message, contextOf(lease)), message)
    this.#leases.remove(lease)
    this.#prefetch.handled(performance.now() - beganAt)
    if (lease.isLost) return
    this.#result[failure ? 'failed' : 'done']++
    if (failure) this.#settles.failed(lease, failure.error)
    else this.#settles.done(lease)
  }

  /** Nothing is asked for, runs, or waits to be settled. */
  async #quiet(ended: Promise<unknown>): Promise<void> {
    await this.#fetcher.interrupt()
    await ended
    await this.#settles.drained()
  }

  // ---- the end

  async #stop(): Promise<void> {
    const left = await this.#handlers.stop(() => Promise.all([this.#fetcher.stop(), this.#once?.catch(() => {})]))
    for (const lease of left) {
      this.#leases.remove(lease)
      this.#settles.abandoned(lease)
    }
    this.#settles.hurry()
    await Promise.race([this.#settles.drained(), this.#handlers.hurried.then(() => sleep(LAST_MS))])
    this.#settles.giveUp()
    if (this.#keepAlive) clearInterval(this.#keepAlive)
    await this.#leases.close()
    this.ended()
  }
}
