/**
 * What tells the rows of a user's table apart: the columns of a key, or all columns that do not change. Rows are found
 * again by SQL literals of their key, which the database itself wrote.
 */
import type { Parameter, Row, Statement } from '../../database/engine'
import type { RowFacts } from '../../database/row-facts'
import type { Table } from '../../database/table'
import type { TableColumn } from '../../database/table-parts'
import { RecentnError } from '../../errors'

/** Names a row of the user's. */
export interface RowRef {
  rowKey: string
  /** The literals of its key, or of its sequence when it has no key. */
  values: readonly string[]
  /** The batch key of a claimed row, by which it is found when nothing else distinguishes it. */
  claimedBy?: string
}

export class Identity {
  readonly #table: Table
  readonly #facts: RowFacts
  /** The key, or the sequence when there is none. */
  readonly #found: readonly TableColumn[]
  readonly #compared: readonly TableColumn[]
  /** False: rows that are equal in all columns can't be distinguished. */
  readonly isKey: boolean
  /** SQL of the column for batch keys; null when there is none. */
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

  /** SQL of the row key. Each column has its table's name, so that the SQL can be used in a subquery. */
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

  /** SQL for a SELECT, from which `refOf` makes the names of rows. */
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

  /** A condition that these rows meet; one row only when no key tells them apart. */
  any(refs: readonly RowRef[]): Statement {
    if (!this.isKey) return this.#alike(refs[0] as RowRef)
    const [first] = this.#found
    if (this.#found.length === 1 && first) {
      const list = refs.map(({ values }) => this.#literal(values[0]))
      return { sql: `${this.#table.escape(first.name)} IN (${list.join(', ')})`, parameters: [] }
    }
    return { sql: `(${refs.map(({ values }) => `(${this.#equal(values)})`).join(' OR ')})`, parameters: [] }
  }

  /** Its owner may change any column of a claimed row except the batch key. */
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

  /** What is read from the table of claims is not trusted to be what was written there. */
  #literal(value: string | undefined): string {
    return checkedLiteral(this.#facts, value)
  }
}

/** Throws for a text that the database would not have written as a literal. */
export function checkedLiteral(facts: RowFacts, value: string | undefined): string {
  if (value !== undefined && facts.literal.test(value)) return value
  throw new RecentnError('internal', `The name of a row is no literal: ${String(value).slice(0, 100)}`)
}
