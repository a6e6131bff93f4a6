/**
 * The claims that a poller holds, and their renewal: each third of the timeout, all at once. A claim that could not be
 * renewed in time is lost: its handler is told by the signal, and its result is recorded only where nobody took the row
 * meanwhile. One whose row somebody else has locked can't be renewed and is not lost either: who claims passes over it.
 */
import type { Claim } from '../../repositories/polls/claims'
import type { Extended } from '../../repositories/polls/repository'

/** A claim here, with what its handler is given. */
export class Lease {
  readonly claim: Claim
  readonly #controller = new AbortController()
  /** By this process's clock: since when the row may not be what was read of it. */
  readonly claimedAt = performance.now()
  /** By this process's clock, from before the claim was asked for: it surely holds until then. */
  dueAt: number
  isLost = false
  /** Given back while its handler ran: what that comes to is not recorded. */
  isAbandoned = false
  /** Somebody has locked the row, or its note: it can't be renewed, nor taken by others. */
  isLocked = false
  /** Its last attempt, and the one before never came to an end: it may be the death of this process, too. */
  readonly isSuspect: boolean

  constructor(claim: Claim, dueAt: number, maxAttempts: number) {
    this.claim = claim
    this.dueAt = dueAt
    this.isSuspect = claim.ranOut && claim.attempts >= maxAttempts
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get holds(): boolean {
    return !this.isLost && performance.now() < this.dueAt
  }

  renew(dueAt: number): void {
    this.dueAt = dueAt
    this.isLocked = false
  }

  lose(): void {
    this.isLost = true
    this.abort()
  }

  abandon(): void {
    this.isAbandoned = true
    this.lose()
  }

  abort(): void {
    this.#controller.abort()
  }
}

/** One that may be the death of this process begins when nothing else waits here. */
export function suspectsLast(leases: readonly Lease[]): Lease[] {
  return [...leases.filter(({ isSuspect }) => !isSuspect), ...leases.filter(({ isSuspect }) => isSuspect)]
}

export interface LeasesOptions {
  timeoutMs: number
  extend: (claims: readonly Claim[]) => Promise<Extended>
  onFault: (error: unknown) => void
}

export class Leases {
  readonly #options: LeasesOptions
  readonly #held = new Set<Lease>()
  #timer: NodeJS.Timeout | null = null
  #isRenewing = false

  constructor(options: LeasesOptions) {
    this.#options = options
  }

  add(leases: readonly Lease[]): void {
    for (const lease of leases) this.#held.add(lease)
    if (this.#held.size > 0) this.#timer ??= setInterval(() => void this.#renew(), this.#options.timeoutMs / 3)
  }

  remove(lease: Lease): void {
    this.#held.delete(lease)
    if (this.#held.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  #lose(lease: Lease): void {
    lease.lose()
    this.remove(lease)
  }

  /** Whether a lease that is over by our clock holds again: so long as nobody else took the claim it can be renewed. */
  async revive(lease: Lease): Promise<boolean> {
    const dueAt = performance.now() + this.#options.timeoutMs
    try {
      const { renewed } = await this.#options.extend([lease.claim])
      if (renewed.has(lease.claim)) lease.renew(dueAt)
    } catch (error) {
      this.#options.onFault(error)
    }
    return lease.holds
  }

  /** Asks the database first: a claim that is over and that nobody took is renewed as well. */
  async #renew(): Promise<void> {
    if (this.#isRenewing) return this.#loseOver()
    const leases = [...this.#held]
    if (leases.length === 0) return
    this.#isRenewing = true
    const dueAt = performance.now() + this.#options.timeoutMs
    try {
      const { renewed, lost } = await this.#options.extend(leases.map(({ claim }) => claim))
      for (const lease of leases) {
        if (renewed.has(lease.claim)) lease.renew(dueAt)
        else if (!lost.has(lease.claim)) lease.isLocked = true
        else if (this.#held.has(lease)) this.#lose(lease)
      }
    } catch (error) {
      this.#options.onFault(error)
      this.#loseOver()
    } finally {
      this.#isRenewing = false
    }
  }

  /** While the database can't be asked the clock decides. */
  #loseOver(): void {
    for (const lease of this.#held) if (!lease.holds && !lease.isLocked) this.#lose(lease)
  }
}
