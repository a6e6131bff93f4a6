/**
 * One poll of one table: claims, results, renewals, and the cursor, each in a short transaction of its own. No timers; the
 * plan is made at the first use and again when it is asked to be forgotten.
 */
import type { DataSource } from 'typeorm'
import type { Session } from '../../database/engine'
import {
  type Claim,
  type GivenUp,
  type Held,
  type Limits,
  newClaimKey,
  type Outcome,
  type Place,
  readRows,
  unfinished,
} from './claims'
import { claimsTable } from './claims-table'
import { countsOf, isAnyReady } from './counts'
import { moveCursor } from './cursor'
import { ownColumns } from './own-columns'
import { type Plan, type PollTarget, planOf } from './plan'
import type { PollCounts, PollShape } from './types'

export interface Claimed {
  claims: Claim[]
  /** Claims that ran out for the last time. */
  givenUp: GivenUp[]
}

export class PollRepository {
  readonly #source: DataSource
  readonly #session: Session
  readonly #target: PollTarget
  readonly #options: PollShape
  #plan: Promise<Plan> | null = null

  constructor(source: DataSource, session: Session, target: PollTarget, options: PollShape) {
    this.#source = source
    this.#session = session
    this.#target = target
    this.#options = options
  }

  /** Throws `invalid_input` for options that don't fit the table. */
  async plan(): Promise<Plan> {
    this.#plan ??= planOf(this.#source, this.#session, this.#target, this.#options)
    const plan = this.#plan
    try {
      return await plan
    } catch (error) {
      if (this.#plan === plan) this.#plan = null
      throw error
    }
  }

  /** The table may have another index, or another column, by now. */
  forgetPlan(): void {
    this.#plan = null
  }

  /** Claims rows, those first whose time has come again. */
  async claim(limits: Limits): Promise<Claimed> {
    const plan = await this.plan()
    return this.#session.write(async (tx) => {
      const taken = await placeOf(plan).take(tx, plan, limits, newClaimKey())
      const all = [...taken.held, ...taken.givenUp]
      const rows = await readRows(
        tx,
        plan,
        all.map(({ ref }) => ref),
      )
      return {
        claims: taken.held.flatMap((held) => {
          const row = rows.get(held.ref.rowKey)
          return row ? [{ ...held, row }] : []
        }),
        givenUp: taken.givenUp.map((held) => ({
          ...held,
          row: rows.get(held.ref.rowKey) ?? null,
          error: unfinished(held.attempts),
        })),
      }
    })
  }

  /** One transaction. False: the claim ran out and another has it, or the row was changed; the result is not recorded. */
  async end(held: Held, outcome: Outcome): Promise<boolean> {
    const plan = await this.plan()
    const place = placeOf(plan)
    return this.#session.write((tx) => place.end(tx, plan, held, outcome), {
      // Whether by our commit or by somebody else's claim: there is nothing left to record.
      arrived: async (tx) => !(await place.stillHeld(tx, plan, [held], tx.engine.forUpdate)).has(held.ref.rowKey),
    })
  }

  /** Renews claims; resolves to the row keys of those that are still held. */
  async extend(held: readonly Held[]): Promise<Set<string>> {
    const plan = await this.plan()
    const place = placeOf(plan)
    return this.#session.write(
      async (tx) => {
        await place.extend(tx, plan, held)
        return place.stillHeld(tx, plan, held)
      },
      { retryMs: plan.timeoutMs / 3 },
    )
  }

  /** Moves the cursor, where there is one; resolves to how many rows it has passed. */
  async tidy(): Promise<number> {
    const plan = await this.plan()
    if (!plan.sequence) return 0
    return this.#session.write((tx) => moveCursor(tx, plan))
  }

  /** Whether there is a row that a claim would take if nobody else had it locked. */
  async isAnyReady(): Promise<boolean> {
    const plan = await this.plan()
    return this.#session.read((reader) => isAnyReady(reader, plan))
  }

  async counts(): Promise<PollCounts> {
    const plan = await this.plan()
    return this.#session.read((reader) => countsOf(reader, plan))
  }
}

function placeOf({ own }: Plan): Place {
  return own ? ownColumns : claimsTable
}
