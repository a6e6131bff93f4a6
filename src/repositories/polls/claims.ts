/**
 * A claim, wherever it is noted. The rows of a batch are claimed in one short transaction under one batch key. The
 * result of each row is recorded in its own transaction, which changes nothing if the row has another key by then.
 */
import { randomBytes } from 'node:crypto'
import type { ObjectLiteral } from 'typeorm'
import type { Engine, Parameter, Reader, Statement, Tx } from '../../database/engine'
import { RecentnError } from '../../shared/errors'
import type { Status } from './columns'
import type { PollPlan } from './plan'
import { type LoadedRow, type RowRef, readRows, updateRows } from './rows'

/** The values of `recentn_poll_claims.state`. `locked`: the row has the claim, and another transaction has locked it. */
export const STATE = { claimed: 1, waiting: 2, done: 3, failed: 4, locked: 5 } as const

/** Later than any time that comes. */
export const NEVER_MS = 253_402_300_799_999

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

export interface ClaimLimits {
  max: number
  /** Maximum of rows whose last claim ran out: as many as can begin at once, so that none waits behind a row that kills. */
  ranOut: number
  except?: Statement | null
}

/**
 * Which of the rows whose claim ran out may be taken: up to the limit, and only one whose last attempt it is, so that it
 * runs alone. A row must not be given up because another one killed its process.
 */
export class Careful {
  #left: number
  #hasLast = false

  constructor(
    { ranOut }: ClaimLimits,
    private readonly maxAttempts: number,
  ) {
    this.#left = ranOut
  }

  /** `attempts` includes the one that would begin. */
  takes(attempts: number): boolean {
    const isLast = attempts >= this.maxAttempts
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
  refused: RefusedClaim[]
  /** Rows were passed over: another claim may find rows behind them. */
  isMore: boolean
}

export type RowOutcome =
  /** `word`: one of the status's `results`. */
  | { is: 'done'; word?: unknown }
  /** With `error` null the user's column stays as it is. */
  | { is: 'retry'; delayMs: number; error: string | null }
  | { is: 'failed'; error: string | null }
  /** As if it had not been claimed. */
  | { is: 'given back' }

/** The value of the status of a row that is over. */
export function wordOf({ done, error, results }: Status, outcome: RowOutcome): Parameter {
  if (outcome.is !== 'done') return error
  return results?.get(outcome.word) ?? done
}

export function deletesRow(plan: PollPlan, { is }: RowOutcome): boolean {
  return is === 'done' ? plan.onDone === 'delete' : is === 'failed' && plan.deletesFailed
}

/** The operations on claims, for each place where they are noted: the row, or recentn's own table. */
export interface ClaimStorage {
  take(tx: Tx, plan: PollPlan, limits: ClaimLimits, claimKey: string): Promise<TakenRows>
  /** A condition that a row meets while it has this claim; null when the row does not say. */
  mark(plan: PollPlan, claimKey: string): Statement | null
  /** Locks what the end of a claim changes, without waiting. False: a transaction has it locked, or the claim is not held. */
  lockNow(tx: Tx, plan: PollPlan, held: RowClaim): Promise<boolean>
  /** False: the claim is not held any more, and nothing was changed. */
  end(tx: Tx, plan: PollPlan, held: RowClaim, outcome: RowOutcome): Promise<boolean>
  /** Extends claims, except those that are locked: no other poller can take these until then. Resolves to the extended. */
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
  refused: RefusedRow[]
  /** The next claim may find more, even if this one claimed nothing. */
  isMore: boolean
}

export interface RefusedRow {
  error: RecentnError
  /** The key of the row; null when it is gone. */
  key: ObjectLiteral | null
}

/** Claims in neither set are locked: no other poller can take them until they are free. */
export interface ExtendedClaims {
  extended: ReadonlySet<RowClaim>
  lost: ReadonlySet<RowClaim>
}

/** Thrown inside a claim, so that nothing of it is left. */
export class RefusedClaim extends RecentnError {
  constructor(
    { table }: PollPlan,
    readonly refs: readonly RowRef[],
    cause: unknown,
  ) {
    const why = cause instanceof Error ? cause.message : String(cause)
    super('database_refused', `The table ${table.name} does not let this row be claimed: ${why}`, { cause })
  }
}

/** Whether the error is about these rows, and not about the server or its settings. */
function isRefusal(engine: Engine, error: unknown): boolean {
  return !(error instanceof RecentnError) && engine.failure(error) === 'other' && engine.refusal(error) === undefined
}

/** False: the table refuses the work's last statement, which has changed nothing. */
export async function accepted(tx: Tx, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (!isRefusal(tx.engine, error)) throw error
    return false
  }
}

/** Marks rows that are locked as claimed. Throws a `RefusedClaim` where the table does not let it. */
export async function markRows(
  tx: Tx,
  plan: PollPlan,
  refs: readonly RowRef[],
  sets: Statement,
  fence: Statement,
): Promise<void> {
  const marking = updateRows(tx, plan, refs, sets, fence).catch((error: unknown) => {
    throw isRefusal(tx.engine, error) ? new RefusedClaim(plan, refs, error) : error
  })
  checkClaimed(plan, refs.length, await marking)
}

/** Throws when a claim did not mark all the rows that it has locked, so that the claim is rolled back. */
export function checkClaimed({ table }: PollPlan, chosen: number, claimed: number): void {
  if (chosen === claimed) return
  throw new RecentnError(
    'database_refused',
    `Of ${chosen} rows of ${table.name} that were chosen ${claimed} can be found as they were marked: is there a null in ` +
      'their key, or a trigger that changes their key, or the status or batch key that is written?',
  )
}

export function changeNote(
  tx: Tx,
  { pollId }: PollPlan,
  { rowKey }: RowRef,
  sets: string,
  ...values: readonly Parameter[]
): Promise<void> {
  const here = `poll_id = ${pollId} AND row_key = ?`
  return tx.later(`UPDATE ${tx.tables.pollClaims} SET ${sets} WHERE ${here}`, [...values, rowKey])
}

export function deleteNote(tx: Tx, { pollId }: PollPlan, { rowKey }: RowRef): Promise<void> {
  return tx.later(`DELETE FROM ${tx.tables.pollClaims} WHERE poll_id = ${pollId} AND row_key = ?`, [rowKey])
}

export async function asGivenUp(reader: Reader, plan: PollPlan, held: RowClaim): Promise<GivenUp> {
  const row = (await readRows(reader, plan, [held.ref])).get(held.ref.rowKey)
  return { ...held, row: row ? readable(row) : null, error: unfinished(held.attempts) }
}

function readable({ load, key }: LoadedRow): ObjectLiteral {
  try {
    return load()
  } catch {
    return key
  }
}
