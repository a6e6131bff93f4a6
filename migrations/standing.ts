/**
 * Finds what already has the names that a store needs. It is recentn's if it is a table with exactly the columns that
 * recentn makes; anything else is the user's, and is never altered or dropped.
 */
import { RecentnError } from '../src/shared/errors'
import type { TableDefinition } from './first/table'

/** Runs a SELECT without parameters. */
type Ask = (sql: string) => Promise<Record<string, unknown>[]>

/** A table, view or index with one of the names. */
export interface NameHolder {
  kind: 'table' | 'view' | 'index'
  /** The table of an index; a table's own name otherwise. */
  owner: string
  /** The type of each column, by its name; empty unless it is a table. */
  columns: Map<string, string>
}

interface CatalogueRow {
  /** Empty in the rows of columns. */
  kind: string
  name: string
  owner: string
  column_name: string | null
  column_type: string | null
}

/** Tables and views that have these names, and on SQLite indexes, which share its names with tables. One query. */
export async function standing(
  ask: Ask,
  isSqlite: boolean,
  names: readonly string[],
): Promise<Map<string, NameHolder>> {
  if (names.length === 0) return new Map()
  const list = names.map((name) => `'${name}'`).join(', ')
  const rows = (await ask(isSqlite ? sqliteSql(list) : serverSql(list))) as unknown as CatalogueRow[]
  const found = new Map<string, NameHolder>()
  for (const { kind, name, owner, column_name: column, column_type: type } of rows) {
    const one = found.get(name) ?? { kind: 'table', owner, columns: new Map<string, string>() }
    found.set(name, one)
    if (kind !== '') one.kind = kindOf(kind)
    if (column !== null) one.columns.set(column, familyOf(String(type)))
  }
  // On a server that keeps the case of names, a name in another case belongs to another table.
  return new Map([...found].filter(([name]) => names.includes(name)))
}

/** Without the columns of views: SQLite cannot list them if a table of the view's query is gone. */
const sqliteSql = (list: string) =>
  'SELECT m.type AS kind, lower(m.name) AS name, lower(m.tbl_name) AS owner, c.name AS column_name, c.type AS column_type ' +
  "FROM sqlite_master m LEFT JOIN pragma_table_xinfo(CASE m.type WHEN 'table' THEN m.name END) c " +
  `WHERE m.type <> 'trigger' AND lower(m.name) IN (${list})`

/** A server that ignores the case of names may still return them in upper case. */
const NAME = 'CASE WHEN @@lower_case_table_names = 0 THEN table_name ELSE LOWER(table_name) END'

const serverSql = (list: string) => {
  const where = `WHERE table_schema = DATABASE() AND table_name IN (${list})`
  return (
    `SELECT table_type AS kind, ${NAME} AS name, ${NAME} AS owner, NULL AS column_name, NULL AS column_type, 0 AS place FROM information_schema.tables ${where} ` +
    `UNION ALL SELECT '', ${NAME}, ${NAME}, column_name, data_type, ordinal_position FROM information_schema.columns ${where} ORDER BY place`
  )
}

function kindOf(said: string): NameHolder['kind'] {
  if (/view/i.test(said)) return 'view'
  return said === 'index' ? 'index' : 'table'
}

/** `varchar` of `varchar(191) NOT NULL`. */
function familyOf(definition: string): string {
  const word = definition.toLowerCase().split(/[ (]/)[0] as string
  return word === 'integer' ? 'int' : word
}

/** Whether it is recentn's: a table with the columns that recentn makes, perhaps with some that it `added` later, and no others. */
export function isOurs(
  found: NameHolder,
  { columns }: TableDefinition,
  added: Readonly<Record<string, string>> = {},
): boolean {
  if (found.kind !== 'table') return false
  const known: Readonly<Record<string, string>> = { ...columns, ...added }
  return (
    Object.keys(columns).every((name) => found.columns.has(name)) &&
    [...found.columns].every(([name, type]) => Object.hasOwn(known, name) && type === familyOf(known[name] as string))
  )
}

/** Describes what has the name, for people. */
export function describe(name: string, { kind, owner, columns }: NameHolder): string {
  if (kind === 'index') return `${name} (an index of ${owner})`
  return kind === 'view' ? `${name} (a view)` : `${name} (a table with the columns ${[...columns.keys()].join(', ')})`
}

/** Throws `database_refused`, which lists what has the names. */
export function refuseNames(taken: readonly string[]): void {
  if (taken.length === 0) return
  throw new RecentnError(
    'database_refused',
    `In this database other tables have names that recentn needs: ${taken.join('; ')}. They were left alone, and ` +
      'nothing was made. Give the store other names (option tablePrefix, or RECENTN_TABLE_PREFIX), or rename those tables',
    { faults: taken.map((detail) => ({ detail })) },
  )
}
