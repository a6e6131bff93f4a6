/**
 * What a command for operators answers: JSON as the REST route has it, or a table of the same. The columns of a table are
 * paths in that JSON, so that both have the same names.
 */
import { printable } from './terminal'

export interface Printed {
  /** Written by `JSON.stringify`. */
  json: unknown
  /** For people: rows of a table, facts, or a sentence. */
  show: TableView | 'facts' | { sentence: string }
  /** For people, on standard error: how to go on. */
  note?: string | undefined
}

interface TableView {
  /** The field of the JSON that has the rows. */
  rows: string
  columns: readonly string[]
  none: string
}

/** Longer texts are cut in tables. */
const MAX_CELL = 60

export function printedText({ json, show }: Printed): string {
  if (typeof show === 'object' && 'sentence' in show) return `${printable(show.sentence)}\n`
  const plain = JSON.parse(JSON.stringify(json))
  if (show === 'facts') return lines(factsOf(plain))
  const rows: unknown[] = plain[show.rows]
  return rows.length === 0 ? `${show.none}\n` : tableText(rows, show.columns)
}

function tableText(rows: readonly unknown[], columns: readonly string[]): string {
  const cells = rows.map((row) => columns.map((path) => cellText(at(row, path), MAX_CELL)))
  const isNumber = columns.map((_, i) => cells.every((row) => /^(\d+|-)$/.test(row[i] as string)))
  const headings = columns.map((path) => path.slice(path.lastIndexOf('.') + 1))
  return lines([headings, ...cells], isNumber)
}

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], value)
}

/** Every field by its path, with those of objects within; of a list, how many it has. */
function factsOf(value: object, before = ''): [string, string][] {
  return Object.entries(value).flatMap(([name, field]) => {
    const isInner = typeof field === 'object' && field !== null && !Array.isArray(field) && !OPAQUE.has(name)
    if (isInner) return factsOf(field, `${before}${name}.`)
    return [[before + name, cellText(Array.isArray(field) && !OPAQUE.has(name) ? field.length : field)]]
  })
}

/** JSON of the users', which is shown as it is. */
const OPAQUE = new Set(['body', 'payload', 'value', 'attributes'])

function cellText(value: unknown, max = Number.POSITIVE_INFINITY): string {
  if (value === null) return '-'
  const text = printable(typeof value === 'string' ? value : JSON.stringify(value))
  return text.length > max ? `${text.slice(0, max - 1)}…` : text
}

/** Lines of cells in columns; `toRight`: the columns that end in line. */
function lines(rows: readonly (readonly string[])[], toRight: readonly boolean[] = []): string {
  const width = (text: string) => [...text].length
  const widths = (rows[0] ?? []).map((_, i) =>
    rows.reduce((widest, row) => Math.max(widest, width(row[i] as string)), 0),
  )
  const line = (row: readonly string[]) =>
    row.map((cell, i) => {
      const space = ' '.repeat((widths[i] as number) - width(cell))
      return toRight[i] ? space + cell : cell + space
    })
  return rows.map((row) => `${line(row).join('  ').trimEnd()}\n`).join('')
}
