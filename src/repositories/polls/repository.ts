/**
 * One poll of one table: claims, results, extensions and the cursor, each in its own short transaction. No timers, and
 * no state but what its memory keeps.
 */
import type { DataSource } from 'typeorm'
import type { Session, Tx } from '../../database/engine'
import { RecentnError } from '../../shared/errors'
import { performance } from '../../shared/platform'
import type { PollCounts, PollShape } from '../../shared/poll-types'
import {
  type ClaimedRows,
  type ClaimLimits,
  ClaimLost,
  type ClaimStorage,
  checkClaimed,
  type ExtendedClaims,
  type LoadedClaim,
  newClaimKey,
  RefusedClaim,
  type RefusedRow,
  type RowClaim,
  type RowOutcome,
} from './claims'
import { claimsTable } from './claims-table'
import { tidyNotes } from './due'
import { forgetNotes } from './locked-notes'
import { PollMemory } from './memory'
import { ownColumns } from './own-columns'
import { type PollPlan, type PollTarget, planOf } from './plan'
import { countsOf, isAnyReady, moveCursor } from './ready'
import { allOf, type LoadedRow, readRows } from './rows'

const GIVE_BACK_RETRY_MS = 5000

export class PollRepository {
  readonly #memory = new PollMemory()

  constructor(
    private readonly source: DataSource,
    private readonly session: Session,
    private readonly target: PollTarget,
    private readonly options: PollShape,
  ) {}

  /** Throws `invalid_input` for options that don't fit the table. */
  plan(): Promise<PollPlan> {
    return this.#memory.plan(() => planOf(this.source, this.session, this.target, this.options))
  }

  forgetPlan(): void {
    this.#memory.forgetPlan()
  }

  /** Claims rows; those that are due again come first. A batch that the table refuses is claimed in halves. */
  async claim(limits: ClaimLimits): Promise<ClaimedRows> {
    const plan = await this.plan()
    await this.#giveBackUnknown()
    const except = this.#memory.except(plan)
    for (let { max } = limits; ; ) {
      try {
        return await this.#claim(plan, { ...limits, max, except })
      } catch (error) {
        if (!(error instanceof RefusedClaim)) throw error
        const [ref] = error.refs
        if (error.refs.length > 1 || ref === undefined) max = Math.floor(error.refs.length / 2)
        else if (!this.#memory.passOver(ref, plan.timeoutMs)) throw error
        else return { claims: [], givenUp: [], refused: await this.#withKeys(plan, [error]), isMore: true }
      }
    }
  }

  async #claim(plan: PollPlan, limits: ClaimLimits): Promise<ClaimedRows> {
    const place = placeOf(plan)
    let claims: LoadedClaim[] = []
    let arrived: ReadonlySet<RowClaim> | null = null
    const work = async (tx: Tx) => {
      const [began, claimKey] = [performance.now(), newClaimKey()]
      claims = []
      arrived = null
      const { held, ...rest } = await place.take(tx, plan, limits, claimKey)
      // The ends of the claims were written before it was known how long this takes.
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
    const taken = await this.session.write(work, { arrived: isThere }).catch((error: unknown) => {
      const isUnknown = error instanceof RecentnError && error.code === 'outcome_unknown'
      if (isUnknown) for (const claim of claims) this.#memory.unknown.add(claim)
      throw error
    })
    const known = arrived as ReadonlySet<RowClaim> | null
    const kept = known ? claims.filter((claim) => known.has(claim)) : claims
    return { ...taken, claims: kept, refused: await this.#withKeys(plan, taken.refused) }
  }

  /** Claims that may or may not exist: no handler has seen their rows, so no attempt counts. */
  async #giveBackUnknown(): Promise<void> {
    const { unknown } = this.#memory
    for (const held of [...unknown]) {
      // One whose row is locked is given back the next time, unless it has run out by then.
      if ((await this.giveBack(held)) !== 'locked') unknown.delete(held)
    }
  }

  async #withKeys(plan: PollPlan, refused: readonly RefusedClaim[]): Promise<RefusedRow[]> {
    if (refused.length === 0) return []
    const refs = refused.flatMap((error) => error.refs)
    const rows = await this.session.read((reader) => readRows(reader, plan, refs))
    return refused.map((error) => ({ error, key: rows.get(error.refs[0]?.rowKey ?? '')?.key ?? null }))
  }

  /** The row of a claim as it is now; null when it does not match `where` any more, or is not as the claim left it. */
  async reread({ ref, claimKey }: LoadedClaim): Promise<LoadedRow | null> {
    const plan = await this.plan()
    const also = allOf(placeOf(plan).mark(plan, claimKey), plan.where)
    const rows = await this.session.read((reader) => readRows(reader, plan, [ref], also))
    return rows.get(ref.rowKey) ?? null
  }

  /** One transaction. False: the claim ran out and another has it, or the row was changed; the result is not recorded. */
  async end(held: RowClaim, outcome: RowOutcome): Promise<boolean> {
    const plan = await this.plan()
    const isRecorded = await this.#ended(plan, held, (tx) => placeOf(plan).end(tx, plan, held, outcome))
    held.isEnded = true
    await this.#forgetNotes(plan, [held])
    return isRecorded
  }

  /** Ends a claim as if it had not been made. Does not wait for a locked row. */
  async giveBack(held: RowClaim): Promise<'given back' | 'lost' | 'locked'> {
    const plan = await this.plan()
    const place = placeOf(plan)
    let isLocked = false
    const givesBack = async (tx: Tx) => {
      isLocked = false
      if (await place.lockNow(tx, plan, held)) return place.end(tx, plan, held, { is: 'given back' })
      isLocked = (await place.stillHeld(tx, plan, [held])).has(held)
      return false
    }
    const isGivenBack = await this.#ended(plan, held, givesBack, GIVE_BACK_RETRY_MS)
    if (isLocked) return 'locked'
    held.isEnded = true
    await this.#forgetNotes(plan, [held])
    return isGivenBack ? 'given back' : 'lost'
  }

  #ended(plan: PollPlan, held: RowClaim, work: (tx: Tx) => Promise<boolean>, retryMs?: number): Promise<boolean> {
    const ended = this.session.write(work, {
      // Either our commit happened, or another poller has claimed the row: there is nothing left to record.
      arrived: async (tx) => !(await placeOf(plan).stillHeld(tx, plan, [held], tx.engine.forUpdate)).has(held),
      retryMs,
    })
    return ended.catch((error: unknown) => {
      if (error instanceof ClaimLost) return false
      throw error
    })
  }

