/**
 * What the catalogues of the engines say of a table of the user's: read when work on it begins, and never kept. The server
 * may have changed the table a moment later; whoever uses this lives with a statement that fails.
 */
import { RecentnError } from '../errors'
import type { Reader, Row } from './engine'
import type { Table, TableColumn, TableIndex } from './table'

type Quote = (part: string) => string

export interface Catalogue extends Pick<Table, 'primaryKey' | 'indexes' | 'isTransactional'> {
  columns: readonly Omit<TableColumn, 'isSelected'>[]
  /** SQL behind CREATE INDEX: the name of the index, and the table. */
  indexOn(quoted: Quote, index: string): string
}

export function catalogueOf(reader: Reader, path: string): Promise<Catalogue> {
  const [table, schema] = path.split('.').reverse() as [string, string | undefined]
  return reader.engine.family === 'sqlite'
    ? sqliteCatalogue(reader, table, schema)
    : mysqlCatalogue(reader, table, schema)
}

// ---- MySQL and MariaDB

async function mysqlCatalogue(reader: Reader, table: string, schema: string | undefined): Promise<Catalogue> {
  const where = `table_schema = ${schema === undefined ? 'DATABASE()' : '?'} AND table_name = ?`
  const parameters = schema === undefined ? [table] : [schema, table]
  const columns = await reader.rows(
    'SELECT column_name AS name, data_type AS type, character_maximum_length AS length, is_nullable AS nullable, extra AS extra, ' +
      `column_type AS spec, datetime_precision AS digits FROM information_schema.columns WHERE ${where} ORDER BY ordinal_position`,
    parameters,
  )
  // Each of the servers has a column of its own for indexes that it does not use.
  const parts = await reader.rows(
    `SELECT * FROM information_schema.statistics WHERE ${where} ORDER BY index_name, seq_in_index`,
    parameters,
  )
  const [made] = await reader.rows(
    'SELECT e.transactions AS transactions FROM information_schema.tables t JOIN information_schema.engines e ' +
      `ON e.engine = t.engine WHERE t.${where.replace(' AND ', ' AND t.')}`,
    parameters,
  )
  const texts = new Set(columns.filter(({ type }) => /text$/i.test(String(type))).map(({ name }) => name as string))
  const indexes = indexesOf(parts.map((part) => mysqlPart(part, texts)))
  return {
    columns: columns.map(({ name, type, length, nullable, extra, spec, digits }) => ({
      name: name as string,
      property: name as string,
      type: String(type).toLowerCase(),
      length: length === null ? null : Number(length),
      values: type === 'enum' ? listedIn(String(spec)) : null,
      isNullable: nullable === 'YES',
      isUpdateTime: /on update/i.test(String(extra)),
      isGenerated: /(virtual|stored|persistent)/i.test(String(extra)),
      precision: digits === null ? null : Number(digits),
    })),
    primaryKey: indexes.find(({ name }) => name === 'PRIMARY')?.columns ?? [],
    indexes,
    // A view has no engine.
    isTransactional: made === undefined || made.transactions !== 'NO',
    indexOn: (quoted, index) => `${quoted(index)} ON ${path(quoted, schema, table)}`,
  }
}

/** How much of a TEXT an index must have to tell the words of a status and batch keys apart. */
const WHOLE_WORDS = 22

function mysqlPart(raw: Row, texts: ReadonlySet<string>): Part {
  const row = Object.fromEntries(Object.entries(raw).map(([name, value]) => [name.toLowerCase(), value]))
  const column = row.column_name as string | null
  const length = row.sub_part === null ? null : Number(row.sub_part)
  const isWhole = length === null
  return {
    index: row.index_name as string,
    isUnique: Number(row.non_unique) === 0,
    column: isWhole ? column : null,
    walked:
      row.index_type === 'BTREE' &&
      row.collation === 'A' &&
      row.is_visible !== 'NO' &&
      row.ignored !== 'YES' &&
      column !== null &&
      (isWhole || (texts.has(column) && length >= WHOLE_WORDS))
        ? column
        : null,
  }
}

