/** A table as a migration makes it. */
export interface TableDefinition {
  /** Without the prefix. */
  name: string
  /** The definition of each column, by its name. */
  columns: Readonly<Record<string, string>>
  /** Where it is not one column that says so itself. */
  primaryKey?: readonly string[]
  /** By their names, without the prefix. */
  indexes?: Readonly<Record<string, { columns: readonly string[]; isUnique?: true }>>
  /** SQL after the columns. */
  suffix: string
}
