/**
 * One poll of one table: claims, results, renewals, and the cursor, each in a short transaction of its own. No timers; the
 * plan is made at the first use and again when it is asked to be forgotten.
 */
import type { DataSource } from 'typeorm'
import type { Session, Tx } from '../../database/engine'
import { RecentnError } from '../../errors'
import type { Claimed, Extended, Refused } from './claimed'
import {
  type Claim,
  Conditions,
  checkClaimed,
  type Held,
  type Limits,
  Lost,
  newClaimKey,
  type Outcome,
  type Place,
} from './claims'
import { claimsTable } from './claims-table'
import { countsOf, isAnyReady } from './counts'
import { moveCursor } from './cursor'
import { forgetNotes } from './locked-notes'
import { ownColumns } from './own-columns'
import { type Plan, type PollTarget, planOf } from './plan'
import { PassedOver, RefusedClaim } from './refused'
import { type Loaded, readRows } from './rows'
import { type NotePlace, tidyNotes } from './tidy'
import type { PollCounts, PollShape } from './types'

export type { Claimed, Extended }

/** Who gives back does not wait for long. */
const RELEASE_RETRY_MS = 5000

export class PollRepository {
  readonly #source: DataSource
  readonly #session: Session
  readonly #target: PollTarget
  readonly #options: PollShape
  readonly #passedOver = new PassedOver()
  /** Claims whose commit was cut off, and of which the database could not be asked. */
  readonly #unknown: Claim[] = []
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

  /** Claims rows, those first whose time has come again. What the table refuses as a whole is claimed in halves. */
  async claim(limits: Limits): Promise<Claimed> {
    const plan = await this.plan()
    await this.#releaseUnknown()
    const except = this.#passedOver.except(plan)
    for (let { max } = limits; ; ) {
      try {
        return await this.#claim(plan, { ...limits, max, except })
      } catch (error) {
        if (!(error instanceof RefusedClaim)) throw error
        const [ref] = error.refs
        if (error.refs.length > 1 || ref === undefined) max = Math.floor(error.refs.length / 2)
        else if (!this.#passedOver.add(ref, plan.timeoutMs)) throw error
        else return { claims: [], givenUp: [], refused: await this.#told(plan, [error]), isMore: true }
      }
    }
  }

  async #claim(plan: Plan, limits: Limits): Promise<Claimed> {
    const place = placeOf(plan)
    let claims: Claim[] = []
    let arrived: ReadonlySet<Held> | null = null
    const work = async (tx: Tx) => {
      const [began, claimKey] = [performance.now(), newClaimKey()]
      claims = []
      arrived = null
      const { held, ...rest } = await place.take(tx, plan, limits, claimKey)
      // The times were written before it was known how long this takes.
      if (performance.now() - began > plan.timeoutMs / 3) await place.extend(tx, plan, held)
      const refs = held.map(({ ref }) => ref)
      const rows = await readRows(tx, plan, refs, place.mark(plan, claimKey))
      claims = held.flatMap((one) => {
        const row = rows.get(one.ref.rowKey)
        return row ? [{ ...one, row }] : []
      })
      checkClaimed(plan, held.length, claims.length)
      return rest
    }
    const isThere = async (tx: Tx) => {
      arrived = await place.stillHeld(tx, plan, claims, tx.engine.forUpdate)
      return arrived.size > 0
    }
    const {
      givenUp,
      refused = [],
      isMore = false,
    } = await this.#session.write(work, { arrived: isThere }).catch((error: unknown) => {
      const isUnknown = error instanceof RecentnError && error.code === 'outcome_unknown'
      if (isUnknown) for (const claim of claims) this.#unknown.push(claim)
      throw error
    })
    const known = arrived as ReadonlySet<Held> | null
    const kept = known ? claims.filter((claim) => known.has(claim)) : claims
    return { claims: kept, givenUp, refused: await this.#told(plan, refused), isMore }
  }

  /** Claims of which nobody knows whether they are there: no handler has seen their rows, and no attempt counts. */
  async #releaseUnknown(): Promise<void> {
    for (const held of [...this.#unknown]) {
      // One whose row is locked is released the next time, unless it has run out by then.
      if ((await this.release(held)) !== 'locked') this.#unknown.splice(this.#unknown.indexOf(held), 1)
    }
  }

