/** The tables of one prefix as TypeORM knows them: entities, and the migrations that make them. */
import {
  type DataSource,
  type EntityMetadata,
  EntitySchema,
  type EntitySchemaColumnOptions,
  getMetadataArgsStorage,
} from 'typeorm'
import { migrations, migrationsOf } from '../../../migrations'
import { entities, RecentnSchema } from '../../entities'
import { faultsOf, refuse } from '../../fields/field'
import { SCHEMA_RULES } from '../../fields/options'
import { tablePrefixFault } from '../../fields/rules'
import { RecentnError } from '../../shared/errors'
import { DEFAULT_PREFIX, type Tables, tablesOf } from '../tables'

type Entity = (typeof entities)[number]

export interface StoreSchema {
  entities: (Entity | EntitySchema)[]
  migrations: typeof migrations
}

/**
 * The `entities` and `migrations` that a user's DataSource lists for a store with this prefix (default: `recentn_`).
 * The exported entity classes refer to these entities. Throws `invalid_input` for a prefix that cannot be used.
 */
export function schemaOf(options: { tablePrefix?: string | undefined } = {}): StoreSchema {
  refuse(faultsOf(options, SCHEMA_RULES))
  const { tablePrefix = DEFAULT_PREFIX } = options
  if (tablePrefix === DEFAULT_PREFIX) return { entities: [...entities], migrations }
  return { entities: entities.map((entity) => renamed(entity, tablePrefix)), migrations: migrationsOf(tablePrefix) }
}

function renamed(target: Entity, prefix: string): EntitySchema {
  const storage = getMetadataArgsStorage()
  const ofTarget = (one: { target: unknown }) => one.target === target
  const named = (name: string | undefined) => prefix + (name as string).slice(DEFAULT_PREFIX.length)
  // Entities share columns by inheriting them.
  const ofClass = ({ target: one }: { target: unknown }) =>
    one === target || (typeof one === 'function' && target.prototype instanceof one)
  const columns = storage.columns.filter(ofClass).map(({ propertyName, options }) => [propertyName, options])
  return new EntitySchema({
    target,
    name: target.name,
    tableName: named(storage.tables.find(ofTarget)?.name),
    synchronize: false,
    columns: Object.fromEntries(columns) as Record<string, EntitySchemaColumnOptions>,
    indices: storage.indices.filter(ofTarget).map((index) => ({
      name: named(index.name),
      columns: index.columns as string[],
      unique: index.unique === true,
    })),
  })
}

/** The table names by the entities of a DataSource; those of the default prefix if it has none of recentn's. */
export function tablesIn(source: DataSource): Tables {
  if (!source.hasMetadata(RecentnSchema)) return tablesOf()
  return tablesOf(source.getMetadata(RecentnSchema).tableName.slice(0, -'schema'.length))
}

/**
 * Throws `invalid_input` if the `entityPrefix` or the naming strategy of a user's DataSource gives recentn's entities other
 * names than the store's statements have. A DataSource need not list the entities, and may list those of other stores.
 */
export function requireNames(source: DataSource, tables: Tables): void {
  const ours = source.entityMetadatas.filter(({ target }) => (entities as unknown[]).includes(target))
  const heads = ours.filter(({ target }) => target === RecentnSchema)
  const isRenamed = heads.some(({ tableName, givenTableName }) => tableName !== givenTableName)
  if (isRenamed && !heads.some(({ tableName }) => tableName === tables.schema))
    throw otherTables(heads[0] as EntityMetadata, tables)
  for (const { columns, tableName } of ours) {
    for (const { databaseName, givenDatabaseName, propertyName } of columns) {
      const name = givenDatabaseName ?? propertyName
      // To the databases the case of a column's name makes no difference.
      if (databaseName.toLowerCase() !== name.toLowerCase())
        throw otherNames(`the column ${name} of ${tableName} ${databaseName}`)
    }
  }
}

function otherTables({ tableName }: EntityMetadata, { schema }: Tables): RecentnError {
  const prefix = tableName.slice(0, -'schema'.length)
  if (!tableName.endsWith('schema') || tablePrefixFault(prefix) !== null)
    return otherNames(`the table ${schema} ${tableName}`)
  return new RecentnError(
    'invalid_input',
    `The DataSource has an entityPrefix or a naming strategy that calls the table ${schema} ${tableName}. To have all of ` +
      `recentn's tables under such names, run the migrations of schemaOf({ tablePrefix: '${prefix}' }), and attach with ` +
      `{ tablePrefix: '${prefix}' }`,
  )
}

function otherNames(what: string): RecentnError {
  return new RecentnError(
    'invalid_input',
    `The DataSource has a naming strategy that calls ${what}. The names that recentn gives are fixed: let the strategy keep ` +
      "names that are given, or leave recentn's entities out of the DataSource",
  )
}
