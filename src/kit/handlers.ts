/**
 * Runs the handlers of a worker or a poller. Owns the claims that wait here for a handler, and the handlers that run.
 *
 * Invariants: at most `concurrency` handlers run. Every claim that came in is either run or given back. A suspect begins
 * when nothing else runs, where the others end in time, and nothing else begins until it has ended or has had its time.
 */
import { setTimeout } from '../shared/platform'
import type { Lease } from './lease'
import { within } from './time-limit'

/** How long others are waited for before a suspect begins, and then its end before others begin. */
const CAREFUL_MS = 3000
/** How long handlers have to end after their signals were aborted. */
const LAST_MS = 1000
const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface HandlersOptions<Subject> {
  concurrency: number
  /** Handles one claim and deals with whatever goes wrong. Never rejects. */
  run: (lease: Lease<Subject>) => Promise<void>
  /** These claims will not be run. */
  giveBack: (leases: Lease<Subject>[]) => void
  /** A handler is free, and no claim waits for it. */
  onRoom?: () => void
  /** A suspect is about to run alone: resolves when nothing else of its process is under way. */
  quiet?: (ended: Promise<unknown>) => Promise<unknown>
}

export class Handlers<Subject> {
  #waiting: Lease<Subject>[] = []
  readonly #running = new Map<Lease<Subject>, Promise<void>>()
  #isCareful = false
  /** A suspect that waits for the others to end. */
  #suspect: Lease<Subject> | null = null
  #isStopping = false
  #onChange: (() => void)[] = []
  #hurry: () => void = () => {}
  /** Resolves when the patience of a `stop` is over. */
  readonly hurried = new Promise<void>((resolve) => {
    this.#hurry = resolve
  })

  constructor(private readonly options: HandlersOptions<Subject>) {}

  get running(): number {
    return this.#running.size
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Nothing may be claimed: a suspect runs, or no more handlers begin. */
  get isClosed(): boolean {
    return this.#isCareful || this.#isStopping
  }

  /** Begins what may begin; the other claims wait. */
  add(leases: readonly Lease<Subject>[]): void {
    for (const lease of leases) this.#waiting.push(lease)
    this.next()
  }

  /** Claims that wait here no more, for whatever reason. */
  drop(leases: readonly Lease<Subject>[]): void {
    const dropped = new Set(leases)
    this.#waiting = this.#waiting.filter((lease) => !dropped.has(lease))
  }

  /** Gives back all claims that wait here, but a suspect whose turn it is. */
  giveBackWaiting(): void {
    if (this.#waiting.length > 0) this.options.giveBack(this.#waiting.splice(0))
  }

  next(): void {
    if (this.#isStopping) {
      if (this.#suspect) this.#waiting.push(this.#suspect)
      this.#suspect = null
      this.giveBackWaiting()
    }
    while (!this.isClosed && this.#running.size < this.options.concurrency && this.#waiting.length > 0) {
      const lease = this.#waiting.shift() as Lease<Subject>
      if (lease.isSuspect) void this.#runAlone(lease)
      else void this.#begin(lease)
    }
    if (this.#onChange.length > 0) for (const resolve of this.#onChange.splice(0)) resolve()
    if (!this.isClosed) this.options.onRoom?.()
  }

  /** Resolves when a handler has ended, or when the handlers are stopped. */
  changed(): Promise<void> {
    if (this.#isStopping) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onChange.push(resolve)
    })
  }

  /** Resolves when a handler is free and no claim waits for it, or when the handlers are stopped. */
  async room(): Promise<void> {
    const isRoom = () => !this.isClosed && this.#waiting.length === 0 && this.#running.size < this.options.concurrency
    while (!this.#isStopping && !isRoom()) await this.changed()
  }

  /** Resolves when the handlers that run now have ended. */
  ended(): Promise<unknown> {
    return Promise.all(this.#running.values())
  }

  /** The patience of a `stop`, counted from now; null: it does not end. */
  hurryAfter(patienceMs: number | null): void {
    if (patienceMs !== null) setTimeout(() => this.#hurry(), Math.min(patienceMs, LONGEST_TIMER_MS)).unref()
  }

  /**
   * Begins no more handlers and waits for those that run, and for `source`, as long as the patience lasts; then aborts
   * their signals and waits a moment. Resolves to the claims of handlers that run on: they are abandoned.
   */
  async stop(source: () => Promise<unknown>): Promise<Lease<Subject>[]> {
    this.#isStopping = true
    this.next()
    await Promise.race([source().then(() => this.ended()), this.hurried])
    if (this.#running.size > 0) {
      for (const lease of this.#running.keys()) lease.abort()
      await within(LAST_MS, this.ended())
    }
    const left = [...this.#running.keys()].filter((lease) => !lease.isLost)
    for (const lease of left) {
      lease.isAbandoned = true
      lease.isLost = true
    }
    return left
  }

  #begin(lease: Lease<Subject>): Promise<void> {
    const run = this.#run(lease)
    this.#running.set(lease, run)
    return run
  }

  async #run(lease: Lease<Subject>): Promise<void> {
    await this.options.run(lease)
    this.#running.delete(lease)
    this.next()
  }

  async #runAlone(lease: Lease<Subject>): Promise<void> {
    this.#isCareful = true
    this.#suspect = lease
    const { concurrency, quiet = (ended) => ended } = this.options
    await within(CAREFUL_MS, quiet(this.ended()))
    while (this.#running.size >= concurrency && !this.#isStopping) await this.changed()
    if (this.#suspect) {
      this.#suspect = null
      await within(CAREFUL_MS, this.#begin(lease))
    }
    this.#isCareful = false
    this.next()
  }
}
