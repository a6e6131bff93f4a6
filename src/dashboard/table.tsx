/** Tables: one definition of a column serves its heading, its cells, sorting and phones. */
import type { ComponentChildren } from 'preact'
import { shown } from './parts'

export interface Column<T> {
  title: string
  /** The heading is only read aloud. */
  isSilent?: boolean
  /** Classes, such as `number`; `wide` if it is hidden on a phone. */
  kind?: string
  /** It has the name of the row. */
  isName?: boolean
  /** The word by which the server sorts. */
  sort?: string
  isBad?(row: T): boolean
  /** Null and zero recede. */
  cell(row: T): ComponentChildren | Date
}

interface Sorting {
  by: string | null
  link(sort: string | null): string
}

interface TableProps<T> {
  class?: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  /** In place of a table without rows. */
  empty?: ComponentChildren
  keyOf(row: T): string
  sorting?: Sorting
  attributes?(row: T): object
}

export function Table<T>({ class: name, columns, rows, empty, keyOf, sorting, attributes }: TableProps<T>) {
  if (rows.length === 0) return empty ? <p class="empty panel">{empty}</p> : null
  return (
    <div class="panel">
      <table class={name}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.title} column={column} sorting={sorting} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} {...attributes?.(row)}>
              {columns.map((column) => cellOf(column, row))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Heading<T>({ column, sorting }: { column: Column<T>; sorting?: Sorting | undefined }) {
  const { title, isSilent, kind, sort } = column
  if (isSilent) return <th scope="col" class={kind} aria-label={title} />
  const isSorted = sort !== undefined && sorting?.by === sort
  return (
    <th scope="col" class={kind} aria-sort={isSorted ? 'descending' : undefined}>
      {sort !== undefined && sorting ? <a href={sorting.link(isSorted ? null : sort)}>{title}</a> : title}
    </th>
  )
}

function cellOf<T>({ kind = '', isName, isBad, cell }: Column<T>, row: T) {
  const value = cell(row)
  const isNothing = value === null || value === 0 || value === 0n
  const Cell = isName ? 'th' : 'td'
  return (
    <Cell scope={isName ? 'row' : undefined} class={`${kind} ${isNothing ? 'zero' : isBad?.(row) ? 'bad' : ''}`}>
      {value === null ? '–' : shown(value)}
    </Cell>
  )
}
