/**
 * The rows of the user's table: what names them, and the statements that choose, read, change and delete them. The user's
 * code that makes something of a row (transformers, JSON) runs later and for each row by itself, so that a row that can't
 * be read affects no other.
 *
 * Invariant: a statement changes only rows that it names, and only while they meet the condition that it is given.
 */
import type { ObjectLiteral } from 'typeorm'
import type { RowFacts } from '../../database/dialect/row-facts'
import type { Engine, Parameter, Reader, Row, Statement, Tx } from '../../database/engine'
import type { Table } from '../../database/user-tables/table'
import type { TableColumn } from '../../database/user-tables/table-parts'
import { RecentnError } from '../../shared/errors'
import { chunksOf } from '../chunks'

export const MAX_ROWS = 250

export function part(sql: string, ...parameters: Parameter[]): Statement {
  return { sql, parameters }
}

export function allOf(...conditions: readonly (Statement | null | undefined)[]): Statement {
  const given = conditions.filter((one) => one !== null && one !== undefined)
  if (given.length === 0) return part('1 = 1')
  return { sql: given.map(({ sql }) => sql).join(' AND '), parameters: given.flatMap(({ parameters }) => parameters) }
}

export interface RowRef {
  rowKey: string
  /** The literals of its key, or of its sequence when it has no key. */
  values: readonly string[]
  /** The batch key of a claimed row, by which it is found when nothing else distinguishes it. */
  claimedBy?: string
}

export class Identity {
  /** `compared`: the key; or, where `isKey` is false, all columns that do not change. */
  constructor(
    private readonly table: Table,
    private readonly facts: RowFacts,
    private readonly compared: readonly TableColumn[],
    /** The key, or the sequence when there is none. */
    private readonly found: readonly TableColumn[],
    /** False: rows that are equal in all columns can't be distinguished. */
    readonly isKey: boolean,
    /** SQL of the column for batch keys; null when there is none. */
    private readonly claims: string | null,
  ) {}

  /** Without a key, and found by its batch key while it is claimed. */
  get isMarked(): boolean {
    return !this.isKey && this.claims !== null
  }

  get key(): readonly string[] {
    return this.isKey ? this.compared.map(({ name }) => name) : []
  }

  /** SQL of the row key. Each column has its table's name, so that the SQL can be used in a subquery. */
  get rowKey(): string {
    const exacts = this.compared.map((column) => this.#exact(column))
    const types = this.compared.map(({ type }) => type)
    return this.facts.rowKey(exacts, types)
  }

  #exact({ name, type }: TableColumn): string {
    return this.facts.exact(`${this.table.path}.${this.table.escape(name)}`, type)
  }

  /** SQL for a SELECT, from which `refOf` makes the names of rows. */
  get columns(): string {
    const values = this.found.map((column, at) => `${this.#exact(column)} AS recentn_value_${at}`)
    return [...values, `${this.rowKey} AS recentn_row_key`].join(', ')
  }

  refOf(row: Row): RowRef {
    return {
      rowKey: row.recentn_row_key as string,
      values: this.found.map((_, at) => String(row[`recentn_value_${at}`] ?? 'NULL')),
    }
  }

