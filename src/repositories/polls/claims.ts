/**
 * What a claim is, for whichever place it is noted in. A batch of rows is claimed in one short transaction under one batch
 * key; the result of each row is a transaction of its own, which changes nothing where the row has another key by now.
 */
import { randomBytes } from 'node:crypto'
import type { ObjectLiteral } from 'typeorm'
import type { Engine, Parameter, Reader, Row, Statement, Tx } from '../../database/engine'
import { RecentnError } from '../../errors'
import { chunksOf } from '../chunks'
import type { RowRef } from './identity'
import type { Plan } from './plan'
import { isRefusal, RefusedClaim } from './refused'
import type { Loaded } from './rows'

/** Rows of one statement. */
export const MAX_ROWS = 250

/** Later than any time that comes. */
export const NEVER_MS = 253_402_300_799_999

/** A row that was claimed, by name. */
export interface Held {
  ref: RowRef
  claimKey: string
  /** This one included. */
  attempts: number
  /** The claim before this one ran out: the row may have killed who had it. */
  ranOut: boolean
  /** Set where it could not be renewed in its row, and was noted elsewhere. */
  isNoted?: boolean
  /** Set once it is over: a note that comes later is for nothing. */
  isEnded?: boolean
}

export interface Claim extends Held {
  row: Loaded
}

/** A row whose last attempt never came to an end, as it was before that was noted, or the row deleted. */
export interface GivenUp extends Held {
  row: ObjectLiteral | null
  error: string
}

/** How many rows a claim takes. */
export interface Limits {
  max: number
  /** Of those whose claim before ran out: as many as begin at once, so that none waits behind one that kills. */
  ranOut: number
  /** Left out. */
  except?: Statement | null
}

/**
 * Which of the rows whose claim ran out may be taken: not more than the limit, and one for which it is the last attempt,
 * so that it runs by itself. A row that dies of another must not be given up for it.
 */
export class Careful {
  #left: number
  #hasLast = false
  readonly #maxAttempts: number

  constructor({ ranOut }: Limits, maxAttempts: number) {
    this.#left = ranOut
    this.#maxAttempts = maxAttempts
  }

  /** `attempts` counts the one that would begin. */
  takes(attempts: number): boolean {
    const isLast = attempts >= this.#maxAttempts
    if (this.#left === 0 || (isLast && this.#hasLast)) return false
    this.#left--
    this.#hasLast ||= isLast
    return true
  }
}

export interface Taken {
  held: Held[]
  givenUp: GivenUp[]
  /** Each of one row, which is looked at again later. */
  refused?: RefusedClaim[]
  /** Rows were passed over that would keep others waiting no more if it was looked again. */
  isMore?: boolean
}

/** What becomes of a claim. */
export type Outcome =
  | { is: 'done' }
  /** `error`: null leaves the user's column as it is. */
  | { is: 'retry'; delayMs: number; error: string | null }
  | { is: 'failed'; error: string | null }
  /** As if it had not been claimed. */
  | { is: 'released' }

/** Where claims are noted: in the row, or in recentn's own table. */
export interface Place {
  take(tx: Tx, plan: Plan, limits: Limits, claimKey: string): Promise<Taken>
  /** What is true of a row while it has this claim; null where the row does not say. */
  mark(plan: Plan, claimKey: string): Statement | null
  /** Locks what the end of a claim changes, without waiting; false: somebody has it locked, or the claim is not held. */
  lockNow(tx: Tx, plan: Plan, held: Held): Promise<boolean>
  /** False: the claim is not held any more, and nothing was changed. */
  end(tx: Tx, plan: Plan, held: Held, outcome: Outcome): Promise<boolean>
  /** Renews claims but those that somebody has locked, which nobody else can take meanwhile; resolves to those renewed. */
  extend(tx: Tx, plan: Plan, held: readonly Held[]): Promise<Set<Held>>
  stillHeld(reader: Reader, plan: Plan, held: readonly Held[], lock?: string): Promise<Set<Held>>
}

export const newClaimKey = () => randomBytes(16).toString('base64url')

export const unfinished = (attempts: number) => `Attempt ${attempts} never came to an end`

/** SQL of the WHERE that makes rows eligible, its parts joined; each part's parameters in order. */
export class Conditions {
  readonly #parts: string[] = []
  readonly parameters: Parameter[] = []

