/**
 * A poller: claims rows in batches and runs a handler on each. Owns when it claims; the database's locks are the
 * repository's.
 *
 * Invariants: a handler begins only while the claim of its row surely holds. Every claim that came in ends in exactly one
 * way: done, to be tried again, failed, given back, or lost.
 */

import { Handlers } from '../../kit/handlers'
import { Loop } from '../../kit/loop'
import { extendInTestTime } from '../../kit/test-time'
import type { ClaimedRows } from '../../repositories/polls/claims'
import { RecentnError } from '../../shared/errors'
import { type LeaseFate, Leases } from '../../shared/leases'
import { CLOCK, delay, outside, performance } from '../../shared/platform'
import type { PollCounts } from '../../shared/poll-types'
import { Stepping, type StopOptions } from '../../shared/running'
import { isClosed, SURROUNDINGS } from '../running'
import { BatchSize } from './pace'
import { HeldRow, LONGEST_PAUSE_MS, nothing, Rows, type RowsOptions } from './rows'
import type { Poller, PollResult } from './types'

/** How often `once` looks again for rows that others had locked, as claims do for a moment. */
const LOOKS = 5
const LOOK_MS = 20
const TIDY_MS = 5000

interface RowPollerOptions<T> extends RowsOptions<T> {
  /** Throws `misuse`, with this reason, inside a transaction of the store's database. */
  guard: (why: string) => void
}

export class RowPoller<T> extends Stepping implements Poller {
  readonly #leases: Leases<HeldRow>
  readonly #rows: Rows<T>
  readonly #handlers: Handlers<HeldRow>
  readonly #batch: BatchSize
  #isAdvised = false
  #isIdle = false
  #tidiedAt = Number.NEGATIVE_INFINITY
  readonly #loop: Loop
  #once: Promise<PollResult> | null = null
  #givenBack: Promise<void> = Promise.resolve()

  constructor(private readonly options: RowPollerOptions<T>) {
    super(SURROUNDINGS)
    const { settings, faults } = options
    this.#leases = new Leases({ clock: CLOCK, share: 1 / 3, extend: (leases) => this.#extend(leases), faults })
    extendInTestTime(this.#leases, this.stopped)
    this.#rows = new Rows({ ...options, leases: this.#leases })
    const run = (leases: readonly HeldRow[]) => this.#rows.run(leases)
    this.#handlers = new Handlers({ ...settings, run, quiet: () => this.#handlers.ended() })
    this.#batch = new BatchSize(settings)
    this.#loop = new Loop({
      round: () => this.#round(),
      jitter: 0.1,
      faultPauses: { firstMs: 100, longestMs: LONGEST_PAUSE_MS },
      onFault: (error) => faults.database(error),
      keepsAlive: true,
    })
    if (settings.auto) this.#loop.wake()
    void this.stopped.then(() => this.#leases.close())
    this.stopBy(settings.signal, () => this.#stopNow())
  }

  async once(): Promise<PollResult> {
    if (this.#isStopping) throw new RecentnError('closed', 'The poller was stopped')
    this.#requireOutside('once()')
    if (this.options.settings.auto) {
      throw new RecentnError('invalid_input', 'The poller polls by itself: `once` is for auto: false')
    }
    this.#once ??= outside(() => this.#onceAlone()).finally(() => {
      this.#once = null
    })
    return this.#once
  }

  wake(): void {
    this.#loop.wake()
  }

  counts(): Promise<PollCounts> {
    return this.options.repository.counts()
  }

  override async stop(options: StopOptions = {}): Promise<void> {
    this.#requireOutside('stop()')
    return this.#stopNow(options)
  }

