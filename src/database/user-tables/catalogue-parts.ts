/** The shape of a catalogue, and what both catalogues share. */
import type { TableColumn, TableIndex, TableKind } from './table-parts'

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
