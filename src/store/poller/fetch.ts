/** How a poller gets its rows: how many the next claim takes, what it says of the table, and the cursor's moves between claims. */
import { RecentnError } from '../../errors'
import { Faults, guarded } from '../../kit/faults'
import { Lease } from '../../kit/leases'
import type { Limits } from '../../repositories/polls/claims'
import type { Claimed, PollRepository } from '../../repositories/polls/repository'
import type { PollSettings } from './options'
import type { HeldRow } from './rows'
import type { PollOptions } from './types'

/** How often the cursor is moved, where there is one. */
const TIDY_MS = 5000
/** How long the handlers should take for the rows of one claim. */
const WORTH_MS = 1000

/** What a poller reports: errors, and advice about the table. */
export class PollerFaults<T> extends Faults<T> {
  readonly #onWarning: PollOptions<T>['onWarning']

  constructor(name: string, { onError, onWarning }: Pick<PollOptions<T>, 'onError' | 'onWarning'>) {
    super({ who: 'poller', what: `poll ${name}`, onError })
    this.#onWarning = onWarning
  }

  advise(warning: string, code: 'RECENTN_POLL_INDEX' | 'RECENTN_POLL_WHERE' | 'RECENTN_POLL_POOL'): void {
    const onWarning = this.#onWarning
    if (onWarning) guarded('onWarning of a recentn poller', () => onWarning(warning))
    else process.emitWarning(warning, { code })
  }
}

/**
 * How many rows the next claim takes: as many as the handlers end in a second. Rows that wait here for a handler could be
 * handled by another process, and are what a crash leaves claimed; a claim for each row would be one more transaction each.
 */
export class BatchSize {
  readonly #settings: PollSettings
  #size: number

  constructor(settings: PollSettings) {
    this.#settings = settings
    this.#size = this.#bounded(settings.concurrency)
  }

  /**
   * The limits of a claim while this many handlers run. Rows whose last claim ran out, and rows that have one attempt only,
   * don't wait here for a handler: if the process died they would be given up for having waited.
   */
  limits(running: number): Limits {
    const free = this.#settings.concurrency - running
    return { max: this.#settings.maxAttempts === 1 ? free : this.#size, ranOut: free }
  }

  /** A claim of this many rows was handled in this time. The size doubles at most, and only when the claim was full. */
  handled(rows: number, ms: number): void {
    if (rows === 0) return
    const fitting = Math.ceil((rows * WORTH_MS) / Math.max(ms, 1))
    const most = rows >= this.#size ? 2 * this.#size : this.#size
    this.#size = this.#bounded(Math.max(Math.min(fitting, most), this.#settings.concurrency))
  }

  #bounded(size: number): number {
    const { min, max } = this.#settings.batch
    return Math.min(Math.max(size, min), max)
  }
}

export interface FetchedRows {
  leases: HeldRow[]
  /** Rows whose last attempt never came to an end. */
  givenUp: number
  /** There was something to do, and may be more. */
  isMore: boolean
}

export class RowFetcher<T> {
  readonly #repository: PollRepository
  readonly #settings: PollSettings
  readonly #faults: PollerFaults<T>
  readonly #batch: BatchSize
  #isAdvised = false
  #tidiedAt = Number.NEGATIVE_INFINITY

  constructor(repository: PollRepository, settings: PollSettings, faults: PollerFaults<T>) {
    this.#repository = repository
    this.#settings = settings
    this.#faults = faults
    this.#batch = new BatchSize(settings)
  }

  /** Claims the next rows, while this many handlers run. */
  async next(running: number): Promise<FetchedRows> {
    const { timeoutMs: ms, maxAttempts } = this.#settings
    const sentAt = performance.now()
    try {
      await this.#advise()
      const { claims, givenUp, refused, isMore } = await this.#claim(running)
      const leases = claims.map((claim) => {
        const isSuspect = claim.ranOut && claim.attempts >= maxAttempts
        return new Lease(claim, { ms, sentAt, isKept: true, isSuspect })
      })
      for (const { row, error } of givenUp) this.#faults.handler(new Error(error), (row ?? undefined) as T | undefined)
      for (const { key, error } of refused) this.#faults.handler(error, (key ?? undefined) as T | undefined)
      const found = claims.length + givenUp.length + refused.length
      return { leases: suspectsLast(leases), givenUp: givenUp.length, isMore: isMore || found > 0 }
    } catch (error) {
      this.#repository.forgetPlan()
      throw error
    }
  }

  /** The handlers took this long for the rows of one claim. */
  handled(rows: number, ms: number): void {
    this.#batch.handled(rows, ms)
  }

  /** Moves the cursor now and then, a page between two claims; resolves to whether it may go further at once. */
  async tidy(): Promise<boolean> {
    if (performance.now() - this.#tidiedAt < TIDY_MS) return false
    if (await this.#repository.tidy()) return true
    this.#tidiedAt = performance.now()
    return false
  }

  /** What the database refuses may be a plan that is out of date: an index was dropped, a column renamed. */
  async #claim(running: number): Promise<Claimed> {
    try {
      return await this.#repository.claim(this.#batch.limits(running))
    } catch (error) {
      if (error instanceof RecentnError) throw error
      this.#repository.forgetPlan()
      return await this.#repository.claim(this.#batch.limits(running))
    }
  }

  async #advise(): Promise<void> {
    if (this.#isAdvised) return
    const { advice, notice, connections } = await this.#repository.plan()
    this.#isAdvised = true
    const { concurrency } = this.#settings
    if (advice !== null) this.#faults.advise(advice, 'RECENTN_POLL_INDEX')
    if (notice !== null) this.#faults.advise(notice, 'RECENTN_POLL_WHERE')
    if (connections !== null && concurrency >= connections) {
      this.#faults.advise(
        `recentn polls with ${concurrency} handlers at once and a pool of ${connections} connections: where each ` +
          'handler holds one, none is left to renew their claims, which then run out. Make the pool larger',
        'RECENTN_POLL_POOL',
      )
    }
  }
}

/** A row that may be the death of this process begins when no other waits here. */
function suspectsLast(leases: readonly HeldRow[]): HeldRow[] {
  return [...leases.filter(({ isSuspect }) => !isSuspect), ...leases.filter(({ isSuspect }) => isSuspect)]
}
