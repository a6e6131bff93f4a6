/** The parts of a user's table, as `table.ts` and the catalogues describe them, and what both catalogues share. */

export interface TableColumn {
  /** The database's name of the column, unescaped. */
  name: string
  /** The name in the user's code: the property of the entity, or the column's name. */
  property: string
  /** The database's name of the type: `bigint`, `varchar`. */
  type: string
  /** The most characters of a text; null if there is no limit, or none is known. */
  length: number | null
  /** The values of an ENUM, in lower case; null for other columns. */
  values: readonly string[] | null
  isNullable: boolean
  /** The database sets it to the time of an UPDATE that does not name it. */
  isUpdateTime: boolean
  /** The database computes it from other columns. */
  isGenerated: boolean
  /** The digits of a second that a date and time keeps; null for other columns, or if it keeps all digits. */
  precision: number | null
  /** The collation of a text column; null for other columns. */
  collation: string | null
  /** False for a column that an entity does not load, or does not have. */
  isSelected: boolean
}

export interface TableIndex {
  name: string
  /** Unescaped, in order, up to the first expression. */
  columns: readonly string[]
  /** The leading columns in whose ascending order a statement can read; none if the server hides or ignores the index. */
  walked: readonly string[]
  /** `walked` has all columns of the index. */
  isWalkedWhole: boolean
  /** The index is unique by `columns` alone. */
  isUnique: boolean
}

export interface TableKind {
  /** The catalogue's spelling of the name, with the schema if that is not the store's own. */
  fullName: string
  isView: boolean
  /** False for a view whose rows cannot be changed. */
  isUpdatable: boolean
  /** False if SQLite can identify a row only by its primary key. */
  hasRowIds: boolean
  /** False if a transaction that fails keeps its changes, and rows cannot be locked. */
  isTransactional: boolean
}

export type Quote = (part: string) => string

export interface Catalogue extends TableKind {
  primaryKey: readonly string[]
  indexes: readonly TableIndex[]
  columns: readonly Omit<TableColumn, 'isSelected'>[]
  /** SQL behind CREATE INDEX: the name of the index, and the table. */
  indexOn(quoted: Quote, index: string): string
  /** SQL: a trigger that sets the column to null with each UPDATE of a row in which it is not null. */
  clearingTrigger(quoted: Quote, trigger: string, column: string): string
}

export function path(quoted: Quote, schema: string | undefined, name: string): string {
  return schema === undefined ? quoted(name) : `${quoted(schema)}.${quoted(name)}`
}

/** A column of an index; null for an expression, after which the index is of no use here. */
export interface IndexPart {
  index: string
  isUnique: boolean
  column: string | null
  walked: string | null
}

export function indexesOf(parts: readonly IndexPart[]): TableIndex[] {
  const byName = new Map<string, IndexPart[]>()
  for (const part of parts) byName.set(part.index, [...(byName.get(part.index) ?? []), part])
  return [...byName].map(([name, ofIndex]) => {
    const columns = untilNull(ofIndex.map(({ column }) => column))
    const walked = untilNull(ofIndex.map((part) => part.walked))
    return {
      name,
      columns,
      walked,
      isWalkedWhole: walked.length === ofIndex.length,
      isUnique: ofIndex[0]?.isUnique === true && columns.length === ofIndex.length,
    }
  })
}

function untilNull(names: readonly (string | null)[]): string[] {
  const end = names.indexOf(null)
  return names.slice(0, end < 0 ? names.length : end) as string[]
}
