/**
 * Describes tables of the user's: their columns, keys and indexes from an entity or the database's catalogue, and their
 * rows as the user's code knows them. Nothing is cached: a table is described when work on it begins.
 */
import type { DataSource, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm'
import { RecentnError } from '../../shared/errors'
import type { Row, Session } from '../engine'
import { mysqlCatalogue } from './mysql-catalogue'
import { sqliteCatalogue } from './sqlite-catalogue'
import type { TableColumn, TableIndex, TableKind } from './table-parts'

export interface Table extends TableKind {
  /** The name that the user gave. */
  name: string
  /** SQL. */
  path: string
  columns: readonly TableColumn[]
  /** Unescaped; empty if there is no primary key. */
  primaryKey: readonly string[]
  indexes: readonly TableIndex[]
  /** SQL: the columns that are read of a row. */
  selected: string
  /** SQL of a column. */
  escape(column: string): string
  /** SQL that creates an index of columns, each of which is SQL. */
  createIndex(index: string, columns: readonly string[]): string
  /** SQL: a trigger that sets the column to null with each UPDATE of a row in which it is not null. */
  clearingTrigger(trigger: string, column: string): string
  /** A row as the user's code knows it: an entity with its transformers applied, or an object by column names. It lacks
   * the `hidden` columns, so that saving the entity does not write them. */
  rowOf(raw: Row, hidden?: ReadonlySet<string>): ObjectLiteral
}

/** Describes a table. Throws `invalid_input` for an unknown entity or table. */
export async function describeTable(
  source: DataSource,
  session: Session,
  target: EntityTarget<ObjectLiteral>,
): Promise<Table> {
  const metadata = source.hasMetadata(target) ? source.getMetadata(target) : null
  if (metadata === null && typeof target !== 'string') {
    const named = typeof target === 'function' ? target.name : JSON.stringify(target)
    throw new RecentnError('invalid_input', `The DataSource of the store has no entity ${named}`)
  }
  const name = metadata?.tableName ?? (target as string)
  const escaped = (part: string) => source.driver.escape(part)
  const path = (metadata?.tablePath ?? name).split('.').map(escaped).join('.')
  const [table, schema] = (metadata?.tablePath ?? name).split('.').reverse() as [string, string | undefined]
  const { indexOn, clearingTrigger, ...found } = await session.read((reader) =>
    (reader.engine.family === 'sqlite' ? sqliteCatalogue : mysqlCatalogue)(reader, table, schema),
  )
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
    // By name, so that INVISIBLE columns of an entity are read too.
    selected:
      metadata === null
        ? '*'
        : found.columns
            .filter((column) => selects(column.name))
            .map((column) => escaped(column.name))
            .join(', ') || '*',
    escape: escaped,
    clearingTrigger: (trigger, column) => clearingTrigger(escaped, trigger, column),
    createIndex: (index, on) => `CREATE INDEX ${indexOn(escaped, index)} (${on.join(', ')})`,
    rowOf: (raw, hidden = NONE) =>
      metadata
        ? entityOf(source, metadata, raw, hidden)
        : Object.fromEntries(Object.entries(raw).filter(([column]) => !hidden.has(column))),
  }
}

const NONE: ReadonlySet<string> = new Set()

/** An entity as TypeORM makes it, but without relations, and without calling `@AfterLoad`. */
function entityOf(source: DataSource, metadata: EntityMetadata, raw: Row, hidden: ReadonlySet<string>): ObjectLiteral {
  const entity = metadata.create() as ObjectLiteral
  for (const column of metadata.columns) {
    if (!(column.databaseName in raw) || column.isVirtual || !column.isSelect) continue
    // The entity's class may have set a value.
    if (hidden.has(column.databaseName)) column.setEntityValue(entity, undefined)
    else column.setEntityValue(entity, source.driver.prepareHydratedValue(raw[column.databaseName], column))
  }
  return entity
}