  #stopNow(options?: StopOptions): Promise<void> {
    return outside(() => super.stop(options))
  }

  /** Throws `misuse` in a handler of this poller, and in a transaction that its results would wait for. */
  #requireOutside(call: string): void {
    if (this.#rows.isInside) throw new RecentnError('misuse', `${call} would wait for the handler it is called in`)
    this.options.guard(`${call} would wait for the transaction it is called in`)
  }

  async #round(): Promise<number | null> {
    try {
      // While nothing happens, a look in place of a transaction.
      const isMore = (!this.#isIdle || (await this.options.repository.isAnyReady())) && (await this.#claim())
      this.#isIdle = !isMore
      this.options.faults.answered()
      const isMoreToTidy = await this.#tidy()
      return isMore || isMoreToTidy ? 0 : this.options.settings.intervalMs
    } catch (error) {
      if (!isClosed(error)) throw error
      void this.#stopNow()
      return null
    }
  }

  async #onceAlone(): Promise<PollResult> {
    this.#rows.result = nothing()
    this.options.faults.answered()
    try {
      await this.#claimAll()
    } finally {
      await this.#handlers.ended()
    }
    while (!this.#isStopping && (await this.options.repository.tidy()));
    return this.#rows.result
  }

  async #claimAll(): Promise<void> {
    const { running } = this.#handlers
    for (let looks = 0; !this.#isStopping; ) {
      const isMore = await this.#claim()
      const most = running.size
      if (isMore) looks = 0
      else if (running.size > 0) await this.#handlers.until(() => this.#isStopping || running.size < most)
      else if (looks++ < LOOKS && (await this.options.repository.isAnyReady())) await delay(LOOK_MS * looks)
      else break
    }
  }

  /** Resolves, once none of the claimed rows waits here and a handler is free, to whether there may be more to claim. */
  async #claim(): Promise<boolean> {
    const { leases, isMore } = await this.#fetch()
    const began = performance.now()
    void this.#leases.add(leases)
    if (this.#isStopping) this.#giveBack(leases)
    else this.#handlers.add(leases)
    await this.#handlers.until(() => this.#isStopping || this.#handlers.free > 0)
    if (!this.#isStopping) this.#batch.handled(leases.length, performance.now() - began)
    await this.#givenBack
    return isMore
  }

  get #isStopping(): boolean {
    return this.stopping.signal.aborted
  }

  /** The next rows. `isMore`: there was something to do. */
  async #fetch(): Promise<{ leases: HeldRow[]; isMore: boolean }> {
    const { timeoutMs: ms, maxAttempts } = this.options.settings
    const { result } = this.#rows
    const sentAt = performance.now()
    try {
      await this.#advise()
      const { claims, givenUp, refused, isMore } = await this.#claimRows()
      const leases = claims.map((claim) => {
        const isSuspect = claim.ranOut && claim.attempts >= maxAttempts
        return new HeldRow(claim, claim, ms, sentAt + ms, isSuspect)
      })
      result.claimed += claims.length
      result.failed += givenUp.length
      for (const { row, error } of givenUp)
        this.options.faults.handler(new Error(error), (row ?? undefined) as T | undefined)
      for (const { key, error } of refused) this.options.faults.handler(error, (key ?? undefined) as T | undefined)
      return { leases, isMore: isMore || claims.length + givenUp.length + refused.length > 0 }
    } catch (error) {
      this.options.repository.forgetPlan()
      throw error
    }
  }

  /** A refusal of the database may come from a plan that is out of date: an index was dropped, a column renamed. */
  async #claimRows(): Promise<ClaimedRows> {
    const limits = this.#batch.limits(this.#handlers.room)
    try {
      return await this.options.repository.claim(limits)
    } catch (error) {
      if (error instanceof RecentnError) throw error
      this.options.repository.forgetPlan()
      return await this.options.repository.claim(limits)
    }
  }

  async #advise(): Promise<void> {
    if (this.#isAdvised) return
    const plan = await this.options.repository.plan()
    this.#isAdvised = true
    this.options.faults.advisePlan(plan, this.options.settings.concurrency)
  }

  /** Moves the cursor now and then, a page between two claims; resolves to whether it may go further at once. */
  async #tidy(): Promise<boolean> {
    if (performance.now() - this.#tidiedAt < TIDY_MS) return false
    if (await this.options.repository.tidy()) return true
    this.#tidiedAt = performance.now()
    return false
  }

  async #extend(leases: readonly HeldRow[]): Promise<(lease: HeldRow) => LeaseFate> {
    const { extended, lost } = await this.options.repository.extend(leases.map(({ subject }) => subject))
    return ({ subject }) => (lost.has(subject) ? 'lost' : extended.has(subject) ? 'extended' : 'locked')
  }

  #giveBack(leases: readonly HeldRow[]): void {
    this.#givenBack = this.#givenBack.then(() => this.#rows.giveBack(leases))
  }

  protected async end(): Promise<void> {
    this.#handlers.closed++
    this.#giveBack(this.#handlers.waiting.splice(0))
    this.#handlers.next()
    await Promise.all([this.#loop.stop(), this.#once?.catch(() => {}), this.#givenBack])
    await this.#handlers.ended()
  }

  protected async hurry(): Promise<void> {
    const left = await this.#handlers.abandon()
    for (const lease of left) lease.isAbandoned = true
    await this.#rows.giveBack(left)
  }
}