  and(sql: string, parameters: readonly Parameter[] = []): this {
    this.#parts.push(sql)
    for (const parameter of parameters) this.parameters.push(parameter)
    return this
  }

  andAll(statement: Statement | null | undefined): this {
    return statement ? this.and(statement.sql, statement.parameters) : this
  }

  /** All of them as one; null where there are none. */
  get all(): Statement | null {
    if (this.#parts.length === 0) return null
    return { sql: this.#parts.join(' AND '), parameters: this.parameters }
  }

  /** With its WHERE. */
  get sql(): string {
    return this.all ? ` WHERE ${this.all.sql}` : ''
  }
}

/** Chooses rows and locks them, passing over those that others have locked. */
export async function chooseRows(tx: Tx, plan: Plan, conditions: Conditions, max: number, more = ''): Promise<Row[]> {
  return tx.rows(chooseSql(tx.engine, plan, conditions, max, more), conditions.parameters)
}

export function chooseSql(engine: Engine, plan: Plan, conditions: Conditions, max: number, more = ''): string {
  const { table, identity, order, hint } = plan
  const columns = order.map((name) => `${table.path}.${table.escape(name)}`)
  const by = columns.length === 0 ? '' : ` ORDER BY ${columns.join(', ')}`
  // Rows without a key can be alike, and one name is one claim.
  const limit = identity.isKey ? max : 1
  return (
    `SELECT ${identity.columns}${more} FROM ${table.path}${hint}${conditions.sql}${by} ` +
    `LIMIT ${limit}${engine.forUpdateSkipLocked}`
  )
}

/** Throws where a claim did not take the rows that it has locked, so that nothing of it is left. */
export function checkClaimed({ table }: Plan, chosen: number, claimed: number): void {
  if (chosen === claimed) return
  throw new RecentnError(
    'database_refused',
    `Of ${chosen} rows of ${table.name} that were chosen ${claimed} can be found as they were marked: is there a null in ` +
      'their key, or a trigger that changes their key, or the status or batch key that is written?',
  )
}

/** Marks rows that are locked as claimed. Throws a `RefusedClaim` where the table does not let it. */
export async function markRows(
  tx: Tx,
  plan: Plan,
  refs: readonly RowRef[],
  sets: readonly [string, ...Parameter[]],
  condition: readonly [string, ...Parameter[]],
): Promise<void> {
  const marking = updateRows(tx, plan, refs, sets, condition).catch((error: unknown) => {
    throw isRefusal(tx.engine, error) ? new RefusedClaim(plan, refs, error) : error
  })
  checkClaimed(plan, refs.length, await marking)
}

/** Sets columns of rows; resolves to how many there were. */
export async function updateRows(
  tx: Tx,
  plan: Plan,
  refs: readonly RowRef[],
  [sets, ...values]: readonly [string, ...Parameter[]],
  [condition, ...compared]: readonly [string, ...Parameter[]],
): Promise<number> {
  const { table, identity, keyHint } = plan
  let changed = 0
  for (const chunk of chunksOf(refs, identity.isKey ? MAX_ROWS : 1)) {
    const { sql, parameters } = identity.any(chunk)
    const where = `${sql} AND ${condition}`
    const statement = identity.isKey
      ? `UPDATE ${table.path}${keyHint} SET ${sets} WHERE ${where}`
      : tx.engine.rowFacts.updateOne(table.path, sets, where)
    changed += await tx.run(statement, [...values, ...parameters, ...compared])
  }
  return changed
}

export async function deleteRow(
  tx: Tx,
  plan: Plan,
  ref: RowRef,
  [condition, ...compared]: readonly [string, ...Parameter[]],
): Promise<number> {
  const { table, identity } = plan
  const { sql, parameters } = identity.any([ref])
  const where = `${sql} AND ${condition}`
  const statement = identity.isKey
    ? `DELETE FROM ${table.path} WHERE ${where}`
    : tx.engine.rowFacts.deleteOne(table.path, where)
  return tx.run(statement, [...parameters, ...compared])
}

/** False: the table refuses what the work does, and nothing of its last statement is left. */
export async function accepted(tx: Tx, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (!isRefusal(tx.engine, error)) throw error
    return false
  }
}

/** Thrown inside a transaction to leave nothing of it. */
export class Lost extends RecentnError {
  constructor() {
    super('conflict', 'The claim is not held any more')
  }
}