/** Of `enum('a','it''s')`. */
function listedIn(spec: string): string[] {
  const texts = spec.match(/'(?:[^']|'')*'/g) ?? []
  return texts.map((text) => text.slice(1, -1).replaceAll("''", "'").toLowerCase())
}

// ---- SQLite

async function sqliteCatalogue(reader: Reader, table: string, schema: string | undefined): Promise<Catalogue> {
  if (schema !== undefined) await mustBeAttached(reader, schema)
  const named = schema === undefined ? '?' : '?, ?'
  const parameters = schema === undefined ? [table] : [table, schema]
  const columns = await reader.rows(`SELECT name, type, "notnull", pk FROM pragma_table_info(${named})`, parameters)
  const inSchema = schema === undefined ? 'l.name' : 'l.name, ?'
  const parts = await reader.rows(
    `SELECT l.name AS name, i.name AS part, i."desc" AS descends, l."unique" AS is_unique FROM pragma_index_list(${named}) l ` +
      `JOIN pragma_index_xinfo(${inSchema}) i WHERE l.partial = 0 AND i.key = 1 ORDER BY l.name, i.seqno`,
    [...parameters, ...parameters.slice(1)],
  )
  const keys = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk))
  return {
    columns: columns.map((column) => ({
      name: column.name as string,
      property: column.name as string,
      type: String(column.type).toLowerCase().replace(/\(.*/, ''),
      length: Number(/\((\d+)\)/.exec(String(column.type))?.[1] ?? 0) || null,
      // Of a primary key the catalogue says so only where it was written down.
      isNullable: Number(column.notnull) === 0 && Number(column.pk) === 0,
      values: null,
      isUpdateTime: false,
      isGenerated: false,
      precision: null,
    })),
    primaryKey: keys.map(({ name }) => name as string),
    indexes: indexesOf(
      parts.map(({ name, part, descends, is_unique: isUnique }) => ({
        index: name as string,
        isUnique: Number(isUnique) === 1,
        column: part as string | null,
        walked: Number(descends) === 1 ? null : (part as string | null),
      })),
    ),
    isTransactional: true,
    indexOn: (quoted, index) => `${path(quoted, schema, index)} ON ${quoted(table)}`,
  }
}

/** A store has a connection of its own to read with, to which nothing is attached. */
async function mustBeAttached(reader: Reader, schema: string): Promise<void> {
  const found = await reader.rows('SELECT 1 FROM pragma_database_list WHERE name = ? COLLATE NOCASE', [schema])
  if (found.length > 0) return
  throw new RecentnError(
    'invalid_input',
    `No database ${schema} is there: a store has to do with the tables of its own file, not with those that are attached to it`,
  )
}

// ---- of both

function path(quoted: Quote, schema: string | undefined, name: string): string {
  return schema === undefined ? quoted(name) : `${quoted(schema)}.${quoted(name)}`
}

/** A column of an index. One that is an expression has none, and ends what the index is good for here. */
interface Part {
  index: string
  isUnique: boolean
  column: string | null
  walked: string | null
}

function indexesOf(parts: readonly Part[]): TableIndex[] {
  const byName = new Map<string, Part[]>()
  for (const part of parts) byName.set(part.index, [...(byName.get(part.index) ?? []), part])
  return [...byName].map(([name, ofIndex]) => {
    const columns = untilNull(ofIndex.map(({ column }) => column))
    return {
      name,
      columns,
      walked: untilNull(ofIndex.map(({ walked }) => walked)),
      isUnique: ofIndex[0]?.isUnique === true && columns.length === ofIndex.length,
    }
  })
}

function untilNull(names: readonly (string | null)[]): string[] {
  const end = names.indexOf(null)
  return names.slice(0, end < 0 ? names.length : end) as string[]
}
