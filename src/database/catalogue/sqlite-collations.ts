/** Finds out how the columns of a SQLite table compare texts, by comparing some: no catalogue has their collations. */
import type { Reader } from '../engine'
import type { Quote } from './parts'

export const quotedName: Quote = (part) => `"${part.replaceAll('"', '""')}"`

const WORDS = "VALUES ('a'), ('A'), ('b'), ('b '), ('b  ')"

/** How many of the words differ, by collation. */
const BY_COUNT: Readonly<Record<number, string>> = { 5: 'BINARY', 4: 'NOCASE', 3: 'RTRIM' }

/** The number of columns in one statement. */
const AT_ONCE = 100

/** The collations by the names of the columns. `path` is SQL. */
export async function sqliteCollations(
  reader: Reader,
  path: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  const collations = new Map<string, string>()
  for (let from = 0; from < names.length; from += AT_ONCE) {
    const some = names.slice(from, from + AT_ONCE)
    const counts = some.map((name, at) => {
      const column = quotedName(name)
      const words = `SELECT ${column} AS word FROM ${path} WHERE 1 = 0 UNION ALL ${WORDS}`
      return `(SELECT COUNT(DISTINCT w.word) FROM (${words}) w) AS words_${at}`
    })
    const [row] = await reader.rows(`SELECT ${counts.join(', ')}`)
    for (const [at, name] of some.entries()) {
      collations.set(name, BY_COUNT[Number(row?.[`words_${at}`])] ?? 'another')
    }
  }
  return collations
}