  async #told(plan: Plan, refused: readonly RefusedClaim[]): Promise<Refused[]> {
    if (refused.length === 0) return []
    const refs = refused.flatMap((error) => error.refs)
    const rows = await this.#session.read((reader) => readRows(reader, plan, refs))
    return refused.map((error) => ({ error, key: rows.get(error.refs[0]?.rowKey ?? '')?.key ?? null }))
  }

  /** The row of a claim as it is now; null where it is not one of those that are polled any more, or not as claimed. */
  async reread({ ref, claimKey }: Claim): Promise<Loaded | null> {
    const plan = await this.plan()
    const also = new Conditions().andAll(placeOf(plan).mark(plan, claimKey)).andAll(plan.where).all
    const rows = await this.#session.read((reader) => readRows(reader, plan, [ref], also))
    return rows.get(ref.rowKey) ?? null
  }

  /** One transaction. False: the claim ran out and another has it, or the row was changed; the result is not recorded. */
  async end(held: Held, outcome: Outcome): Promise<boolean> {
    const plan = await this.plan()
    const isRecorded = await this.#ended(plan, held, (tx) => placeOf(plan).end(tx, plan, held, outcome))
    held.isEnded = true
    await this.#forgetNotes(plan, [held])
    return isRecorded
  }

  /** Gives a claim back, as if there had been none. Waits for nobody who has the row locked. */
  async release(held: Held): Promise<'released' | 'lost' | 'locked'> {
    const plan = await this.plan()
    const place = placeOf(plan)
    let isLocked = false
    const releases = async (tx: Tx) => {
      isLocked = false
      if (await place.lockNow(tx, plan, held)) return place.end(tx, plan, held, { is: 'released' })
      isLocked = (await place.stillHeld(tx, plan, [held])).has(held)
      return false
    }
    const isReleased = await this.#ended(plan, held, releases, RELEASE_RETRY_MS)
    if (isLocked) return 'locked'
    held.isEnded = true
    await this.#forgetNotes(plan, [held])
    return isReleased ? 'released' : 'lost'
  }

  #ended(plan: Plan, held: Held, work: (tx: Tx) => Promise<boolean>, retryMs?: number): Promise<boolean> {
    const ended = this.#session.write(work, {
      // Whether by our commit or by somebody else's claim: there is nothing left to record.
      arrived: async (tx) => !(await placeOf(plan).stillHeld(tx, plan, [held], tx.engine.forUpdate)).has(held),
      retryMs,
    })
    return ended.catch((error: unknown) => {
      if (error instanceof Lost) return false
      throw error
    })
  }

  /** After the end of a claim and after a renewal, whichever is later: each may not have seen what the other does. */
  async #forgetNotes(plan: Plan, held: readonly Held[]): Promise<void> {
    const over = held.filter(({ isEnded, isNoted }) => isEnded && isNoted)
    // One that is left means nothing to anybody, and goes when its row is claimed again.
    if (over.length > 0) await this.#session.write((tx) => forgetNotes(tx, plan, over)).catch(() => {})
  }

  /** Renews claims, but those that somebody has locked. */
  async extend(held: readonly Held[]): Promise<Extended> {
    const plan = await this.plan()
    const place = placeOf(plan)
    const extended = await this.#session.write(
      async (tx) => {
        const renewed = await place.extend(tx, plan, held)
        const rest = held.filter((one) => !renewed.has(one))
        const kept = rest.length === 0 ? new Set<Held>() : await place.stillHeld(tx, plan, rest)
        return { renewed, lost: new Set(rest.filter((one) => !kept.has(one))) }
      },
      { retryMs: plan.timeoutMs / 3 },
    )
    await this.#forgetNotes(plan, held)
    return extended
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
    return this.#session.read((reader) => isAnyReady(reader, plan, this.#passedOver.except(plan)))
  }

  async counts(): Promise<PollCounts> {
    const plan = await this.plan()
    return this.#session.read((reader) => countsOf(reader, plan))
  }
}

function placeOf({ own }: Plan): Place {
  return own ? ownColumns : claimsTable
}
