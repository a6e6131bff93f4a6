/**
 * What the catalogues of the engines say of a table of the user's: read when work on it begins, and never kept. The server
 * may have changed the table a moment later; whoever uses this lives with a statement that fails.
 */
import { RecentnError } from '../errors'
import type { Reader, Row } from './engine'
import { sqliteCollations } from './sqlite-collations'
import type { TableColumn, TableIndex, TableKind } from './table-parts'

type Quote = (part: string) => string

export interface Catalogue extends TableKind {
  primaryKey: readonly string[]
  indexes: readonly TableIndex[]
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
      `column_type AS spec, datetime_precision AS digits, collation_name AS collated FROM information_schema.columns WHERE ${where} ORDER BY ordinal_position`,
    parameters,
  )
  // Each of the servers has a column of its own for indexes that it does not use.
  const parts = await reader.rows(
    `SELECT * FROM information_schema.statistics WHERE ${where} ORDER BY index_name, seq_in_index`,
    parameters,
  )
  const texts = new Set(columns.filter(({ type }) => /text$/i.test(String(type))).map(({ name }) => name as string))
  const indexes = indexesOf(parts.map((part) => mysqlPart(part, texts)))
  return {
    columns: columns.map(({ name, type, length, nullable, extra, spec, digits, collated }) => ({
      name: name as string,
      property: name as string,
      type: String(type).toLowerCase(),
      length: length === null ? null : Number(length),
      values: type === 'enum' ? listedIn(String(spec)) : null,
      isNullable: nullable === 'YES',
      isUpdateTime: /on update/i.test(String(extra)),
      isGenerated: /(virtual|stored|persistent)/i.test(String(extra)),
      precision: digits === null ? null : Number(digits),
      collation: collated as string | null,
    })),
    primaryKey: indexes.find(({ name }) => name === 'PRIMARY')?.columns ?? [],
    indexes,
    ...(await mysqlKind(reader, where, parameters, table)),
    indexOn: (quoted, index) => `${quoted(index)} ON ${path(quoted, schema, table)}`,
  }
}

async function mysqlKind(reader: Reader, where: string, parameters: string[], table: string): Promise<TableKind> {
  const found = await reader.rows(
    'SELECT t.table_schema AS home, t.table_name AS name, t.table_schema = DATABASE() AS is_own, t.table_type AS kind, ' +
      'e.transactions AS transactions FROM information_schema.tables t ' +
      `LEFT JOIN information_schema.engines e ON e.engine = t.engine WHERE t.${where.replace(' AND ', ' AND t.')}`,
    parameters,
  )
  const row = found.find(({ name }) => name === table) ?? found[0]
  const name = (row?.name ?? table) as string
  const isView = /view/i.test(String(row?.kind))
  // Asked of views only, and not by a join: MariaDB would open every table of the server.
  const [view] = isView
    ? await reader.rows(`SELECT is_updatable AS updatable FROM information_schema.views WHERE ${where}`, parameters)
    : []
  return {
    fullName: row && Number(row.is_own) !== 1 ? `${row.home}.${name}` : name,
    isView,
    isUpdatable: !isView || view?.updatable === 'YES',
    hasRowIds: true,
    // A view has no engine.
    isTransactional: row?.transactions !== 'NO',
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
  // Hidden are the columns of virtual tables that take arguments; those above are computed.
  const columns = await reader.rows(
    `SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(${named}) WHERE hidden <> 1`,
    parameters,
  )
  const collations = await sqliteCollations(
    reader,
    path(quotedName, schema, table),
    columns.map(({ name }) => name as string),
  )
  const { indexes, isKeyUnique } = await sqliteIndexes(reader, table, schema, collations)
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
      isGenerated: Number(column.hidden) > 0,
      precision: null,
      collation: collations.get(column.name as string) ?? null,
    })),
    primaryKey: isKeyUnique ? keys.map(({ name }) => name as string) : [],
    indexes,
    ...(await sqliteKind(reader, table, schema)),
    indexOn: (quoted, index) => `${path(quoted, schema, index)} ON ${quoted(table)}`,
  }
}

/** An index may compare in another way than its column does, by which rows are found: then it tells less, or cannot be walked. */
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
    // What is unique by more than its bytes is unique by these as well.
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

const quotedName: Quote = (part) => `"${part.replaceAll('"', '""')}"`

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
