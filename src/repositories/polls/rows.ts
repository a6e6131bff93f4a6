/**
 * The statements on the user's rows: a claim chooses, locks and marks them, reads them, and changes or deletes them in the
 * end. The user's code that makes something of a row (transformers, JSON) runs later and for each row by itself, so that a
 * row that can't be read affects no other.
 */
import type { ObjectLiteral } from 'typeorm'
import type { Engine, Parameter, Reader, Row, Statement, Tx } from '../../database/engine'
import { RecentnError } from '../../errors'
import { chunksOf } from '../chunks'
import { type GivenUp, isRefusal, MAX_ROWS, RefusedClaim, type RowClaim, unfinished } from './claim-parts'
import type { RowRef } from './identity'
import type { PollPlan } from './plan'

/** A WHERE: its parts joined by AND, with their parameters in order. */
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

  /** All parts as one condition; null when there are none. */
  get all(): Statement | null {
    if (this.#parts.length === 0) return null
    return { sql: this.#parts.join(' AND '), parameters: this.parameters }
  }

  /** Begins with WHERE; empty when there are no parts. */
  get sql(): string {
    return this.all ? ` WHERE ${this.all.sql}` : ''
  }
}

/** SQL that chooses rows and locks them, passing over those that others have locked. */
export function chooseSql(engine: Engine, plan: PollPlan, conditions: Conditions, max: number, more = ''): string {
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

/** Throws when a claim did not mark all the rows that it has locked, so that the claim is rolled back. */
export function checkClaimed({ table }: PollPlan, chosen: number, claimed: number): void {
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
  plan: PollPlan,
  refs: readonly RowRef[],
  sets: readonly [string, ...Parameter[]],
  condition: readonly [string, ...Parameter[]],
): Promise<void> {
  const marking = updateRows(tx, plan, refs, sets, condition).catch((error: unknown) => {
    throw isRefusal(tx.engine, error) ? new RefusedClaim(plan, refs, error) : error
  })
  checkClaimed(plan, refs.length, await marking)
}

/** Sets columns of rows; resolves to the number of rows changed. */
export async function updateRows(
  tx: Tx,
  plan: PollPlan,
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
  plan: PollPlan,
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

export interface LoadedRow {
  /** The row as the user's code knows it, without what the claim wrote. Throws what a transformer of the user's throws. */
  load(): ObjectLiteral
  /** The columns of its key, by the user's names; all columns when it has no key. */
  key: ObjectLiteral
}

/** The rows that meet `also`, by row key. */
export async function readRows(
  reader: Reader,
  plan: PollPlan,
  refs: readonly RowRef[],
  also: Statement | null = null,
): Promise<Map<string, LoadedRow>> {
  const { table, identity } = plan
  const rows = new Map<string, LoadedRow>()
  const hidden = hiddenOf(plan)
  for (const chunk of chunksOf(refs, identity.isKey ? MAX_ROWS : 1)) {
    const { sql, parameters } = identity.any(chunk)
    const found = await reader.rows(
      `SELECT ${table.selected}, ${identity.rowKey} AS recentn_row_key FROM ${table.path} WHERE ${sql}${also ? ` AND ${also.sql}` : ''}`,
      [...parameters, ...(also?.parameters ?? [])],
    )
    for (const { recentn_row_key: rowKey, ...raw } of found) {
      // A row without a key is read alone, and may have changed since it was named.
      const name = identity.isKey ? (rowKey as string) : (chunk[0] as RowRef).rowKey
      rows.set(name, { load: () => table.rowOf(raw, hidden), key: keyOf(plan, raw, hidden) })
    }
  }
  return rows
}

/** What a claim writes: a handler that saves its row late must not overwrite what a later claim has written. */
function hiddenOf({ table, status, own }: PollPlan): ReadonlySet<string> {
  const written = new Set([status?.column, own?.claim, own?.attempts, own?.nextTime])
  const names = table.columns.map(({ name }) => name)
  // Half a primary key would be another row's.
  return new Set(names.filter((name) => written.has(table.escape(name)) && !table.primaryKey.includes(name)))
}

function keyOf({ table, identity }: PollPlan, raw: Row, hidden: ReadonlySet<string>): ObjectLiteral {
  const names = identity.isKey ? identity.key : Object.keys(raw).filter((name) => !hidden.has(name))
  const property = new Map(table.columns.map((column) => [column.name, column.property]))
  return Object.fromEntries(names.map((name) => [property.get(name) ?? name, raw[name]]))
}

/** The claim with its row, as it is before it is given up. */
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
