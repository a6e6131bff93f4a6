/**
 * `store.queues.work`: what a worker has beside its loop (`loop.ts`). It claims ahead of its handlers, gives
 * back claims whose handlers have not begun, and may receive only when `once` is called.
 */

import { isShared } from '../../kit/admission'
import { movedByTests } from '../../kit/test-time'
import { RecentnError } from '../../shared/errors'
import type { Handler } from '../../shared/handling-shapes'
import type { Lease, LeaseFate } from '../../shared/leases'
import { CLOCK, clearInterval, outside, setInterval } from '../../shared/platform'
import type { Message, Queues, ReceiveOptions } from '../../shared/queue-types'
import type { StopOptions } from '../../shared/running'
import { InFlight } from '../../shared/settle-batch'
import { isClosed, SURROUNDINGS } from '../running'
import { WorkerLoop, type WorkSource } from './loop'
import { checkedWork, type WorkSettings } from './options'
import { Prefetch } from './prefetch'
import type { Worker, WorkOptions, WorkResult } from './types'

type Held = Lease<Message>

export interface StoreWorkSource extends Pick<Queues, 'receive' | 'ackMany' | 'nackMany' | 'extendMany'> {
  /**
   * Ends claims as if they had not been made: ready again, with the receive count that they had before. Stale handles
   * are ignored.
   */
  giveBack(queue: string, receiptHandles: readonly string[]): Promise<unknown>
  /** Throws where `once` would wait for itself. */
  guard?: (() => void) | undefined
}

/** See `StoreQueues.work`. Throws `invalid_input`. A worker belongs to no caller: one that is started inside a transaction does not run inside it. */
export function startWorker(
  source: StoreWorkSource,
  queue: string,
  handler: Handler,
  options: WorkOptions = {},
): QueueWorker {
  const settings = checkedWork(queue, handler, options)
  return outside(() => new QueueWorker(source, queue, handler, settings))
}

const isGone = (error: unknown) => error instanceof RecentnError && error.code === 'queue_not_found'

export class QueueWorker extends WorkerLoop implements Worker {
  readonly #source: StoreWorkSource
  readonly #settings: WorkSettings
  readonly #prefetch: Prefetch
  #inFlight = 0
  /** Messages that receives in flight may bring. */
  #asked = 0
  #wasFull = false
  /** Receives that wait, and what they brought while it is taken in. */
  readonly #receives = new InFlight()
  readonly #second: Promise<void>
  /** Ends the waiting of the receives. */
  #interruption = new AbortController()
  #once: Promise<WorkResult> | null = null

  constructor(source: StoreWorkSource, queue: string, handler: Handler, settings: WorkSettings) {
    const asked: WorkSource = {
      ...source,
      receive: (_, how) => this.#receive(how),
      extendMany: (_, handles, { visibilityTimeoutSeconds }) =>
        source.extendMany(queue, handles, { visibilityTimeoutSeconds }),
    }
    super(asked, queue, handler, settings, {
      ...SURROUNDINGS,
      backoff: settings.backoff,
      // While the claim holds; while the database is away, also beyond that.
      again: (error, { endsAt }, isStopping) =>
        !isClosed(error) && !isGone(error) && ((isShared(error) && !isStopping) || CLOCK.now() < endsAt),
      lastMs: 1000,
    })
    this.#source = source
    this.#settings = settings
    this.#prefetch = new Prefetch(settings)
    // It gains nothing beside one that waits, but does beside one that comes back full.
    this.#second = this.receiving(true)
    movedByTests(this.leases, this.stopped)
    if (!settings.auto) return
    // A worker that waits for messages keeps its process alive.
    const keepAlive = setInterval(() => {}, 2 ** 31 - 1)
    void this.stopped.then(() => clearInterval(keepAlive))
  }

