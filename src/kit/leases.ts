/**
 * The claims that a worker or a poller holds while they wait here and while their handlers run, and their extension.
 * Owns how long each claim surely holds.
 *
 * Invariant: a lease never ends later here than its claim does in the database, because it is counted by this process's
 * monotonic clock from before the statement was sent that claimed or extended it; the two clocks are never compared. A
 * lease is lost when the database says so, or when it has ended and the database could not be asked. Its handler's signal
 * is aborted then.
 */

import { Pauses } from '../shared/backoff'
import { performance } from '../shared/platform'
import type { Lease } from './lease'
import { Loop } from './loop'
import { forget, movesOn, type WaitsByClock } from './test-time'

const MAX_AT_ONCE = 1000
const RETRY_PAUSES = { firstMs: 100, longestMs: 1000 }
const MIN_PAUSE_MS = 10

/** What became of leases that were to be extended: the others were. */
export interface Unextended<Subject> {
  lost: ReadonlySet<Lease<Subject>>
  locked?: ReadonlySet<Lease<Subject>>
}

export interface LeasesOptions<Subject> {
  /** The share of a lease after which it is extended, or given back. */
  share: number
  /** What one claim is of: where there are two for it, the older one is lost. */
  keyOf: (subject: Subject) => unknown
  /** Up to 1,000 leases, of the same length. */
  extend: (leases: readonly Lease<Subject>[], ms: number) => Promise<Unextended<Subject>>
  /** Leases that are not kept were removed, for it is time to give them back. */
  onUnkept?: (leases: readonly Lease<Subject>[]) => void
  onFault: (error: unknown) => void
}

export class Leases<Subject> implements WaitsByClock {
  readonly #held = new Map<unknown, Lease<Subject>>()
  readonly #pauses = new Pauses(RETRY_PAUSES.longestMs, RETRY_PAUSES.firstMs)
  readonly #loop = new Loop({ round: async () => this.#round(), faultPauses: RETRY_PAUSES, keepsAlive: true })

  constructor(private readonly options: LeasesOptions<Subject>) {
    movesOn(this)
  }

  add(leases: readonly Lease<Subject>[]): void {
    let earliest = Number.POSITIVE_INFINITY
    for (const lease of leases) {
      const key = this.options.keyOf(lease.subject)
      this.#held.get(key)?.lose()
      this.#held.set(key, lease)
      earliest = Math.min(earliest, this.dueAt(lease))
    }
    if (leases.length > 0) this.#loop.wake(Math.max(earliest - performance.now(), 0))
  }

  /** It is settled, or given back. */
  remove(lease: Lease<Subject>): void {
    lease.isOver = true
    this.#forget(lease)
  }

  close(): Promise<void> {
    forget(this)
    this.#held.clear()
    return this.#loop.stop()
  }

  /** A lease has `1 - share` of its time left, or more: a step spends half of that before it is extended. */
  get longestStepMs(): number {
    let shortestMs = Number.POSITIVE_INFINITY
    for (const { ms } of this.#held.values()) shortestMs = Math.min(shortestMs, ms)
    return (shortestMs * (1 - this.options.share)) / 2
  }

  /** A process that lives through this time extends what it holds. */
  async movedOn(): Promise<void> {
    if (this.#held.size > 0) await this.extend([...this.#held.values()])
  }

  /** When it is time to extend it, or to give it back. */
  dueAt({ endsAt, ms }: Lease<Subject>): number {
    return endsAt - ms * (1 - this.options.share)
  }

  /**
   * Extends now, or waits for the extensions that are under way; a lease that could not be extended is lost, or tried
   * again while it holds. Never rejects.
   */
  async extend(leases: readonly Lease<Subject>[]): Promise<void> {
    const underWay = new Set<Promise<void>>()
    const byLength = new Map<number, Lease<Subject>[]>()
    for (const lease of leases) {
      const same = byLength.get(lease.ms)
      if (lease.extending) underWay.add(lease.extending)
      else if (same) same.push(lease)
      else byLength.set(lease.ms, [lease])
    }
    for (const [ms, same] of byLength) {
      for (let at = 0; at < same.length; at += MAX_AT_ONCE)
        underWay.add(this.#extend(same.slice(at, at + MAX_AT_ONCE), ms))
    }
    await Promise.all(underWay)
    this.#loop.wake(this.#pauseMs())
  }

  #extend(leases: readonly Lease<Subject>[], ms: number): Promise<void> {
    const extending = this.#extendNow(leases, ms).finally(() => {
      for (const lease of leases) lease.extending = null
    })
    for (const lease of leases) {
      lease.extending = extending
      lease.isLate = performance.now() >= lease.endsAt
    }
    return extending
  }

  async #extendNow(leases: readonly Lease<Subject>[], ms: number): Promise<void> {
    const sentAt = performance.now()
    try {
      const { lost, locked } = await this.options.extend(leases, ms)
      this.#pauses.reset()
      for (const lease of leases) {
        if (locked?.has(lease)) {
          lease.isLocked = true
          lease.retryAt = sentAt + ms * this.options.share
        } else if (!lost.has(lease)) lease.extended(sentAt)
        // A claim that was settled meanwhile is not there any more either.
        else if (!lease.isOver) this.#lose(lease)
      }
    } catch (error) {
      const retryAt = performance.now() + this.#pauses.next()
      for (const lease of leases) lease.retryAt = retryAt
      this.options.onFault(error)
    }
  }

  #round(): number {
    const now = performance.now()
    const due: Lease<Subject>[] = []
    /** Not due, but more than half of the way to it: extended with those that are, to have fewer statements. */
    const soon: Lease<Subject>[] = []
    const unkept: Lease<Subject>[] = []
    for (const lease of this.#held.values()) {
      const isAsked = lease.extending !== null || lease.retryAt > 0 || !lease.isKept
      if (now >= lease.endsAt && isAsked && !isUndecided(lease)) this.#lose(lease)
      else if (lease.extending !== null) continue
      else if (now < this.dueAt(lease)) {
        if (lease.isKept && now >= this.dueAt(lease) - (lease.ms * this.options.share) / 2) soon.push(lease)
      } else if (!lease.isKept) unkept.push(lease)
      else if (now >= lease.retryAt) due.push(lease)
    }
    for (const lease of unkept) this.remove(lease)
    if (due.length > 0) void this.extend([...due, ...soon])
    if (unkept.length > 0) this.options.onUnkept?.(unkept)
    return this.#pauseMs()
  }

  /** Milliseconds until the next round has something to do. */
  #pauseMs(): number {
    let next = Number.POSITIVE_INFINITY
    for (const lease of this.#held.values()) {
      const { extending, endsAt, retryAt } = lease
      if (!extending) next = Math.min(next, Math.max(this.dueAt(lease), retryAt))
      if (!isUndecided(lease)) next = Math.min(next, endsAt)
    }
    return Math.max(next - performance.now(), MIN_PAUSE_MS)
  }

  #lose(lease: Lease<Subject>): void {
    this.#forget(lease)
    lease.lose()
  }

  #forget(lease: Lease<Subject>): void {
    const key = this.options.keyOf(lease.subject)
    if (this.#held.get(key) === lease) this.#held.delete(key)
  }
}

/** It may hold although it has ended by our clock: only an extension can tell. */
function isUndecided({ extending, isLate, isLocked }: Lease<unknown>): boolean {
  return isLocked || (extending !== null && isLate)
}
