/** From a URL to an initialized DataSource whose connections are set as recentn needs them. */
import path from 'node:path'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { mysqlDriver, sqliteDriver } from './drivers'
import { type Gate, type GateOptions, gatedRunners } from './gate'
import { seeTransactions } from './inside'
import type { MysqlSourceOptions } from './location'
import { MYSQL_SESSION } from './mysql'
import { schemaOf } from './schema'
import { NAMELESS_FILE, parseServerUrl, refusedUrl } from './server-url'
import { sqliteEngine } from './sqlite'
import { tablesOf } from './tables'

/** How long opening a SQLite file waits for another process. */
const PATIENCE_MS = 30_000

export interface ConnectOptions {
  url: string
  poolSize?: number
  tablePrefix?: string | undefined
}

export type SqliteOptions = Extract<DataSourceOptions, { type: 'better-sqlite3' }>

/**
 * The DataSource options of a URL. Throws `invalid_input` for a URL that names no database we know, `database_refused`
 * for SQLite where its driver is not installed.
 */
export function dataSourceOptions({
  url,
  poolSize = 10,
  tablePrefix,
}: ConnectOptions): SqliteOptions | MysqlSourceOptions {
  const common = {
    ...schemaOf({ tablePrefix }),
    migrationsTableName: tablesOf(tablePrefix).migrations,
    migrationsTransactionMode: 'none' as const,
  }
  const sqlite = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url)
  if (sqlite) return { ...common, ...sqliteOptions(sqlite[1] as string) }
  if (/^sqlite:/.test(url)) throw refusedUrl(NAMELESS_FILE)
  const server = parseServerUrl(url)
  return {
    ...common,
    ...server,
    driver: mysqlDriver(),
    charset: 'utf8mb4',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: true,
    connectTimeout: 5000,
    // mysql2 would note the stack of every statement's caller, in case of an error: a twentieth of its time.
    trace: false,
    poolSize,
    extra: { maxIdle: poolSize, enableKeepAlive: true },
  }
}

/** On a SQLite connection of our own: durable commits, exact integers, and no wait that blocks the event loop. */
function sqliteOptions(database: string): SqliteOptions {
  return {
    type: 'better-sqlite3',
    driver: sqliteDriver(),
    database: database === ':memory:' ? database : path.resolve(database),
    timeout: 0,
    enableWAL: database !== ':memory:',
    prepareDatabase: (connection) => {
      connection.defaultSafeIntegers(true)
      connection.pragma('synchronous = FULL')
    },
  }
}

/** Connects. A SQLite DataSource gets the gate for everything that is ever done with it. */
export async function connect(options: DataSourceOptions, gate: Gate, gateOptions?: GateOptions): Promise<DataSource> {
  const source = await initialized(options)
  if (options.type === 'better-sqlite3') {
    source.driver.createQueryRunner = gatedRunners(source, gate, gateOptions)
    seeTransactions(source, gate)
  } else {
    seeTransactions(source, source)
    await setSessions(source).catch(async (error: unknown) => {
      await source.destroy()
      throw error
    })
  }
  return source
}

/**
 * Switching a new SQLite file to WAL takes its lock for a moment. Connections of ours never wait for a lock inside of
 * SQLite, so one that meets another process here is opened again.
 */
async function initialized(options: DataSourceOptions): Promise<DataSource> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const source = new DataSource(options)
    try {
      return await source.initialize()
    } catch (error) {
      const busy = options.type === 'better-sqlite3' && sqliteEngine.failure(error) === 'conflict'
      if (!busy || Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20))
    }
  }
}

interface NewConnection {
  query(sql: string, done: (error: unknown) => void): void
  destroy(): void
}

/** Sets each pooled connection once, when it is made, in place of one more round trip in each transaction. */
async function setSessions(source: DataSource): Promise<void> {
  const { pool } = source.driver as unknown as {
    pool: { on(event: 'connection', listener: (connection: NewConnection) => void): void }
  }
  pool.on('connection', (connection) => {
    // A connection that cannot be set is not used: it would have the server's own isolation level.
    for (const statement of MYSQL_SESSION) connection.query(statement, (error) => error && connection.destroy())
  })
  // The connection by which TypeORM looked whether the server answers was there before the listener.
  const runner = source.createQueryRunner()
  try {
    for (const statement of MYSQL_SESSION) await runner.query(statement)
  } finally {
    await runner.release()
  }
}
