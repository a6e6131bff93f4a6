/** Lists in parts: what one statement or one transaction takes, and what belongs together. */
import { type Parameter, placeholders, type Reader, type Row, type Statement, type Tx } from '../database/engine'

/** Keys or names of one list in a statement: a longer one may turn into a scan. */
export const MAX_KEYS = 250

/** Parts of at most `size` elements. */
export function chunksOf<T>(list: readonly T[], size: number): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < list.length; start += size) chunks.push(list.slice(start, start + size))
  return chunks
}

/** A statement with a list of some of the values, such as `(?, ?)`, and what comes before and behind these as a parameter. */
type Among = (some: string) => string
interface ValuesAround {
  before?: readonly Parameter[]
  after?: readonly Parameter[]
}

/** The rows of a SELECT for each part of a list of values. */
export async function rowsAmong(
  reader: Reader,
  list: readonly Parameter[],
  size: number,
  sql: Among,
  { before = [], after = [] }: ValuesAround = {},
): Promise<Row[]> {
  const found: Row[] = []
  for (const chunk of chunksOf(list, size)) {
    const rows = await reader.rows(sql(`(${placeholders(chunk.length)})`), [...before, ...chunk, ...after])
    for (const row of rows) found.push(row)
  }
  return found
}

/** The same for a write. */
export async function writeAmong(
  tx: Tx,
  list: readonly Parameter[],
  size: number,
  sql: Among,
  before: readonly Parameter[] = [],
): Promise<void> {
  for (const chunk of chunksOf(list, size))
    await tx.later(sql(`(${placeholders(chunk.length)})`), [...before, ...chunk])
}

/** SQL: the rows that fulfil a condition with the values of one of the list. */
export function anyOf<T>(list: readonly T[], condition: string, valuesOf: (one: T) => readonly Parameter[]): Statement {
  return { sql: list.map(() => condition).join(' OR '), parameters: list.flatMap((one) => [...valuesOf(one)]) }
}

/** Parts of at most `maxLength` elements whose sizes add up to at most `maxSum`; a larger element is a part by itself. */
export function chunksBySize<T>(
  list: readonly T[],
  sizeOf: (element: T) => number,
  maxLength: number,
  maxSum: number,
): T[][] {
  const chunks: T[][] = []
  let sum = 0
  for (const element of list) {
    const size = sizeOf(element)
    const chunk = chunks.at(-1)
    if (chunk === undefined || chunk.length === maxLength || sum + size > maxSum) {
      chunks.push([element])
      sum = size
    } else {
      chunk.push(element)
      sum += size
    }
  }
  return chunks
}

export function groupedBy<T, K>(list: Iterable<T>, keyOf: (element: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const element of list) {
    const key = keyOf(element)
    const group = groups.get(key)
    if (group) group.push(element)
    else groups.set(key, [element])
  }
  return groups
}
