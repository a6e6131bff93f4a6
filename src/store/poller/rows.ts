/**
 * The handling of claimed rows, each from the check that its claim still holds to its recorded result. Owns what became of
 * them. Whatever a handler throws, and whatever the database says, ends here.
 *
 * Each result is recorded in its own transaction, so that a crash loses only the results of the handlers that were
 * running. A result is not recorded when the claim is not held any more: another poller has the row, or will have it.
 */

import { fatesOf, type Handle, signalOf } from '../../kit/handler-calls'
import type { LoadedClaim, RowOutcome } from '../../repositories/polls/claims'
import type { PollRepository } from '../../repositories/polls/repository'
import type { LoadedRow } from '../../repositories/polls/rows'
import { Pauses, retrySeconds } from '../../shared/backoff'
import { errorText } from '../../shared/error-text'
import { isPassing } from '../../shared/errors'
import { isUnrecoverable } from '../../shared/failures'
import { Lease, type Leases } from '../../shared/leases'
import { CLOCK, performance } from '../../shared/platform'
import { inScope, isIn } from '../../shared/scopes'
import { isClosed } from '../running'
import type { PollSettings } from './options'
import type { PollerFaults } from './pace'
import type { PollManyContext, PollResult } from './types'

export const LONGEST_PAUSE_MS = 10_000
/** A row that waited here for longer is read again before its handler begins. */
const FRESH_MS = 1000
/** How often the database is asked to record a result that it refuses for no passing reason. */
const ASKS = 3
/** How long a locked row is asked for again, to give it back: claims of others lock it for a moment. */
const GIVE_BACK_MS = 1000
const LOCKED_PAUSE_MS = 50

export class HeldRow extends Lease<LoadedClaim> {
  readonly claimedAt = performance.now()
  /** Given back while its handler ran: what the handler comes to is not recorded. */
  isAbandoned = false

  get holds(): boolean {
    return !this.isLost && performance.now() < this.endsAt
  }
}

export interface RowsOptions<T> {
  repository: PollRepository
  handle: Handle<T, PollManyContext>
  settings: PollSettings
  faults: PollerFaults<T>
}

export class Rows<T> {
  result: PollResult = nothing()

  constructor(private readonly options: RowsOptions<T> & { leases: Leases<HeldRow> }) {}

  /** True for code that a handler of this poller runs: code that waits for the handler must not be waited for there. */
  get isInside(): boolean {
    return isIn(this)
  }

  /** Never rejects. */
  async run(claimed: readonly HeldRow[]): Promise<void> {
    const { leases, faults } = this.options
    try {
      const rows = new Map<HeldRow, LoadedRow | null>()
      for (const lease of claimed) {
        if (lease.isLost) this.#lost(lease)
        else rows.set(lease, await this.#fresh(lease))
      }
      const ended = [...rows.keys()].filter((lease) => !lease.holds)
      // A lease that has ended by our clock: as long as no other poller took the row, its claim can be extended.
      if (ended.length > 0) await leases.extend(ended)
      const held = [...rows].filter((one): one is [HeldRow, LoadedRow] => one[1] !== null && one[0].holds)
      const handled = this.#handle(held)
      const isHeld = new Set(held.map(([lease]) => lease))
      // A claim that took longer than it lasts, or a row that waited for long: no handler has seen it, no attempt counts.
      for (const lease of rows.keys()) if (!isHeld.has(lease)) await this.#giveBack(lease)
      for (const [lease, outcome] of await handled) await this.#record(lease, outcome)
    } catch (error) {
      faults.database(error)
      for (const lease of claimed) leases.remove(lease)
    }
  }

  /** Gives back rows whose handlers have not begun, or have not ended in time. */
  async giveBack(leases: readonly HeldRow[]): Promise<void> {
    const until = performance.now() + GIVE_BACK_MS
    for (const lease of leases) {
      if (lease.isAbandoned) this.#lost(lease)
      await this.#giveBack(lease, until)
    }
  }

  /** Null: while it waited here it left what is polled, or the database can't be asked. */
  async #fresh({ subject, claimedAt }: HeldRow): Promise<LoadedRow | null> {
    if (performance.now() - claimedAt < FRESH_MS) return subject.row
    try {
      return await this.options.repository.reread(subject)
    } catch (error) {
      this.options.faults.database(error)
      return null
    }
  }

