/**
 * Tables of the user's: what an entity, or the database's own catalogue, says of their columns, keys and indexes, and
 * rows of them as the user's code knows them. Nothing is cached: a table is described when work on it begins.
 */
import type { DataSource, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm'
import { RecentnError } from '../errors'
import type { Reader, Row, Session } from './engine'

export interface TableColumn {
  /** As the database names it, unescaped. */
  name: string
  /** As the user's code names it: the property of the entity, or the column again. */
  property: string
  /** As the database names it: `bigint`, `varchar`. */
  type: string
  /** Characters that a text takes; null where the database has no limit, or says none. */
  length: number | null
  /** What an ENUM may be, in small letters; null where the database lists nothing. */
  values: readonly string[] | null
  isNullable: boolean
  /** The database sets it to the time of an UPDATE that does not name it. */
  isUpdateTime: boolean
  /** False for a column that an entity does not load, or does not have. */
  isSelected: boolean
}

export interface TableIndex {
  name: string
  /** Unescaped, in order. */
  columns: readonly string[]
  isUnique: boolean
}

export interface Table {
  /** As the user named it. */
  name: string
  /** SQL. */
  path: string
  columns: readonly TableColumn[]
  /** Unescaped; none where there is no primary key. */
  primaryKey: readonly string[]
  indexes: readonly TableIndex[]
  /** SQL of a column. */
  escape(column: string): string
  /** A row, by the names of its columns, as the user's code knows it: an entity with its transformers applied. */
  rowOf(raw: Row): ObjectLiteral
}

/** Describes a table. Throws `invalid_input` for an entity that the DataSource does not have, and for no such table. */
export async function describeTable(
  source: DataSource,
  session: Session,
  target: EntityTarget<ObjectLiteral>,
): Promise<Table> {
  const metadata = source.hasMetadata(target) ? source.getMetadata(target) : null
  if (metadata === null && typeof target !== 'string') {
    throw new RecentnError('invalid_input', `The DataSource of the store has no entity ${nameOf(target)}`)
  }
  const name = metadata?.tableName ?? (target as string)
  const escaped = (part: string) => source.driver.escape(part)
  const path = (metadata?.tablePath ?? name).split('.').map(escaped).join('.')
  const found = await session.read((reader) => catalogueOf(reader, metadata?.tablePath ?? name))
  if (found.columns.length === 0) throw new RecentnError('invalid_input', `There is no table ${name}`)
  const mapped = new Map(metadata?.columns.map((column) => [column.databaseName, column]))
  return {
    ...found,
    name,
    path,
    columns: found.columns.map((column) => ({
      ...column,
      property: mapped.get(column.name)?.propertyPath ?? column.name,
      isSelected: metadata === null || mapped.get(column.name)?.isSelect === true,
    })),
    escape: escaped,
    rowOf: metadata ? (raw) => entityOf(source, metadata, raw) : (raw) => ({ ...raw }),
  }
}

function nameOf(target: EntityTarget<ObjectLiteral>): string {
  return typeof target === 'function' ? target.name : JSON.stringify(target)
}

/** As TypeORM makes one, without its relations. */
function entityOf(source: DataSource, metadata: EntityMetadata, raw: Row): ObjectLiteral {
  const entity = metadata.create() as ObjectLiteral
  for (const column of metadata.columns) {
    if (!(column.databaseName in raw) || column.isVirtual) continue
    column.setEntityValue(entity, source.driver.prepareHydratedValue(raw[column.databaseName], column))
  }
  return entity
}

interface Catalogue extends Pick<Table, 'primaryKey' | 'indexes'> {
  columns: readonly Omit<TableColumn, 'isSelected'>[]
}

async function catalogueOf(reader: Reader, path: string): Promise<Catalogue> {
  return reader.engine.family === 'sqlite' ? sqliteCatalogue(reader, path) : mysqlCatalogue(reader, path)
}

async function mysqlCatalogue(reader: Reader, path: string): Promise<Catalogue> {
  const [table, schema] = path.split('.').reverse() as [string, string | undefined]
  const where = `table_schema = ${schema === undefined ? 'DATABASE()' : '?'} AND table_name = ?`
  const parameters = schema === undefined ? [table] : [schema, table]
  const columns = await reader.rows(
    'SELECT column_name AS name, data_type AS type, character_maximum_length AS length, is_nullable AS nullable, extra AS extra, column_type AS spec ' +
      `FROM information_schema.columns WHERE ${where} ORDER BY ordinal_position`,
    parameters,
  )
  const parts = await reader.rows(
    'SELECT index_name AS name, CASE WHEN sub_part IS NULL THEN column_name END AS part, non_unique AS repeats ' +
      `FROM information_schema.statistics WHERE ${where} ORDER BY index_name, seq_in_index`,
    parameters,
  )
  const indexes = indexesOf(parts)
  return {
    columns: columns.map(({ name, type, length, nullable, extra, spec }) => ({
      name: name as string,
      property: name as string,
      type: String(type).toLowerCase(),
      length: length === null ? null : Number(length),
      values: type === 'enum' ? listedIn(String(spec)) : null,
      isNullable: nullable === 'YES',
      isUpdateTime: /on update/i.test(String(extra)),
    })),
    primaryKey: indexes.find(({ name }) => name === 'PRIMARY')?.columns ?? [],
    indexes,
  }
}

/** Of `enum('a','it''s')`. */
function listedIn(spec: string): string[] {
  const texts = spec.match(/'(?:[^']|'')*'/g) ?? []
  return texts.map((text) => text.slice(1, -1).replaceAll("''", "'").toLowerCase())
}

async function sqliteCatalogue(reader: Reader, path: string): Promise<Catalogue> {
  const table = path.split('.').at(-1) as string
  const columns = await reader.rows('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', [table])
  const parts = await reader.rows(
    'SELECT l.name AS name, i.name AS part, 1 - l."unique" AS repeats FROM pragma_index_list(?) l ' +
      'JOIN pragma_index_info(l.name) i WHERE l.partial = 0 ORDER BY l.name, i.seqno',
    [table],
  )
  const keys = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk))
  return {
    columns: columns.map((column) => ({
      name: column.name as string,
      property: column.name as string,
      type: String(column.type).toLowerCase().replace(/\(.*/, ''),
      length: Number(/\((\d+)\)/.exec(String(column.type))?.[1] ?? 0) || null,
      isNullable: Number(column.notnull) === 0,
      values: null,
      isUpdateTime: false,
    })),
    primaryKey: keys.map(({ name }) => name as string),
    indexes: indexesOf(parts),
  }
}

/** A part that is an expression, or the beginning of a column, has no column, and ends what the index is good for here. */
function indexesOf(parts: readonly Row[]): TableIndex[] {
  const indexes = new Map<string, { name: string; columns: string[]; isUnique: boolean; ended: boolean }>()
  for (const { name, part, repeats } of parts) {
    const known = indexes.get(name as string)
    const index = known ?? { name: name as string, columns: [], isUnique: Number(repeats) === 0, ended: false }
    if (!known) indexes.set(index.name, index)
    if (part === null) index.ended = true
    if (!index.ended) index.columns.push(part as string)
  }
  return [...indexes.values()].map(({ name, columns, isUnique, ended }) => ({
    name,
    columns,
    isUnique: isUnique && !ended,
  }))
}
