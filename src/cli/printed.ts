/**
 * The output of commands: for programs the answer of the REST route as it is, for people tables and facts of the same. The columns
 * of a table are paths in that JSON, so that both have the same names. Values are cut out of its text, which keeps numbers.
 */
import { elementStarts, memberStart, valueSource } from '../http/input/json-source'
import { withoutSecretsIn } from '../http/secrets'

/** Controls, line and paragraph separators, and what is not seen: marks that turn the direction of text, for example. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Escapes control characters: text from a log or a server must not control the terminal, nor show another order. */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => {
    const code = character.codePointAt(0) as number
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`
  })
}

/** A line of JSON, given as its text. `JSON.stringify` escapes only the first of two ranges of control characters. */
export function jsonLine(text: string): string {
  return `${text.replace(/[\u007f-\u009f]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`)}\n`
}

/** Longer texts are cut in tables. */
const MAX_CELL = 60

/** A table of the rows in the member `rows`; without headings for a further page. */
export function tableText(text: string, rows: string, columns: readonly string[], hasHeadings: boolean): string {
  const starts = elementStarts(text, memberStart(text, 0, rows))
  if (starts.length === 0) return hasHeadings ? `There are no ${rows}.\n` : ''
  const cells = starts.map((start) => columns.map((path) => cellText(sourceAt(text, start, path), MAX_CELL)))
  const isNumber = columns.map((_, i) => cells.every((row) => /^(\d+|-)$/.test(row[i] as string)))
  const headings = columns.map((path) => path.slice(path.lastIndexOf('.') + 1).replace('#', ''))
  return lines(hasHeadings ? [headings, ...cells] : cells, isNumber)
}

/** The JSON of a path in the object at `start`; with `#` at its end the number of elements. */
function sourceAt(text: string, start: number, path: string): string {
  const [names = '', counted] = path.split('#')
  const at = names.split('.').reduce((inner, name) => memberStart(text, inner, name), start)
  return counted === undefined ? valueSource(text, at) : String(elementStarts(text, at).length)
}

/** Every field of an object by its path, with those of what is in it. */
export function factsText(text: string): string {
  return lines(factsOf(text, JSON.parse(text), 0, ''))
}

function factsOf(text: string, value: object, start: number, before: string): [string, string][] {
  const starts = Array.isArray(value) ? elementStarts(text, start) : null
  return Object.entries(value).flatMap(([name, field]): [string, string][] => {
    const at = starts === null ? memberStart(text, start, name) : (starts[Number(name)] as number)
    if (typeof field === 'object' && field !== null && !OPAQUE.has(name))
      return factsOf(text, field, at, `${before}${name}.`)
    return [[before + name, cellText(valueSource(text, at))]]
  })
}

/** JSON of the users', which is shown as it is. */
const OPAQUE = new Set(['body', 'payload', 'value', 'attributes'])

function cellText(source: string, max = Number.POSITIVE_INFINITY): string {
  if (source === 'null') return '-'
  const text = printable(withoutSecretsIn(source.startsWith('"') ? JSON.parse(source) : source))
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
