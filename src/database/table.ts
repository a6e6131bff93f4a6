/**
 * Tables of the user's: what an entity, or the database's own catalogue, says of their columns, keys and indexes, and
 * rows of them as the user's code knows them. Nothing is cached: a table is described when work on it begins.
 */
import type { DataSource, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm'
import { RecentnError } from '../errors'
import { catalogueOf } from './catalogue'
import type { Row, Session } from './engine'
import type { TableColumn, TableIndex, TableKind } from './table-parts'

export interface Table extends TableKind {
  /** As the user named it. */
  name: string
  /** SQL. */
  path: string
  columns: readonly TableColumn[]
  /** Unescaped; none where there is no primary key. */
  primaryKey: readonly string[]
  indexes: readonly TableIndex[]
  /** SQL: what is read of a row. */
  selected: string
  /** SQL of a column. */
  escape(column: string): string
  /** SQL that makes an index of columns, each of which is SQL. */
  createIndex(index: string, columns: readonly string[]): string
  /** A row, by the names of its columns, as the user's code knows it: an entity with its transformers applied. Without
   * the `hidden` columns, of which an entity that is saved writes nothing. */
  rowOf(raw: Row, hidden?: ReadonlySet<string>): ObjectLiteral
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
  const { indexOn, ...found } = await session.read((reader) => catalogueOf(reader, metadata?.tablePath ?? name))
  if (found.columns.length === 0) throw new RecentnError('invalid_input', `There is no table ${name}`)
  const mapped = new Map(metadata?.columns.map((column) => [column.databaseName, column]))
  const selects = (column: string) => mapped.get(column)?.isSelect === true
  return {
    ...found,
    name,
    path,
    columns: found.columns.map((column) => ({
      ...column,
      property: mapped.get(column.name)?.propertyPath ?? column.name,
      isSelected: metadata === null || selects(column.name),
    })),
    // By name, so that INVISIBLE columns of an entity come too.
    selected:
      metadata === null
        ? '*'
        : found.columns
            .filter((column) => selects(column.name))
            .map((column) => escaped(column.name))
            .join(', ') || '*',
    escape: escaped,
    createIndex: (index, on) => `CREATE INDEX ${indexOn(escaped, index)} (${on.join(', ')})`,
    rowOf: (raw, hidden = NONE) => (metadata ? entityOf(source, metadata, raw, hidden) : without(raw, hidden)),
  }
}

const NONE: ReadonlySet<string> = new Set()

function nameOf(target: EntityTarget<ObjectLiteral>): string {
  return typeof target === 'function' ? target.name : JSON.stringify(target)
}

/** As TypeORM makes one, without its relations, and without running `@AfterLoad`. */
function entityOf(source: DataSource, metadata: EntityMetadata, raw: Row, hidden: ReadonlySet<string>): ObjectLiteral {
  const entity = metadata.create() as ObjectLiteral
  for (const column of metadata.columns) {
    if (!(column.databaseName in raw) || column.isVirtual || !column.isSelect) continue
    // Its class may have given it a value.
    if (hidden.has(column.databaseName)) column.setEntityValue(entity, undefined)
    else column.setEntityValue(entity, source.driver.prepareHydratedValue(raw[column.databaseName], column))
  }
  return entity
}

function without(raw: Row, hidden: ReadonlySet<string>): Row {
  return Object.fromEntries(Object.entries(raw).filter(([name]) => !hidden.has(name)))
}
