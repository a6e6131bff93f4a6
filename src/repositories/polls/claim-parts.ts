/**
 * What a claim is, wherever it is noted. The rows of a batch are claimed in one short transaction under one batch key; the
 * result of each row is recorded in a transaction of its own, which changes nothing if the row has another key by then.
 */
import { randomBytes } from 'node:crypto'
import type { ObjectLiteral } from 'typeorm'
import type { Engine, Reader, Statement, Tx } from '../../database/engine'
import { RecentnError } from '../../errors'
import type { RowRef } from './identity'
import type { PollPlan } from './plan'
import type { LoadedRow } from './rows'

/** The values of `recentn_poll_claims.state`. `locked`: the row has the claim, and somebody else has locked it. */
export const STATE = { claimed: 1, waiting: 2, done: 3, failed: 4, locked: 5 } as const

/** Maximum rows of one statement. */
export const MAX_ROWS = 250

/** Later than any time that comes. */
export const NEVER_MS = 253_402_300_799_999

/** The claim of a row, which it names. */
export interface RowClaim {
  ref: RowRef
  claimKey: string
  /** This one included. */
  attempts: number
  /** The claim before this one ran out: the row may have killed the process that had it. */
  ranOut: boolean
  /** Set when it could not be extended in its row and has a note instead. */
  isNoted?: boolean
  /** Set once the claim has ended: a later note means nothing. */
  isEnded?: boolean
}

export interface LoadedClaim extends RowClaim {
  row: LoadedRow
}

/** A row whose last attempt never came to an end, as it was before that was noted, or the row deleted. */
export interface GivenUp extends RowClaim {
  row: ObjectLiteral | null
  error: string
}

/** How many rows a claim takes. */
export interface ClaimLimits {
  max: number
  /** Maximum of rows whose last claim ran out: as many as can begin at once, so that none waits behind a row that kills. */
  ranOut: number
  /** Rows that match this are not claimed. */
  except?: Statement | null
}

/**
 * Which of the rows whose claim ran out may be taken: up to the limit, and only one whose last attempt it is, so that it
 * runs alone. A row must not be given up because another one killed its process.
 */
export class Careful {
  #left: number
  #hasLast = false
  readonly #maxAttempts: number

  constructor({ ranOut }: ClaimLimits, maxAttempts: number) {
    this.#left = ranOut
    this.#maxAttempts = maxAttempts
  }

  /** `attempts` includes the one that would begin. */
  takes(attempts: number): boolean {
    const isLast = attempts >= this.#maxAttempts
    if (this.#left === 0 || (isLast && this.#hasLast)) return false
    this.#left--
    this.#hasLast ||= isLast
    return true
  }
}

export interface TakenRows {
  held: RowClaim[]
  givenUp: GivenUp[]
  /** One error for each row, which is tried again later. */
  refused?: RefusedClaim[]
  /** Rows were passed over: another claim may find rows behind them. */
  isMore?: boolean
}

/** What becomes of a claim. */
export type RowOutcome =
  | { is: 'done' }
  /** With `error` null the user's column stays as it is. */
  | { is: 'retry'; delayMs: number; error: string | null }
  | { is: 'failed'; error: string | null }
  /** As if it had not been claimed. */
  | { is: 'given back' }

/** The operations on claims, for each place where they are noted: the row, or recentn's own table. */
export interface ClaimStorage {
  take(tx: Tx, plan: PollPlan, limits: ClaimLimits, claimKey: string): Promise<TakenRows>
  /** A condition that a row meets while it has this claim; null when the row does not say. */
  mark(plan: PollPlan, claimKey: string): Statement | null
  /** Locks what the end of a claim changes, without waiting. False: somebody has it locked, or the claim is not held. */
  lockNow(tx: Tx, plan: PollPlan, held: RowClaim): Promise<boolean>
  /** False: the claim is not held any more, and nothing was changed. */
  end(tx: Tx, plan: PollPlan, held: RowClaim, outcome: RowOutcome): Promise<boolean>
  /** Extends claims, except those that somebody has locked: nobody else can take these meanwhile. Resolves to the extended. */
  extend(tx: Tx, plan: PollPlan, held: readonly RowClaim[]): Promise<Set<RowClaim>>
  stillHeld(reader: Reader, plan: PollPlan, held: readonly RowClaim[], lock?: string): Promise<Set<RowClaim>>
}

export const newClaimKey = () => randomBytes(16).toString('base64url')

export const unfinished = (attempts: number) => `Attempt ${attempts} never came to an end`

/** Thrown inside a transaction to leave nothing of it. */
export class ClaimLost extends RecentnError {
  constructor() {
    super('conflict', 'The claim is not held any more')
  }
}

export interface ClaimedRows {
  claims: LoadedClaim[]
  /** Claims that ran out for the last time. */
  givenUp: GivenUp[]
  /** Rows that the table does not allow to be claimed. */
  refused: RefusedRow[]
  /** The next claim may find more, even if this one claimed nothing. */
  isMore: boolean
}

export interface RefusedRow {
  error: RecentnError
  /** What names the row; null when it is gone. */
  key: ObjectLiteral | null
}

/** Claims in neither set are locked by somebody: nobody else can take them until they are free. */
export interface ExtendedClaims {
  extended: ReadonlySet<RowClaim>
  lost: ReadonlySet<RowClaim>
}

/** Maximum rows that are passed over: with more of them the cause is not the rows. */
const MOST = 100

/** Thrown inside a claim, so that nothing of it is left. */
export class RefusedClaim extends RecentnError {
  readonly refs: readonly RowRef[]

  constructor({ table }: PollPlan, refs: readonly RowRef[], cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause)
    super('database_refused', `The table ${table.name} does not let this row be claimed: ${why}`, { cause })
    this.refs = refs
  }
}

/** Whether the error is about these rows, and not about the server or its settings. */
export function isRefusal(engine: Engine, error: unknown): boolean {
  return !(error instanceof RecentnError) && engine.failure(error) === 'other' && engine.refusal(error) === undefined
}

export class PassedOver {
  readonly #rows = new Map<string, { ref: RowRef; until: number }>()

  /** False: there are too many. */
  add(ref: RowRef, ms: number): boolean {
    if (this.#rows.size >= MOST) return false
    this.#rows.set(ref.rowKey, { ref, until: performance.now() + ms })
    return true
  }

  /** SQL that leaves them out; null where there are none. */
  except({ identity }: PollPlan): Statement | null {
    for (const [rowKey, { until }] of this.#rows) if (until <= performance.now()) this.#rows.delete(rowKey)
    const refs = [...this.#rows.values()].map(({ ref }) => ref)
    if (refs.length === 0) return null
    const parts = identity.isKey ? [identity.any(refs)] : refs.map((ref) => identity.any([ref]))
    return {
      sql: parts.map(({ sql }) => `NOT (${sql})`).join(' AND '),
      parameters: parts.flatMap(({ parameters }) => parameters),
    }
  }
}
