/** The tables of one prefix as TypeORM knows them: entities, and the migrations that make them. */
import {
  type DataSource,
  type EntityMetadata,
  EntitySchema,
  type EntitySchemaColumnOptions,
  getMetadataArgsStorage,
} from 'typeorm'
import { currentColumns, migrations, migrationsOf, SCHEMA_VERSION } from '../../../migrations'
import { describe, type NameHolder, refuseNames, standing } from '../../../migrations/standing'
import { entities, RecentnSchema } from '../../entities'
import { faultsOf, refuse } from '../../fields/field'
import { SCHEMA_RULES } from '../../fields/options'
import { tablePrefixFault } from '../../fields/rules'
import { RecentnError } from '../../shared/errors'
import { wallClockMs } from '../../shared/platform'
import type { Reader, Session } from '../engine'
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

/** Tables with one row, which no statement can do without, are empty: a test may have emptied all tables. */
export class LostRows extends RecentnError {
  constructor(readonly tables: readonly string[]) {
    super('schema_missing', `${tables.join(' and ')} lost its row: run "recentn migrate", which makes it again`)
  }
}

/**
 * The version of the database: 0 if it has none of our tables, or not yet all of them. Throws `LostRows` if these are complete,
 * but lack a row. Throws `database_refused` if tables of this code's version lack columns or have others, or if other tables have
 * our names and there is no version yet. The error names each of them.
 */
export async function schemaVersion(session: Session): Promise<number> {
  try {
    return await session.read(async (reader) => {
      const found = await ownTables(reader)
      const columns = found.get(reader.tables.schema)?.columns
      // A table of that name without these columns is not ours.
      const isOurs = columns?.has('id') && columns.has('version')
      const [row] = isOurs ? await reader.rows(`SELECT version FROM ${reader.tables.schema} WHERE id = 1`) : []
      const version = Number(row?.version ?? 0)
      const lost = differences(reader, found).length > 0 ? [] : await lostRows(reader)
      if (lost.length > 0) throw new LostRows(lost)
      if (version === SCHEMA_VERSION) refuseDifferences(differences(reader, found))
      if (version === 0) refuseNames(strangers(reader, found))
      return version
    })
  } catch (error) {
    const isMissing = error instanceof RecentnError && error.code === 'schema_missing'
    if (isMissing && !(error instanceof LostRows)) return 0
    throw error
  }
}

async function lostRows(reader: Reader): Promise<string[]> {
  const lost: string[] = []
  for (const table of [reader.tables.schema, reader.tables.policyEpoch]) {
    if ((await reader.rows(`SELECT id FROM ${table} WHERE id = 1`)).length === 0) lost.push(table)
  }
  return lost
}

/** Makes lost rows again. The epoch is later than any that a process or a head knows. */
export async function restoreRows(session: Session): Promise<void> {
  const values = new Map([
    [session.tables.schema, { column: 'version', value: BigInt(SCHEMA_VERSION) }],
    [session.tables.policyEpoch, { column: 'epoch', value: BigInt(wallClockMs()) }],
  ])
  await session.write(async (tx) => {
    for (const table of await lostRows(tx)) {
      const { column, value } = values.get(table) as { column: string; value: bigint }
      await tx.later(tx.engine.upsert(table, 'id', ['id', column], ['id'], [[1n, value]]))
    }
  })
}

/** Throws `schema_missing`, `schema_outdated` or `schema_too_new` unless the version is this code's. */
export async function requireSchema(session: Session, version: number): Promise<void> {
  if (version === SCHEMA_VERSION) return
  if (version === 0) {
    const others = (await session.read(prefixes)).map((prefix) => JSON.stringify(prefix)).join(', ')
    const elsewhere = `with the tablePrefix ${JSON.stringify(session.tables.prefix)}, but with ${others}: set that`
    throw new RecentnError(
      'schema_missing',
      `The database has no recentn tables${others === '' ? ': ' : ` ${elsewhere} (RECENTN_TABLE_PREFIX), or `}run "recentn migrate", ` +
        'or add the migrations of recentn/typeorm to your DataSource and run them',
    )
  }
  const versions = `the database is at schema version ${version}, this code at ${SCHEMA_VERSION}`
  if (version > SCHEMA_VERSION) {
    throw new RecentnError(
      'schema_too_new',
      `The recentn tables are newer than this code (${versions}): upgrade recentn`,
    )
  }
  throw new RecentnError(
    'schema_outdated',
    `The recentn tables are older than this code (${versions}): run "recentn migrate"`,
  )
}

/** The other prefixes of the recentn tables that there are: no other table has a name like this one. */
async function prefixes({ rows, engine, tables }: Reader): Promise<string[]> {
  const end = tables.policyRollouts.slice(tables.prefix.length)
  const catalogue =
    engine.family === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ?"
      : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE ?'
  const found = await rows(`${catalogue} ORDER BY 1 LIMIT 5`, [`%${end}`])
  return found.map(({ name }) => (name as string).slice(0, -end.length)).filter((prefix) => prefix !== tables.prefix)
}

function ownTables(reader: Reader): Promise<Map<string, NameHolder>> {
  const names = [...currentColumns().keys()].map((name) => reader.tables.prefix + name)
  return standing((sql) => reader.rows(sql), reader.engine.family === 'sqlite', names)
}

/** The parts that our tables lack, and the parts in them that are not ours. */
function differences(reader: Reader, found: ReadonlyMap<string, NameHolder>): string[] {
  return [...currentColumns()].flatMap(([plain, { all: columns }]) => {
    const name = reader.tables.prefix + plain
    const known = found.get(name)
    if (!known) return [`there is no table ${name}`]
    if (known.kind !== 'table') return [`${name} is ${known.kind === 'view' ? 'a view' : 'an index'}`]
    const missing = columns.filter((column) => !known.columns.has(column))
    const foreign = [...known.columns.keys()].filter((column) => !columns.includes(column))
    return [
      ...missing.map((column) => `${name} has no column ${column}`),
      ...foreign.map((column) => `${name} has a column ${column}, which is not recentn's`),
    ]
  })
}

function refuseDifferences(details: readonly string[]): void {
  if (details.length === 0) return
  throw new RecentnError(
    'database_refused',
    `The tables are not as recentn makes them: ${details.join('; ')}. Put them right, or restore them from a backup`,
    { faults: details.map((detail) => ({ detail })) },
  )
}

/** Tables with our names but other columns, which an interrupted migration cannot have left. */
function strangers(reader: Reader, found: ReadonlyMap<string, NameHolder>): string[] {
  return [...currentColumns()].flatMap(([plain, { all, added }]) => {
    const name = reader.tables.prefix + plain
    const known = found.get(name)
    if (!known) return []
    const isSame =
      all.every((column) => known.columns.has(column) || added.includes(column)) &&
      [...known.columns.keys()].every((column) => all.includes(column))
    return known.kind === 'table' && isSame ? [] : [describe(name, known)]
  })
}