  async #handle(held: readonly [HeldRow, LoadedRow][]): Promise<[HeldRow, RowOutcome][]> {
    const { handle, settings, faults } = this.options
    const outcomes: [HeldRow, RowOutcome][] = []
    const leases = new Map<T, HeldRow>()
    for (const [lease, { load, key }] of held) {
      try {
        leases.set(load() as T, lease)
      } catch (error) {
        faults.handler(error, key as T)
        outcomes.push([lease, failureOf(error, lease.subject.attempts, settings)])
      }
    }
    if (leases.size === 0) return outcomes
    const all = [...leases.values()]
    const context = { signal: signalOf(all), attempts: all.map(({ subject }) => subject.attempts) }
    const { failed, answer } = await inScope(this, undefined, () =>
      fatesOf(faults, handle, [...leases.keys()], context),
    )
    for (const [row, lease] of leases) {
      const isDone: RowOutcome = { is: 'done', word: answer }
      outcomes.push([lease, failed.has(row) ? failureOf(failed.get(row), lease.subject.attempts, settings) : isDone])
    }
    return outcomes
  }

  /**
   * Asks until the result is recorded or the claim is lost. It asks once where the claim seems to be lost by our clock: the
   * work was done, and no other may have taken the row. A result that the database refuses is replaced by one that it may take;
   * if it takes none of these, the claim is left to run out.
   */
  async #record(lease: HeldRow, outcome: RowOutcome): Promise<void> {
    const pauses = new Pauses(LONGEST_PAUSE_MS)
    let rest: RowOutcome[] | null = null
    let asked = 0
    let isTried = false
    for (let now: RowOutcome | undefined = outcome; now && !lease.isAbandoned && !(lease.isLost && isTried); ) {
      isTried = true
      try {
        if (!(await this.options.repository.end(lease.subject, now))) break
        this.#count(now)
        this.options.leases.remove(lease)
        return
      } catch (error) {
        this.options.faults.database(error)
        if (isClosed(error)) break
        if (!isPassing(error) && ++asked >= ASKS) {
          rest ??= insteadOf(outcome, error)
          now = rest.shift()
        } else await CLOCK.pause(pauses.next())
      }
    }
    this.#lost(lease)
  }

  /** A row that stays locked until then is left: its claim runs out. */
  async #giveBack(lease: HeldRow, until = performance.now() + GIVE_BACK_MS): Promise<void> {
    const pauses = new Pauses(LONGEST_PAUSE_MS)
    for (let asked = 0; ; ) {
      try {
        if ((await this.options.repository.giveBack(lease.subject)) !== 'locked' || performance.now() >= until) break
        await CLOCK.pause(LOCKED_PAUSE_MS)
      } catch (error) {
        this.options.faults.database(error)
        if (isClosed(error)) break
        if (lease.isLost || (!isPassing(error) && ++asked >= ASKS)) break
        await CLOCK.pause(pauses.next())
      }
    }
    this.options.leases.remove(lease)
  }

  #lost(lease: HeldRow): void {
    this.result.lost++
    this.options.leases.remove(lease)
  }

  #count(outcome: RowOutcome): void {
    const { result } = this
    if (outcome.is === 'done') result.done++
    else if (outcome.is === 'retry') result.retried++
    else if (outcome.is === 'failed') result.failed++
  }
}

function failureOf(error: unknown, attempts: number, { maxAttempts, backoff }: PollSettings): RowOutcome {
  const text = errorText(error)
  if (attempts >= maxAttempts || isUnrecoverable(error)) return { is: 'failed', error: text }
  return { is: 'retry', delayMs: 1000 * retrySeconds(attempts, backoff), error: text }
}

/** The results to try for a row whose result is refused: with plain characters, then as failed, then without a text. */
function insteadOf(outcome: RowOutcome, refusal: unknown): RowOutcome[] {
  const why = `The table refuses the result: ${errorText(refusal)}`
  const said = 'error' in outcome ? (outcome.error ?? '') : why
  const error = said.replace(/[^ -~]/g, '?').slice(0, 200)
  const failed: RowOutcome[] = [
    { is: 'failed', error },
    { is: 'failed', error: null },
  ]
  return outcome.is === 'retry' ? [{ ...outcome, error }, { ...outcome, error: null }, ...failed] : failed
}

export function nothing(): PollResult {
  return { claimed: 0, done: 0, retried: 0, failed: 0, lost: 0 }
}
