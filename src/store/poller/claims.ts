/** What a poller asks of its table between handlers: the next rows, and that the cursor goes further. */
import { RecentnError } from '../../errors'
import type { Claimed, PollRepository } from '../../repositories/polls/repository'
import type { BatchSize } from './batch'
import type { PollerFaults } from './faults'
import { Lease, type Leases, suspectsLast } from './leases'
import type { PollSettings } from './options'
import type { Recorder } from './results'

/** How often the cursor is moved, where there is one. */
const TIDY_MS = 5000

export interface ClaimsOptions<T> {
  repository: PollRepository
  settings: PollSettings
  faults: PollerFaults<T>
  batch: BatchSize
  leases: Leases
  recorder: Recorder
}

export class Claims<T> {
  readonly #options: ClaimsOptions<T>
  #isAdvised = false
  #tidiedAt = Number.NEGATIVE_INFINITY

  constructor(options: ClaimsOptions<T>) {
    this.#options = options
  }

  /** While so many handlers run. `isMore`: there was something to do, and may be more. */
  async next(running: number): Promise<{ leases: Lease[]; isMore: boolean }> {
    const { repository, settings, faults, leases: held, recorder } = this.#options
    const dueAt = performance.now() + settings.timeoutMs
    try {
      await this.#advise()
      const { claims, givenUp, refused, isMore } = await this.#claim(running)
      const leases = claims.map((claim) => new Lease(claim, dueAt, settings.maxAttempts))
      held.add(leases)
      recorder.claimed(claims.length, givenUp.length)
      for (const { row, error } of givenUp) faults.handler(new Error(error), (row ?? undefined) as T | undefined)
      for (const { key, error } of refused) faults.handler(error, (key ?? undefined) as T | undefined)
      return { leases: suspectsLast(leases), isMore: isMore || claims.length + givenUp.length + refused.length > 0 }
    } catch (error) {
      repository.forgetPlan()
      throw error
    }
  }

  /** What the database refuses may be a plan that is out of date: an index was dropped, a column renamed. */
  async #claim(running: number): Promise<Claimed> {
    const { repository, batch } = this.#options
    try {
      return await repository.claim(batch.limits(running))
    } catch (error) {
      if (error instanceof RecentnError) throw error
      repository.forgetPlan()
      return await repository.claim(batch.limits(running))
    }
  }

  async #advise(): Promise<void> {
    if (this.#isAdvised) return
    const { repository, faults, settings } = this.#options
    const { advice, notice, connections } = await repository.plan()
    this.#isAdvised = true
    if (advice !== null) faults.advise(advice, 'RECENTN_POLL_INDEX')
    if (notice !== null) faults.advise(notice, 'RECENTN_POLL_WHERE')
    if (connections !== null && settings.concurrency >= connections) {
      faults.advise(
        `recentn polls with ${settings.concurrency} handlers at once and a pool of ${connections} connections: where each ` +
          'handler holds one, none is left to renew their claims, which then run out. Make the pool larger',
        'RECENTN_POLL_POOL',
      )
    }
  }

  /** Now and then, and page by page between claims; resolves to whether the cursor may go further at once. */
  async tidy(): Promise<boolean> {
    if (performance.now() - this.#tidiedAt < TIDY_MS) return false
    if (await this.#options.repository.tidy()) return true
    this.#tidiedAt = performance.now()
    return false
  }
}
