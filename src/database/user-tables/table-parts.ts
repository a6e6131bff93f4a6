/** The parts of a user's table, as `table.ts` and the catalogues describe them. */

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
  /**
   * The leading columns in whose ascending order a statement can read; none if the server hides or ignores the index.
   */
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
