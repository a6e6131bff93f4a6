/** The catalogue of SQLite: its pragmas, and what has to be found out otherwise. */
import { RecentnError } from '../../shared/errors'
import type { Reader } from '../engine'
import { type Catalogue, indexesOf, path, type Quote, type TableIndex, type TableKind } from './table-parts'

const quotedName: Quote = (part) => `"${part.replaceAll('"', '""')}"`

const WORDS = "VALUES ('a'), ('A'), ('b'), ('b '), ('b  ')"

/** How many of the words differ, by collation. */
const BY_COUNT: Readonly<Record<number, string>> = { 5: 'BINARY', 4: 'NOCASE', 3: 'RTRIM' }

/** The number of columns in one statement. */
const AT_ONCE = 100

export async function sqliteCatalogue(reader: Reader, table: string, schema: string | undefined): Promise<Catalogue> {
  if (schema !== undefined) await mustBeAttached(reader, schema)
  const named = schema === undefined ? '?' : '?, ?'
  const parameters = schema === undefined ? [table] : [table, schema]
  // `hidden` is 1 for arguments of virtual tables, and greater for computed columns.
  const columns = await reader.rows(
    `SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(${named}) WHERE hidden <> 1`,
    parameters,
  )
  const names = columns.map(({ name }) => name as string)
  const collations = await sqliteCollations(reader, path(quotedName, schema, table), names)
  const { indexes, isKeyUnique } = await sqliteIndexes(reader, table, schema, collations)
  const keys = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk))
  return {
    columns: columns.map((column) => ({
      name: column.name as string,
      property: column.name as string,
      type: String(column.type).toLowerCase().replace(/\(.*/, ''),
      length: Number(/\((\d+)\)/.exec(String(column.type))?.[1] ?? 0) || null,
      // The catalogue has NOT NULL for a primary key only if it was declared.
      isNullable: Number(column.notnull) === 0 && Number(column.pk) === 0,
      values: null,
      isUpdateTime: false,
      isGenerated: Number(column.hidden) > 0,
      precision: null,
      collation: collations.get(column.name as string) ?? null,
    })),
    primaryKey: isKeyUnique ? keys.map(({ name }) => name as string) : [],
    indexes,
    ...(await sqliteKind(reader, table, schema)),
    indexOn: (quoted, index) => `${path(quoted, schema, index)} ON ${quoted(table)}`,
    clearingTrigger: (quoted, trigger, column) => {
      const row = keys.map(({ name }) => `${quoted(name as string)} = NEW.${quoted(name as string)}`).join(' AND ')
      return (
        `CREATE TRIGGER ${path(quoted, schema, trigger)} AFTER UPDATE ON ${quoted(table)} FOR EACH ROW ` +
        `WHEN OLD.${quoted(column)} IS NOT NULL AND NEW.${quoted(column)} IS NOT NULL ` +
        `BEGIN UPDATE ${quoted(table)} SET ${quoted(column)} = NULL WHERE ${row}; END`
      )
    },
  }
}

/** An index with another collation than its column, which decides comparisons, is not walked. */
async function sqliteIndexes(
  reader: Reader,
  table: string,
  schema: string | undefined,
  collations: ReadonlyMap<string, string>,
): Promise<{ indexes: TableIndex[]; isKeyUnique: boolean }> {
  const [named, inSchema] = schema === undefined ? ['?', 'l.name'] : ['?, ?', 'l.name, ?']
  const parts = await reader.rows(
    'SELECT l.name AS name, i.name AS part, i."desc" AS descends, l."unique" AS is_unique, l.origin AS origin, ' +
      `i.coll AS coll FROM pragma_index_list(${named}) l JOIN pragma_index_xinfo(${inSchema}) i ` +
      'WHERE l.partial = 0 AND i.key = 1 ORDER BY l.name, i.seqno',
    schema === undefined ? [table] : [table, schema, schema],
  )
  const sees = parts.map(({ part, coll }) => {
    const ofColumn = collations.get(part as string) ?? 'BINARY'
    const isSame = String(coll).toUpperCase() === ofColumn
    // Values that are unique by another collation are unique by their bytes too.
    return { isSame, isUnique: isSame || ofColumn === 'BINARY' }
  })
  return {
    indexes: indexesOf(
      parts.map(({ name, part, descends, is_unique: isUnique }, at) => ({
        index: name as string,
        isUnique: Number(isUnique) === 1,
        column: sees[at]?.isUnique ? (part as string | null) : null,
        walked: sees[at]?.isSame && Number(descends) === 0 ? (part as string | null) : null,
      })),
    ),
    isKeyUnique: parts.every(({ origin }, at) => origin !== 'pk' || sees[at]?.isUnique === true),
  }
}

async function sqliteKind(reader: Reader, table: string, schema: string | undefined): Promise<TableKind> {
  const [row] = await reader.rows(
    `SELECT schema AS home, name, type, wr FROM pragma_table_list WHERE name = ? COLLATE NOCASE ` +
      `AND (? IS NULL OR schema = ? COLLATE NOCASE) ORDER BY schema = 'temp' DESC, schema = 'main' DESC`,
    [table, schema ?? null, schema ?? null],
  )
  const name = (row?.name ?? table) as string
  const isView = row?.type === 'view'
  return {
    fullName: row && row.home !== 'main' ? `${row.home}.${name}` : name,
    isView,
    isUpdatable: !isView,
    hasRowIds: !isView && Number(row?.wr ?? 0) === 0,
    isTransactional: true,
  }
}

/** The store reads on its own connection, to which no other database is attached. */
async function mustBeAttached(reader: Reader, schema: string): Promise<void> {
  const found = await reader.rows('SELECT 1 FROM pragma_database_list WHERE name = ? COLLATE NOCASE', [schema])
  if (found.length > 0) return
  throw new RecentnError(
    'invalid_input',
    `There is no database ${schema}: a store can use the tables in its file, not those of attached databases`,
  )
}

/** How columns compare texts, by comparing some: no catalogue has their collations. By the names of the columns; `path` is SQL. */
async function sqliteCollations(reader: Reader, path: string, names: readonly string[]): Promise<Map<string, string>> {
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
