/**
 * Runs the handlers of a worker or a poller. Owns the claims that wait here for a handler, and the handlers that run.
 *
 * Invariants: at most `concurrency` handlers run, each on up to `size` claims. A claim that came in is run, unless its owner takes
 * it back. A suspect begins when nothing else runs, where the others end in time, and nothing else begins until it has ended or has
 * had its time.
 */
import { endsWithin } from '../shared/backoff'
import type { Lease } from '../shared/leases'
import { CLOCK } from '../shared/platform'
import { CAREFUL_MS, LAST_MS } from '../shared/running'

interface HandlersOptions<Held> {
  concurrency: number
  size?: number
  /** How long a claim waits for others, until there are `size`; default 0. */
  waitMs?: number
  /** Handles claims, one where there is no `size`, and deals with whatever goes wrong. Never rejects. */
  run: (leases: readonly Held[]) => Promise<void>
  /** A suspect is about to run alone: resolves when nothing else of its process is under way. */
  quiet: () => Promise<unknown>
}

export class Handlers<Held extends Lease<unknown>> {
  /** The claims that wait, suspects last. */
  waiting: Held[] = []
  readonly running = new Set<Held>()
  busy = 0
  /** No handler begins where this is more than 0: a suspect runs, or they are being stopped. */
  closed = 0
  /** When each came that waits for others. */
  readonly #cameAt = new WeakMap<Held, number>()
  #cancel: (() => void) | undefined
  readonly #waits = new Set<{ holds: () => boolean; resolve: () => void }>()

  constructor(private readonly options: HandlersOptions<Held>) {}

  /** How many claims the handlers could have that do not run. */
  get room(): number {
    const { concurrency, size = 1 } = this.options
    return (concurrency - this.busy) * size
  }

  /** How many more claims could begin. */
  get free(): number {
    return this.closed ? 0 : this.room - this.waiting.length
  }

  /** Begins what may begin; the other claims wait. */
  add(leases: readonly Held[]): void {
    for (const lease of leases) {
      this.waiting.push(lease)
      if (this.options.waitMs) this.#cameAt.set(lease, CLOCK.now())
    }
    this.waiting.sort((one, other) => +one.isSuspect - +other.isSuspect)
    this.next()
  }

  /** Those that wait and fulfil it wait no more. */
  withdraw(isMeant: (lease: Held) => boolean): Held[] {
    const meant = this.waiting.filter(isMeant)
    this.waiting = this.waiting.filter((lease) => !isMeant(lease))
    return meant
  }

  next(): void {
    this.#cancel?.()
    while (!this.closed && this.busy < this.options.concurrency) {
      const lease = this.waiting[0]
      if (!lease) break
      if (lease.isSuspect) void this.#runAlone(lease)
      else {
        const batch = this.#nextBatch(lease)
        if (batch === 0) break
        void this.#begin(batch)
      }
    }
    for (const wait of this.#waits) if (wait.holds() && this.#waits.delete(wait)) wait.resolve()
  }

  /** Resolves when it holds, by what waits and what runs here. */
  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#waits.add({ holds, resolve })
      this.next()
    })
  }

  /** Resolves when no handler runs. */
  ended(): Promise<void> {
    return this.until(() => this.running.size === 0)
  }

  /** Resolves when no handler runs, and no claim waits for one. */
  idle(): Promise<void> {
    return this.until(() => this.waiting.length + this.running.size === 0)
  }

  /**
   * Begins no more handlers, aborts the signals of those that run, and waits a moment. Resolves to the claims of those that run
   * on, and to those that wait.
   */
  async abandon(): Promise<Held[]> {
    this.closed++
    for (const lease of this.running) lease.abort('The handler is being stopped')
    await endsWithin(CLOCK, LAST_MS, this.ended())
    const left = [...this.running, ...this.waiting.splice(0)].filter(({ isLost }) => !isLost)
    for (const lease of left) lease.isLost = true
    return left
  }

  /** How many claims begin together now; 0 while those that wait shall be more, which is looked at again in time. */
  #nextBatch(first: Held): number {
    const { size = 1, waitMs = 0 } = this.options
    if (size === 1) return 1
    const suspect = this.waiting.findIndex(({ isSuspect }) => isSuspect)
    const count = Math.min(suspect < 0 ? this.waiting.length : suspect, size)
    const leftMs = (this.#cameAt.get(first) ?? 0) + waitMs - CLOCK.now()
    if (count === size || waitMs === 0 || leftMs <= 0) return count
    this.#cancel = CLOCK.after(leftMs, () => this.next())
    return 0
  }

  #begin(count: number): Promise<void> {
    const leases = this.waiting.splice(0, count)
    for (const lease of leases) this.running.add(lease)
    this.busy++
    return this.options.run(leases).then(() => {
      this.busy--
      for (const lease of leases) this.running.delete(lease)
      this.next()
    })
  }

  async #runAlone(lease: Held): Promise<void> {
    const { concurrency, quiet } = this.options
    const isNext = () => this.waiting[0] === lease
    this.closed++
    await endsWithin(CLOCK, CAREFUL_MS, quiet())
    // A stop may have given it back.
    await this.until(() => this.busy < concurrency || !isNext())
    if (isNext()) await endsWithin(CLOCK, CAREFUL_MS, this.#begin(1))
    this.closed--
    this.next()
  }
}
