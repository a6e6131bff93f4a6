/**
 * What tells the rows of a table of the user's apart: the columns of a key, or everything that does not change. Rows are
 * found again by SQL literals that the database wrote of their key.
 */

import type { Parameter, Row, Statement } from '../../database/engine'
import type { RowFacts } from '../../database/row-facts'
import type { Table } from '../../database/table'
import type { TableColumn } from '../../database/table-parts'
import { RecentnError } from '../../errors'

/** A row of the user's, by name. */
export interface RowRef {
  rowKey: string
  /** The literals of its key, or of its sequence where it has no key. */
  values: readonly string[]
  /** Of a row that is claimed: the batch key, by which it is found where nothing else tells it apart. */
  claimedBy?: string
}

export class Identity {
  readonly #table: Table
  readonly #facts: RowFacts
  /** The key, or the sequence where there is none. */
  readonly #found: readonly TableColumn[]
  readonly #compared: readonly TableColumn[]
  /** False: rows that are alike in all columns can't be told apart. */
  readonly isKey: boolean
  /** SQL of the column in which batch keys stand; null where there is none. */
  readonly #claims: string | null

  /** `compared`: the key; or, where `isKey` is false, all columns that do not change. */
  constructor(
    table: Table,
    facts: RowFacts,
    compared: readonly TableColumn[],
    found: readonly TableColumn[],
    isKey: boolean,
    claims: string | null,
  ) {
    this.#table = table
    this.#facts = facts
    this.#compared = compared
    this.#found = found
    this.isKey = isKey
    this.#claims = claims
  }

  /** Without a key, and found by its batch key while it is claimed. */
  get isMarked(): boolean {
    return !this.isKey && this.#claims !== null
  }

  get key(): readonly string[] {
    return this.isKey ? this.#compared.map(({ name }) => name) : []
  }

  /** SQL of the row key; each column by its table's name, so that it can stand in a subquery. */
  get rowKey(): string {
    const exacts = this.#compared.map((column) => this.#exact(column))
    return this.#facts.rowKey(
      exacts,
      this.#compared.map(({ type }) => type),
    )
  }

  #exact({ name, type }: TableColumn): string {
    return this.#facts.exact(`${this.#table.path}.${this.#table.escape(name)}`, type)
  }

  /** SQL for a SELECT, of which `refOf` makes the names of rows. */
  get columns(): string {
    const values = this.#found.map((column, at) => `${this.#exact(column)} AS recentn_value_${at}`)
    return [...values, `${this.rowKey} AS recentn_row_key`].join(', ')
  }

  refOf(row: Row): RowRef {
    return {
      rowKey: row.recentn_row_key as string,
      values: this.#found.map((_, at) => String(row[`recentn_value_${at}`] ?? 'NULL')),
    }
  }

  /** Of rows that a key tells apart. */
  any(refs: readonly RowRef[]): Statement {
    if (!this.isKey) return this.#alike(refs[0] as RowRef)
    const [first] = this.#found
    if (this.#found.length === 1 && first) {
      const list = refs.map(({ values }) => this.#literal(values[0]))
      return { sql: `${this.#table.escape(first.name)} IN (${list.join(', ')})`, parameters: [] }
    }
    return { sql: `(${refs.map(({ values }) => `(${this.#equal(values)})`).join(' OR ')})`, parameters: [] }
  }

  /** What a claimed row has, its owner may change: not the batch key of a claim that is one row. */
  #alike({ rowKey, values, claimedBy }: RowRef): Statement {
    if (this.isMarked && claimedBy !== undefined) return { sql: `${this.#claims} = ?`, parameters: [claimedBy] }
    const parameters: Parameter[] = [rowKey]
    return { sql: [this.#equal(values), `${this.rowKey} = ?`].filter(Boolean).join(' AND '), parameters }
  }

  #equal(values: readonly string[]): string {
    return this.#found.map(({ name }, at) => this.#isValue(name, values[at])).join(' AND ')
  }

  #isValue(name: string, value: string | undefined): string {
    const literal = this.#literal(value)
    return literal === 'NULL' ? `${this.#table.escape(name)} IS NULL` : `${this.#table.escape(name)} = ${literal}`
  }

  /** What stands in the table of claims is not trusted to be what was written there. */
  #literal(value: string | undefined): string {
    return checkedLiteral(this.#facts, value)
  }
}

/** Throws for what the database would not have written. */
export function checkedLiteral(facts: RowFacts, value: string | undefined): string {
  if (value !== undefined && facts.literal.test(value)) return value
  throw new RecentnError('internal', `The name of a row is no literal: ${String(value).slice(0, 100)}`)
}
