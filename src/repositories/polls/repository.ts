/**
 * One poll of one table: claims, results, renewals, and the cursor, each in a short transaction of its own. No timers; the
 * plan is made at the first use and again when it is asked to be forgotten.
 */
import type { DataSource } from 'typeorm'
import type { Session } from '../../database/engine'
import {
  type Claim,
  checkClaimed,
  type GivenUp,
  type Held,
  type Limits,
  Lost,
  newClaimKey,
  type Outcome,
  type Place,
  readRows,
} from './claims'
import { claimsTable } from './claims-table'
import { countsOf, isAnyReady } from './counts'
import { moveCursor } from './cursor'
import { ownColumns } from './own-columns'
import { type Plan, type PollTarget, planOf } from './plan'
import { type NotePlace, tidyNotes } from './tidy'
import type { PollCounts, PollShape } from './types'

export interface Claimed {
  claims: Claim[]
  /** Claims that ran out for the last time. */
  givenUp: GivenUp[]
}

/** Claims that are in neither are locked by somebody: nobody else can take them until they are free. */
export interface Extended {
  renewed: ReadonlySet<Held>
  lost: ReadonlySet<Held>
}

export class PollRepository {
  readonly #source: DataSource
  readonly #session: Session
  readonly #target: PollTarget
  readonly #options: PollShape
  #plan: Promise<Plan> | null = null
  #tidied: NotePlace | null = null

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
    const place = placeOf(plan)
    return this.#session.write(async (tx) => {
      const began = performance.now()
      const taken = await place.take(tx, plan, limits, newClaimKey())
      // The times were written before it was known how long this takes.
      if (performance.now() - began > plan.timeoutMs / 3) await place.extend(tx, plan, taken.held)
      const rows = await readRows(
        tx,
        plan,
        taken.held.map(({ ref }) => ref),
      )
      const claims = taken.held.flatMap((held) => {
        const row = rows.get(held.ref.rowKey)
        return row ? [{ ...held, row }] : []
      })
      checkClaimed(plan, taken.held.length, claims.length)
      return { claims, givenUp: taken.givenUp }
    })
  }

  /** One transaction. False: the claim ran out and another has it, or the row was changed; the result is not recorded. */
  async end(held: Held, outcome: Outcome): Promise<boolean> {
    const plan = await this.plan()
    const place = placeOf(plan)
    const ended = this.#session.write((tx) => place.end(tx, plan, held, outcome), {
      // Whether by our commit or by somebody else's claim: there is nothing left to record.
      arrived: async (tx) => !(await place.stillHeld(tx, plan, [held], tx.engine.forUpdate)).has(held),
    })
    return ended.catch((error: unknown) => {
      if (error instanceof Lost) return false
      throw error
    })
  }

  /** Renews claims, but those that somebody has locked. */
  async extend(held: readonly Held[]): Promise<Extended> {
    const plan = await this.plan()
    const place = placeOf(plan)
    return this.#session.write(
      async (tx) => {
        const renewed = await place.extend(tx, plan, held)
        const rest = held.filter((one) => !renewed.has(one))
        const kept = rest.length === 0 ? new Set<Held>() : await place.stillHeld(tx, plan, rest)
        return { renewed, lost: new Set(rest.filter((one) => !kept.has(one))) }
      },
      { retryMs: plan.timeoutMs / 3 },
    )
  }

  /** Moves the cursor a page further, or looks through a page of notes; resolves to whether there may be more of it. */
  async tidy(): Promise<boolean> {
    const plan = await this.plan()
    if (plan.status && !plan.own && plan.identity.isKey) {
      this.#tidied = await tidyNotes(this.#session, plan, this.#tidied)
      return this.#tidied !== null
    }
    if (!plan.sequence) return false
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
