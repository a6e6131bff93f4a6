/**
 * The memory of one poller of its table from claim to claim. It has the plan, the rows that it passes
 * over, the claims that may or may not exist, and how far it has tidied up.
 *
 * Invariant: no claim depends on it for its truth: every statement that claims, ends or extends looks at the rows
 * themselves. Forgotten with its process, it costs a new plan, another refusal, and claims that run out.
 */
import type { Statement } from '../../database/engine'
import { performance } from '../../shared/platform'
import type { LoadedClaim } from './claims'
import type { NotePlace } from './due'
import type { PollPlan } from './plan'
import { allOf, part, type RowRef } from './rows'

/** Maximum rows that are passed over: with more of them the cause is not the rows. */
const MOST = 100

export class PollMemory {
  /** Claims whose commit was cut off before the database answered whether it happened. */
  readonly unknown = new Set<LoadedClaim>()
  /** The last note that was looked at; null to begin with the first one. */
  tidied: NotePlace | null = null
  readonly #refused = new Map<string, { ref: RowRef; until: number }>()
  #plan: Promise<PollPlan> | null = null

  /** Makes the plan at the first use, after `forgetPlan`, and after it could not be made. */
  async plan(make: () => Promise<PollPlan>): Promise<PollPlan> {
    this.#plan ??= make()
    const plan = this.#plan
    try {
      return await plan
    } catch (error) {
      if (this.#plan === plan) this.#plan = null
      throw error
    }
  }

  /** The table may have another index, or another column, now. */
  forgetPlan(): void {
    this.#plan = null
  }

  /** The row can't be claimed: it is passed over for this long. False: there are too many. */
  passOver(ref: RowRef, ms: number): boolean {
    if (this.#refused.size >= MOST) return false
    this.#refused.set(ref.rowKey, { ref, until: performance.now() + ms })
    return true
  }

  except({ identity }: PollPlan): Statement | null {
    for (const [rowKey, { until }] of this.#refused) if (until <= performance.now()) this.#refused.delete(rowKey)
    const refs = [...this.#refused.values()].map(({ ref }) => ref)
    if (refs.length === 0) return null
    const parts = identity.isKey ? [identity.any(refs)] : refs.map((ref) => identity.any([ref]))
    return allOf(...parts.map(({ sql, parameters }) => part(`NOT (${sql})`, ...parameters)))
  }
}
