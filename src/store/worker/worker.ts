/**
 * `store.queues.work`: claims messages ahead of the handlers, runs a handler on each, and settles them. After a fault it asks
 * again, later each time, for ever. It may receive only when `once` is called.
 *
 * Invariants: a handler begins only while the lease of its message surely holds. Every claim that came in ends in exactly
 * one way: acked, nacked, given back, or lost. A lease is counted from before the statement that claimed it.
 */

import { fatesOf, type Handle } from '../../kit/handler-calls'
import { Handlers } from '../../kit/handlers'
import { extendInTestTime } from '../../kit/test-time'
import { RecentnError } from '../../shared/errors'
import { Faults } from '../../shared/faults'
import type { WorkContext } from '../../shared/handler-types'
import { type ExtendSource, extendBy, type Lease, type LeaseFate, Leases, leaseOf } from '../../shared/leases'
import { CLOCK, clearInterval, outside, setInterval } from '../../shared/platform'
import type { Message } from '../../shared/queue-types'
import { Stepping, type StopOptions } from '../../shared/running'
import { InFlight, SettleBatches } from '../../shared/settle-batch'
import { isClosed, SURROUNDINGS } from '../running'
import { contextOf, mayPass } from './context'
import type { StoreWorkSource, WorkSettings } from './options'
import { Prefetch } from './prefetch'
import type { Worker, WorkResult } from './types'

const WAIT_SECONDS = 20
/** Maximum messages of one claim. */
const MAX_LIMIT = 1000
/** After an empty answer that took no longer than this, the next receive waits as long. */
const SOON_MS = 100

type Held = Lease<Message>

export class QueueWorker extends Stepping implements Worker {
  readonly #source: StoreWorkSource
  readonly #queue: string
  readonly #settings: WorkSettings
  readonly #handle: Handle<Message, WorkContext>
  readonly #faults: Faults<Message>
  readonly #handlers: Handlers<Held>
  readonly #leases: Leases<Held>
  readonly #settles: SettleBatches
  readonly #prefetch: Prefetch
  /** Receives that wait, and what they brought while it is taken in. */
  readonly #receives = new InFlight()
  readonly #receiving: Promise<unknown>
  /** Ends the waiting of the receives. */
  #interruption = new AbortController()
  #once: Promise<WorkResult> | null = null

