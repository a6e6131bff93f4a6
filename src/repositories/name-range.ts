/** The part of a list that is asked for: names after one, and those that begin with a prefix. Bytes decide, as in indexes. */
import type { Reader } from '../database/engine'
import type { NamedKind } from '../fields/options'

const NAME_COLUMNS: Readonly<Record<NamedKind, string>> = {
  queues: 'queue',
  schedules: 'schedule',
  policies: 'prefix',
  feeds: 'feed',
}

/** Whether the name exists, or fewer than `most` names begin with the prefix. Counts up to `most`, along the names' index. */
export async function mayCreate(
  { rows, tables }: Reader,
  kind: NamedKind,
  name: string,
  { prefix, most }: { prefix: string; most: number },
): Promise<boolean> {
  const [table, column] = [tables[kind], NAME_COLUMNS[kind]]
  const { where, parameters } = nameRange(column, '', prefix)
  const found = await rows(
    `SELECT CASE WHEN EXISTS (SELECT 1 FROM ${table} WHERE ${column} = ?) THEN 1 ` +
      `WHEN (SELECT COUNT(*) FROM (SELECT 1 FROM ${table} WHERE ${where} LIMIT ?) counted) < ? THEN 1 ` +
      'ELSE 0 END AS may_create',
    [name, ...parameters, most, most],
  )
  return Number(found[0]?.may_create) === 1
}

/** SQL and its parameters. Every name is greater than ''. `contains` is found in either case. */
export function nameRange(
  column: string,
  after: string,
  prefix: string,
  contains = '',
): { where: string; parameters: string[] } {
  const conditions = [`${column} > ?`]
  const parameters = [after]
  if (prefix !== '') {
    conditions.push(`${column} >= ?`)
    parameters.push(prefix)
    const end = afterPrefix(prefix)
    if (end !== null) {
      conditions.push(`${column} < ?`)
      parameters.push(end)
    }
  }
  if (contains !== '') {
    conditions.push(`INSTR(LOWER(${column}), LOWER(?)) > 0`)
    parameters.push(contains)
  }
  return { where: conditions.join(' AND '), parameters }
}

/** The first name after every name that starts with `prefix`, in byte order; null when there is none. */
export function afterPrefix(prefix: string): string | null {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number)
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue
    // U+D800 to U+DFFF are not characters.
    const next = last === 0xd7ff ? 0xe000 : last + 1
    return String.fromCodePoint(...points, next)
  }
  return null
}