  /** A condition that these rows meet; one row only when no key tells them apart. */
  any(refs: readonly RowRef[]): Statement {
    if (!this.isKey) return this.#alike(refs[0] as RowRef)
    const [first] = this.found
    if (this.found.length === 1 && first) {
      const list = refs.map(({ values }) => checkedLiteral(this.facts, values[0]))
      return part(`${this.table.escape(first.name)} IN (${list.join(', ')})`)
    }
    return part(`(${refs.map(({ values }) => `(${this.#equal(values)})`).join(' OR ')})`)
  }

  /** Its owner may change any column of a claimed row except the batch key. */
  #alike({ rowKey, values, claimedBy }: RowRef): Statement {
    if (this.isMarked && claimedBy !== undefined) return part(`${this.claims} = ?`, claimedBy)
    return part([this.#equal(values), `${this.rowKey} = ?`].filter(Boolean).join(' AND '), rowKey)
  }

  #equal(values: readonly string[]): string {
    const equal = this.found.map(({ name }, at) => {
      const literal = checkedLiteral(this.facts, values[at])
      return literal === 'NULL' ? `${this.table.escape(name)} IS NULL` : `${this.table.escape(name)} = ${literal}`
    })
    return equal.join(' AND ')
  }
}

/** Throws for a text that the database would not have written as a literal: the table of claims is not trusted. */
export function checkedLiteral(facts: RowFacts, value: string | undefined): string {
  if (value !== undefined && facts.literal.test(value)) return value
  throw new RecentnError('internal', `The name of a row is no literal: ${String(value).slice(0, 100)}`)
}

export interface PolledTable {
  table: Table
  identity: Identity
  /** Columns that a claim writes: a handler that saves its row late must not overwrite what a later claim has written. */
  hidden: ReadonlySet<string>
  /** Names of the columns that a claim is ordered by. */
  order: readonly string[]
  /** SQL behind the table's name in a claim. */
  hint: string
  /** SQL behind the table's name in statements that find rows by their key. */
  keyHint: string
}

/** SQL that chooses rows and locks them, passing over those that others have locked. */
export function chooseSql(engine: Engine, polled: PolledTable, condition: Statement, max: number, more = ''): string {
  const { table, identity, order, hint } = polled
  const columns = order.map((name) => `${table.path}.${table.escape(name)}`)
  const by = columns.length === 0 ? '' : ` ORDER BY ${columns.join(', ')}`
  // Rows without a key can be alike, and one name is one claim.
  const limit = identity.isKey ? max : 1
  return (
    `SELECT ${identity.columns}${more} FROM ${table.path}${hint} WHERE ${condition.sql}${by} ` +
    `LIMIT ${limit}${engine.forUpdateSkipLocked}`
  )
}

/** Sets columns of rows that meet `fence`; resolves to the number of rows changed. */
export async function updateRows(
  tx: Tx,
  { table, identity, keyHint }: PolledTable,
  refs: readonly RowRef[],
  sets: Statement,
  fence: Statement,
): Promise<number> {
  let changed = 0
  for (const chunk of chunksOf(refs, identity.isKey ? MAX_ROWS : 1)) {
    const { sql: where, parameters } = allOf(identity.any(chunk), fence)
    const statement = identity.isKey
      ? `UPDATE ${table.path}${keyHint} SET ${sets.sql} WHERE ${where}`
      : tx.engine.rowFacts.updateOne(table.path, sets.sql, where)
    changed += await tx.run(statement, [...sets.parameters, ...parameters])
  }
  return changed
}

/** Resolves to whether there was such a row that met `fence`. */
export async function deleteRow(
  tx: Tx,
  { table, identity }: PolledTable,
  ref: RowRef,
  fence: Statement,
): Promise<boolean> {
  const { sql: where, parameters } = allOf(identity.any([ref]), fence)
  const statement = identity.isKey
    ? `DELETE FROM ${table.path} WHERE ${where}`
    : tx.engine.rowFacts.deleteOne(table.path, where)
  return (await tx.run(statement, parameters)) > 0
}

export interface LoadedRow {
  /** The row as the user's code knows it, without what the claim wrote. Throws what a transformer of the user's throws. */
  load(): ObjectLiteral
  /** The columns of its key, by the user's names; all columns when it has no key. */
  key: ObjectLiteral
}

export async function readRows(
  reader: Reader,
  polled: PolledTable,
  refs: readonly RowRef[],
  also: Statement | null = null,
): Promise<Map<string, LoadedRow>> {
  const { table, identity, hidden } = polled
  const rows = new Map<string, LoadedRow>()
  for (const chunk of chunksOf(refs, identity.isKey ? MAX_ROWS : 1)) {
    const { sql, parameters } = allOf(identity.any(chunk), also)
    const found = await reader.rows(
      `SELECT ${table.selected}, ${identity.rowKey} AS recentn_row_key FROM ${table.path} WHERE ${sql}`,
      parameters,
    )
    for (const { recentn_row_key: rowKey, ...raw } of found) {
      // A row without a key is read alone, and may have changed since it was named.
      const name = identity.isKey ? (rowKey as string) : (chunk[0] as RowRef).rowKey
      rows.set(name, { load: () => table.rowOf(raw, hidden), key: keyOf(polled, raw) })
    }
  }
  return rows
}

function keyOf({ table, identity, hidden }: PolledTable, raw: Row): ObjectLiteral {
  const names = identity.isKey ? identity.key : Object.keys(raw).filter((name) => !hidden.has(name))
  const property = new Map(table.columns.map((column) => [column.name, column.property]))
  return Object.fromEntries(names.map((name) => [property.get(name) ?? name, raw[name]]))
}