  constructor(source: StoreWorkSource, queue: string, handle: Handle<Message, WorkContext>, settings: WorkSettings) {
    super(SURROUNDINGS)
    this.#source = source
    this.#queue = queue
    this.#settings = settings
    this.#handle = handle
    const faults = new Faults<Message>({ ...settings, who: 'worker', what: `work on the queue ${queue}` })
    this.#faults = faults
    this.#settles = new SettleBatches({ ...settings, source, queue, faults, clock: CLOCK, again: mayPass })
    this.#leases = new Leases({ clock: CLOCK, share: 0.5, extend: (leases, ms) => this.#extend(leases, ms), faults })
    extendInTestTime(this.#leases, this.stopped)
    const run = (leases: readonly Held[]) => this.#run(leases)
    this.#handlers = new Handlers({ ...settings, run, quiet: () => this.#quiet() })
    this.#prefetch = new Prefetch(settings)
    void this.stopped.then(() => this.#leases.close())
    this.#receiving = Promise.all([this.#receiveOn(false), this.#receiveOn(true)])
    this.stopBy(settings.signal)
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
  async settled(): Promise<void> {
    await this.#handlers.ended()
    await this.#settles.drained()
  }

  async #onceAlone(): Promise<WorkResult> {
    this.#prefetch.result = { done: 0, failed: 0 }
    while (!this.stopping.signal.aborted) {
      const came = await this.#take(Math.min(this.#handlers.room, MAX_LIMIT))
      await this.#handlers.idle()
      await this.settled()
      if (came === 0) break
    }
    return this.#prefetch.result
  }

  /** Asks for messages until it is stopped. */
  async #receiveOn(isSecond: boolean): Promise<void> {
    await this.repeat(this.#faults, (signal) => this.#step(signal, isSecond))
    void this.stop()
  }

  async #step(signal: AbortSignal, isSecond: boolean): Promise<number> {
    let limit = 0
    await this.#handlers.until(() => {
      const { closed, room, waiting } = this.#handlers
      limit = closed ? 0 : this.#prefetch.wanted(room, waiting.length, isSecond)
      return limit > 0 || signal.aborted
    })
    if (signal.aborted) return 0
    const sentAt = CLOCK.now()
    const came = await this.#take(limit, WAIT_SECONDS)
    return came === 0 && CLOCK.now() - sentAt < SOON_MS ? SOON_MS : 0
  }

  /** Claims messages, and begins their handlers. Resolves to how many came. */
  async #take(limit: number, waitSeconds?: number): Promise<number> {
    this.#receives.begin()
    try {
      const { visibilityTimeoutSeconds } = this.#settings
      const { signal } = this.#interruption
      const how = { limit, visibilityTimeoutSeconds, waitSeconds, signal }
      let sentAt = CLOCK.now()
      const onClaim = () => {
        sentAt = CLOCK.now()
      }
      const messages = await this.#prefetch.receiving(limit, () => this.#source.receive(this.#queue, how, onClaim))
      this.#faults.answered()
      const leases = messages.map((message) => leaseOf(message, sentAt, visibilityTimeoutSeconds))
      await this.#leases.add(leases)
      this.#admit(leases.filter(({ isLost }) => !isLost))
      return leases.length
    } catch (error) {
      if (isClosed(error)) void this.stop()
      throw error
    } finally {
      this.#receives.end()
    }
  }

  #admit(leases: readonly Held[]): void {
    const handlers = this.#handlers
    const [suspect] = leases.filter(({ isSuspect }) => isSuspect)
    if (leases.length > 0) this.#prefetch.came(leases, suspect !== undefined)
    // Those that wait for others, and not for a handler, are extended.
    const keptAt = this.#settings.waitMs > 0 && handlers.free > 0 ? CLOCK.now() : Number.POSITIVE_INFINITY
    for (const lease of leases) if (!lease.isSuspect) lease.keptAt = keptAt
    if (handlers.closed) this.#giveBack(leases)
    else if (suspect) {
      // Whatever the suspect could take with it is given back before it begins.
      this.#giveBack([...handlers.waiting.splice(0), ...leases.filter((lease) => lease !== suspect)])
      handlers.add([suspect])
    } else handlers.add(leases)
  }

  /** Messages that were claimed too far ahead are given back, so that other workers get them. */
  async #extend(leases: readonly Held[], ms: number): Promise<(lease: Held) => LeaseFate> {
    const handlers = this.#handlers
    const unkept = new Set(leases.filter((lease) => this.#isLate(lease)))
    if (unkept.size > 0) {
      this.#prefetch.slowed()
      handlers.withdraw((lease) => unkept.has(lease))
      this.#giveBack([...unkept])
      handlers.next()
    }
    const kept = leases.filter((lease) => !unkept.has(lease))
    if (kept.length === 0) return () => 'lost'
    const extendMany: ExtendSource['extendMany'] = (queue, handles, { visibilityTimeoutSeconds }) =>
      this.#source.extendMany(queue, handles, { visibilityTimeoutSeconds })
    return extendBy({ extendMany }, this.#queue)(kept, ms)
  }

  /** Its handler has not begun in time. */
  #isLate(lease: Held): boolean {
    return lease.keptAt === Number.POSITIVE_INFINITY && CLOCK.now() >= this.#leases.dueAt(lease)
  }

  #giveBack(leases: readonly Held[]): void {
    for (const lease of leases) this.#leases.remove(lease)
    const held = leases.filter(({ isLost }) => !isLost)
    this.#settles.settle(held, async (handles) => {
      await this.#source.giveBack(this.#queue, handles)
      return handles
    })
  }

  #run(claimed: readonly Held[]): Promise<void> {
    // A claim that is due was given back, or is about to be.
    const leases = claimed.filter((lease) => !lease.isLost && !this.#isLate(lease))
    if (leases.length === 0) return Promise.resolve()
    const beganAt = CLOCK.now()
    for (const lease of leases) lease.keptAt = beganAt
    const context = contextOf(leases, this.#source, this.#queue, this.#letGo)
    const messages = leases.map(({ subject }) => subject)
    return fatesOf(this.#faults, this.#handle, messages, context).then(({ failed }) => {
      for (const lease of leases) {
        const { subject } = lease
        this.#leases.remove(lease)
        if (lease.isLost) continue
        this.#prefetch.handled((CLOCK.now() - beganAt) / leases.length, failed.has(subject))
        if (failed.has(subject)) this.#settles.failed(lease, failed.get(subject))
        else this.#settles.done(lease)
      }
    })
  }

  /** The message was given back with the hold; those of the group, or of the queue, that wait here for a handler are, too. */
  readonly #letGo = (lease: Held, group: string | undefined): void => {
    this.#leases.remove(lease)
    const isHeld = ({ subject }: Held) => group === undefined || subject.messageGroup === group
    this.#giveBack(this.#handlers.withdraw(isHeld))
  }

  /** The receives that wait end too, and what they brought is given back. */
  async #quiet(): Promise<void> {
    this.#interruption.abort()
    await this.#receives.none()
    this.#interruption = new AbortController()
    await this.settled()
  }

  protected async end(): Promise<void> {
    const handlers = this.#handlers
    this.#interruption.abort()
    handlers.closed++
    this.#giveBack(handlers.waiting.splice(0))
    handlers.next()
    await this.#receiving
    await handlers.idle()
    this.#settles.hurry()
    await Promise.all([this.#settles.drained(), this.#receives.none()])
    await this.settled()
  }

  protected async hurry(): Promise<void> {
    for (const lease of await this.#handlers.abandon()) {
      this.#leases.remove(lease)
      this.#settles.abandoned(lease)
    }
    this.#settles.hurry()
    await this.within(this.#settles.drained())
    this.#settles.giveUp()
  }
}
