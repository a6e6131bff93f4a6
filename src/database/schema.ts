/** The tables of one prefix as TypeORM knows them: entities, and the migrations that make them. */
import { type DataSource, EntitySchema, type EntitySchemaColumnOptions, getMetadataArgsStorage } from 'typeorm'
import { migrations, migrationsOf } from '../../migrations'
import { entities, RecentnSchema } from '../entities'
import { faultsOf, refuse } from '../fields/field'
import { SCHEMA_RULES } from '../fields/options'
import { DEFAULT_PREFIX, type Tables, tablesOf } from './tables'

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

/** The entity with another table name. */
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

/** The table names by the entities of a DataSource; those of the default prefix if it has none of ours. */
export function tablesIn(source: DataSource): Tables {
  if (!source.hasMetadata(RecentnSchema)) return tablesOf()
  return tablesOf(source.getMetadata(RecentnSchema).tableName.slice(0, -'schema'.length))
}
