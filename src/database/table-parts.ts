/** What a table of the user's consists of, as `table.ts` and the catalogues tell it. */

export interface TableColumn {
  /** As the database names it, unescaped. */
  name: string
  /** As the user's code names it: the property of the entity, or the column again. */
  property: string
  /** As the database names it: `bigint`, `varchar`. */
  type: string
  /** Characters that a text takes; null where the database has no limit, or says none. */
  length: number | null
  /** What an ENUM may be, in small letters; null where the database lists nothing. */
  values: readonly string[] | null
  isNullable: boolean
  /** The database sets it to the time of an UPDATE that does not name it. */
  isUpdateTime: boolean
  /** The database computes it from other columns. */
  isGenerated: boolean
  /** Digits of a second that a date and time keeps; null where it is none, or keeps all that it is given. */
  precision: number | null
  /** By which texts are compared, as the database names it; null for what is no text. */
  collation: string | null
  /** False for a column that an entity does not load, or does not have. */
  isSelected: boolean
}

export interface TableIndex {
  name: string
  /** Unescaped, in order; those before an expression. */
  columns: readonly string[]
  /** Those along which a statement can go in ascending order: none of an index that the server hides or ignores. */
  walked: readonly string[]
  /** Those are all that it has. */
  isWalkedWhole: boolean
  /** Of the columns, and of nothing else. */
  isUnique: boolean
}

export interface TableKind {
  /** As the catalogue spells it, however it was named; with its schema where that is not the store's own. */
  fullName: string
  isView: boolean
  /** False for a view whose rows can't be changed. */
  isUpdatable: boolean
  /** False where SQLite knows no row but by its primary key. */
  hasRowIds: boolean
  /** False where a transaction that fails leaves what it did, and a lock is none. */
  isTransactional: boolean
}
