/** Where a test store is: in memory, or in its own database on a server, which is dropped with it. */
import { randomBytes } from 'node:crypto'
import type { DataSourceOptions } from 'typeorm'
import { DataSource } from 'typeorm'
import { dataSourceOptions, type MysqlOptions, type SqliteOptions } from '../database/opening/connect'
import { RecentnError } from '../shared/errors'
import type { OpenOptions } from '../store/option-types'

/** ER_DBACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ER_SPECIFIC_ACCESS_DENIED_ERROR */
const DENIED = new Set([1044, 1142, 1227])

const MEMORY = 'sqlite::memory:'
/** Before the random part of a database's name, where the URL names no database. */
const NAME = 'recentn_test'

export interface TestDatabase {
  url: string
  connection: SqliteOptions | MysqlOptions
  drop(): Promise<void>
}

type Parts = Pick<DataSourceOptions, 'entities' | 'migrations' | 'subscribers' | 'namingStrategy'>

/** Makes the database. `given`: the user's own entities, and the like. */
export async function testDatabase(
  url: string | undefined,
  { tablePrefix, password }: Pick<OpenOptions, 'tablePrefix' | 'password'>,
  given: Parts,
): Promise<TestDatabase> {
  if (url === undefined || url.startsWith('sqlite:')) {
    const options = dataSourceOptions({ url: url ?? MEMORY, tablePrefix, password }) as SqliteOptions
    // Exact integers are for recentn's own rows, which come as texts: the user's entities have numbers.
    const connection = withParts({ ...options, prepareDatabase: undefined }, given) as SqliteOptions
    return { url: url ?? MEMORY, connection, drop: async () => {} }
  }
  const named = new URL(url)
  const stem = named.pathname.slice(1) || NAME
  const database = `${stem}_${randomBytes(6).toString('hex')}`
  named.pathname = `/${database}`
  const connection = dataSourceOptions({ url: named.href, tablePrefix, password }) as MysqlOptions
  await onServer(connection, `CREATE DATABASE ${database} CHARACTER SET utf8mb4`).catch((error) => {
    if (!DENIED.has(error.errno)) throw error
    const right = `GRANT ALL ON \`${stem.replaceAll('_', '\\_')}\\_%\`.* TO its user`
    throw new RecentnError('database_refused', `A test store makes its own database, and may not: ${right}`, {
      cause: error,
    })
  })
  return {
    url: named.href,
    connection: withParts(connection, given) as MysqlOptions,
    drop: () => onServer(connection, `DROP DATABASE IF EXISTS ${database}`),
  }
}

/** The user's tables are made from the entities, unless there are migrations; recentn's come from its own in any case. */
function withParts(
  options: SqliteOptions | MysqlOptions,
  { entities, migrations, ...others }: Parts,
): DataSourceOptions {
  const listed = (one: Parts['entities'] | Parts['migrations']) => (Array.isArray(one) ? one : Object.values(one ?? {}))
  return {
    ...options,
    ...others,
    entities: [...listed(entities), ...listed(options.entities)],
    migrations: [...listed(migrations), ...listed(options.migrations)],
    synchronize: listed(entities).length > 0 && listed(migrations).length === 0,
  } as DataSourceOptions
}

async function onServer(connection: MysqlOptions, statement: string): Promise<void> {
  const server = new DataSource({ ...connection, database: undefined, entities: [], migrations: [], poolSize: 1 })
  await server.initialize()
  try {
    await server.query(statement)
  } finally {
    await server.destroy()
  }
}