  async once(): Promise<WorkResult> {
    this.#source.guard?.()
    if (this.stopping.signal.aborted) throw new RecentnError('closed', 'The worker was stopped')
    if (this.#settings.auto) {
      throw new RecentnError('invalid_input', 'The worker receives by itself: `once` is for auto: false')
    }
    this.#once ??= outside(() => this.#onceAlone()).finally(() => {
      this.#once = null
    })
    return this.#once
  }

  override stop(options?: StopOptions): Promise<void> {
    return outside(() => super.stop(options))
  }

  /** Resolves when no handler runs and all that have ended are settled, if no message comes in before. */
  settled(): Promise<void> {
    return super.quiet()
  }

  async #onceAlone(): Promise<WorkResult> {
    const { handlers } = this
    const prefetch = this.#prefetch
    prefetch.result = { done: 0, failed: 0 }
    while (!this.stopping.signal.aborted) {
      const came = await this.take(this.#settings.concurrency)
      await handlers.idle()
      await this.settled()
      if (came === 0) break
    }
    return prefetch.result
  }

  protected override async take(limit: number, wait?: ReceiveOptions): Promise<number> {
    this.#receives.begin()
    try {
      return await super.take(limit, wait)
    } finally {
      this.#receives.end()
    }
  }

  async #receive(how: ReceiveOptions & { limit: number }): Promise<Message[]> {
    this.#asked += how.limit
    this.#inFlight++
    let came = 0
    try {
      const messages = await this.#source.receive(this.queue, { ...how, signal: this.#interruption.signal })
      came = messages.length
      return messages
    } catch (error) {
      if (isClosed(error)) void this.stop()
      throw error
    } finally {
      this.#asked -= how.limit
      this.#inFlight--
      this.#wasFull = came === how.limit
    }
  }

  protected override wanted(isSecond: boolean): number {
    const { closed, running, waiting } = this.handlers
    if (closed || !this.#settings.auto || (isSecond && !(this.#wasFull && this.#inFlight > 0))) return 0
    return this.#prefetch.wanted(running.size, waiting.length + this.#asked)
  }

  protected override admit(leases: readonly Held[]): void {
    const { handlers } = this
    const [suspect] = leases.filter(({ isSuspect }) => isSuspect)
    if (leases.length > 0) this.#prefetch.came(leases, suspect !== undefined)
    for (const lease of leases) if (!lease.isSuspect) lease.keptAt = Number.POSITIVE_INFINITY
    if (handlers.closed) this.#giveBack(leases)
    else if (suspect) {
      // Whatever the suspect could take with it is given back before it begins.
      this.#giveBack([...handlers.waiting.splice(0), ...leases.filter((lease) => lease !== suspect)])
      handlers.add([suspect])
    } else handlers.add(leases)
  }

  /** Messages that were claimed too far ahead are given back, so that other workers get it. */
  protected override async extend(leases: readonly Held[], ms: number): Promise<(lease: Held) => LeaseFate> {
    const { handlers } = this
    const unkept = new Set(leases.filter((lease) => this.#isLate(lease)))
    if (unkept.size > 0) {
      this.#prefetch.slowed()
      handlers.waiting = handlers.waiting.filter((lease) => !unkept.has(lease))
      this.#giveBack([...unkept])
      handlers.next()
    }
    const kept = leases.filter((lease) => !unkept.has(lease))
    return kept.length > 0 ? super.extend(kept, ms) : () => 'lost'
  }

  /** Its handler has not begun in time. */
  #isLate(lease: Held): boolean {
    return lease.keptAt === Number.POSITIVE_INFINITY && CLOCK.now() >= this.leases.dueAt(lease)
  }

  /** As if the messages had not been claimed. */
  #giveBack(leases: readonly Held[]): void {
    for (const lease of leases) this.leases.remove(lease)
    const held = leases.filter(({ isLost }) => !isLost)
    this.settles.settle(held, async (handles) => {
      await this.#source.giveBack(this.queue, handles)
      return handles
    })
  }

  protected override run(lease: Held): Promise<void> {
    // A claim that is due was given back, or is about to be.
    if (this.#isLate(lease)) return Promise.resolve()
    lease.keptAt = CLOCK.now()
    return super.run(lease)
  }

  protected override handled(lease: Held, failure: { error: unknown } | null): void {
    this.#prefetch.handled(CLOCK.now() - lease.keptAt, failure !== null)
    super.handled(lease, failure)
  }

  /** The receives that wait end too, and what they brought is given back. */
  protected override async quiet(): Promise<void> {
    this.#interruption.abort()
    await this.#receives.none()
    this.#interruption = new AbortController()
    await super.quiet()
  }

  protected override async end(): Promise<void> {
    this.#interruption.abort()
    this.handlers.closed++
    this.#giveBack(this.handlers.waiting.splice(0))
    await Promise.all([super.end(), this.#second, this.#receives.none()])
    await this.settled()
  }
}