  /** After the end of a claim and after an extension, whichever is later: neither may have seen what the other did. */
  async #forgetNotes(plan: PollPlan, held: readonly RowClaim[]): Promise<void> {
    const over = held.filter(({ isEnded, isNoted }) => isEnded && isNoted)
    // A note that stays means nothing, and is deleted when its row is claimed again.
    if (over.length > 0) await this.session.write((tx) => forgetNotes(tx, plan, over)).catch(() => {})
  }

  async extend(held: readonly RowClaim[]): Promise<ExtendedClaims> {
    const plan = await this.plan()
    const place = placeOf(plan)
    const outcome = await this.session.write(
      async (tx) => {
        const extended = await place.extend(tx, plan, held)
        const rest = held.filter((one) => !extended.has(one))
        const kept = rest.length === 0 ? new Set<RowClaim>() : await place.stillHeld(tx, plan, rest)
        return { extended, lost: new Set(rest.filter((one) => !kept.has(one))) }
      },
      { retryMs: plan.timeoutMs / 3 },
    )
    await this.#forgetNotes(plan, held)
    return outcome
  }

  /** Moves the cursor a page further, or deletes old notes of a page; resolves to whether there may be more pages. */
  async tidy(): Promise<boolean> {
    const plan = await this.plan()
    if ((plan.status || plan.cycle) && !plan.own && plan.identity.isKey) {
      this.#memory.tidied = await tidyNotes(this.session, plan, this.#memory.tidied)
      return this.#memory.tidied !== null
    }
    if (!plan.sequence) return false
    return this.session.write((tx) => moveCursor(tx, plan))
  }

  async isAnyReady(): Promise<boolean> {
    if (this.#memory.unknown.size > 0) return true
    const plan = await this.plan()
    return this.session.read((reader) => isAnyReady(reader, plan, this.#memory.except(plan)))
  }

  async counts(): Promise<PollCounts> {
    const plan = await this.plan()
    return this.session.read((reader) => countsOf(reader, plan))
  }
}

function placeOf({ own }: PollPlan): ClaimStorage {
  return own ? ownColumns : claimsTable
}
