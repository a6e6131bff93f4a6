/** From a URL to an initialized DataSource whose connections are set as recentn needs them. */

import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import path from 'node:path'
import { DataSource, type DataSourceOptions } from 'typeorm'
import { invalidInput, RecentnError } from '../../shared/errors'
import { delay, performance } from '../../shared/platform'
import { behind } from '../attached/driver-view'
import { seeTransactions } from '../inside'
import { noteLockWait } from '../mysql/mysql-connection'
import { mysqlFailure } from '../mysql/mysql-failures'
import { OwnPool } from '../mysql/own-pool'
import { notePacketLimit } from '../mysql/packets'
import { PASSWORD_MS, type PasswordFunction, sendsTokens, streamWithPassword } from '../mysql/password'
import { answered, connectTo, ofPool, type ServerConnection, ServerHosts, type ServerPool } from '../mysql/server-hosts'
import { NAMELESS_FILE, parseServerUrl, passwordFault, refusedUrl, sqliteFile } from '../mysql/server-url'
import { OWN_ZONE, ownSettings } from '../mysql/session-settings'
import { requireOneSession } from '../mysql/skip-locked'
import { DEFAULT_STATEMENT_TIMEOUT_SECONDS, limitStatements } from '../mysql/statement-limit'
import { schemaOf } from '../schema/schema'
import type { Gate } from '../sqlite/gate'
import { GatedSource } from '../sqlite/gated-runner'
import type { GateOptions } from '../sqlite/sqlite-connection'
import { sqliteEngine } from '../sqlite/sqlite-engine'
import { requireOwnWal } from '../sqlite/watched-file'
import { tablesOf } from '../tables'
import { mysqlDriver, sqliteDriver } from './drivers'

const TIME_LIMIT_MS = 30_000

interface ConnectOptions {
  url: string
  password?: string | PasswordFunction | undefined
  poolSize?: number
  tablePrefix?: string | undefined
}

export type SqliteOptions = Extract<DataSourceOptions, { type: 'better-sqlite3' }>
export type MysqlOptions = Extract<DataSourceOptions, { type: 'mysql' | 'mariadb' }> & {
  /** Set by a URL with several hosts. */
  hosts?: ServerHosts
  /** Its function is asked once more for a password that was refused. */
  asksPassword?: boolean
}

/** How long a new connection waits for its server, and where there is another host to go to. */
const CONNECT_MS = 5000
const CONNECT_ONE_OF_SEVERAL_MS = 2000

/** TypeORM 0.3 warns of a driver without its name. TypeORM 1 has no such option. */
const DRIVER_NAME = { connectorPackage: 'mysql2' } as const

/** Throws `invalid_input` for a URL of an unknown database, and `database_refused` where SQLite's driver is not installed. */
export function dataSourceOptions(given: ConnectOptions): SqliteOptions | MysqlOptions {
  const { url, password, poolSize = 10, tablePrefix } = given
  const fault = password === undefined ? null : passwordFault(url)
  if (fault !== null) throw invalidInput([{ pointer: '/password', detail: fault }])
  const common = {
    ...schemaOf({ tablePrefix }),
    migrationsTableName: tablesOf(tablePrefix).migrations,
    migrationsTransactionMode: 'none' as const,
    // The default logger writes to standard output about a migration that another process got in the way of.
    logger: 'debug' as const,
  }
  if (url.startsWith('sqlite:')) {
    const file = sqliteFile(url)
    if (file === null) throw refusedUrl(NAMELESS_FILE)
    return { ...common, ...sqliteOptions(file) }
  }
  const { hosts: all, ...server } = parseServerUrl(url)
  const hosts = all.length > 1 ? new ServerHosts(all) : undefined
  const connectMs = hosts ? CONNECT_ONE_OF_SEVERAL_MS : CONNECT_MS
  const stream = hosts?.stream
  const asks = typeof password === 'function'
  return {
    ...common,
    ...server,
    ...all[0],
    ...(hosts && { hosts }),
    ...(asks ? { asksPassword: true } : password !== undefined && { password }),
    driver: mysqlDriver(),
    ...DRIVER_NAME,
    charset: 'utf8mb4',
    timezone: 'Z',
    supportBigNumbers: true,
    bigNumberStrings: true,
    connectTimeout: connectMs + (asks ? PASSWORD_MS : 0),
    // For statements that are gathered (`packets.ts`).
    multipleStatements: true,
    // Otherwise mysql2 records the stack of every statement's caller in case of an error, which takes 5 % of its time.
    trace: false,
    poolSize,
    extra: {
      maxIdle: poolSize,
      enableKeepAlive: true,
      ...(stream && { stream }),
      ...(asks && { stream: streamWithPassword(password, connectMs, stream ?? connectTo) }),
      ...(asks && server.ssl && { authPlugins: sendsTokens }),
    },
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

/** Throws `schema_missing` for a SQLite file that does not exist: to connect would create it, empty. */
export function requireFile({ type, database }: DataSourceOptions): void {
  if (type !== 'better-sqlite3' || database === ':memory:' || existsSync(database)) return
  throw new RecentnError('schema_missing', `There is no file ${database}: run "recentn migrate" to create it`)
}

/** Makes a missing SQLite file for this user alone. SQLite gives its `-wal` and `-shm` the same rights. */
function makeFile(file: string): void {
  if (file === '' || file === ':memory:') return
  const found = statSync(file, { throwIfNoEntry: false })
  // SQLite takes what is written to a device as done, and finds nothing there.
  if (found && !found.isFile()) throw refusedUrl(`names ${file}, which is not a file`)
  if (found) return
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    closeSync(openSync(file, 'a', 0o600))
  } catch {
    // The driver says why the file cannot be opened.
  }
}

/** Connects. Everything that is done with a SQLite DataSource goes through the gate. */
export async function connect(
  options: DataSourceOptions,
  gate: Gate,
  gateOptions?: GateOptions,
  statementSeconds = DEFAULT_STATEMENT_TIMEOUT_SECONDS,
): Promise<DataSource> {
  if (options.type === 'better-sqlite3') {
    makeFile(options.database)
    await requireOwnWal(options.database)
    const source = await initialized(options)
    source.driver.createQueryRunner = new GatedSource(source, gate, gateOptions).runner
    seeTransactions(source, gate)
    return source
  }
  const { hosts } = options as MysqlOptions
  for (let left = hosts?.all.length ?? 1; ; left--) {
    try {
      return await connectServer(options, hosts, statementSeconds)
    } catch (error) {
      if (left === 1 || mysqlFailure(error) !== 'lost') throw error
    }
  }
}

async function connectServer(
  options: DataSourceOptions,
  hosts: ServerHosts | undefined,
  statementSeconds: number,
): Promise<DataSource> {
  const { driver, asksPassword } = options as MysqlOptions
  const pool = new OwnPool(driver, asksPassword)
  const source = await initialized({ ...options, driver: pool.driver } as MysqlOptions)
  pool.belongsTo(source)
  seeTransactions(source, source)
  await setSessions(source, hosts, statementSeconds).catch(async (error: unknown) => {
    await source.destroy().catch(() => {})
    throw error
  })
  return source
}

/**
 * Initializes the DataSource. Switching a new SQLite file to WAL locks it for a moment. Our connections never wait for
 * a lock inside of SQLite, so opening the file is tried again while another process has it locked.
 */
async function initialized(options: DataSourceOptions): Promise<DataSource> {
  const deadline = performance.now() + TIME_LIMIT_MS
  for (;;) {
    const source = new DataSource(options)
    try {
      return await source.initialize()
    } catch (error) {
      const busy = options.type === 'better-sqlite3' && sqliteEngine.failure(error) === 'conflict'
      if (!busy || performance.now() > deadline) throw error
      await delay(5 + Math.random() * 20)
    }
  }
}

/** Sets each pooled connection once, when it is made, in place of one more round trip in each transaction. */
async function setSessions(
  source: DataSource,
  hosts: ServerHosts | undefined,
  statementSeconds: number,
): Promise<void> {
  const { pool } = source.driver as unknown as { pool: ServerPool }
  const set = (connection: ServerConnection): Promise<unknown> => {
    connection.on('error', () => {})
    ofPool(connection, pool)
    limitStatements(connection, pool, statementSeconds)
    noteLockWait(connection, statementSeconds)
    const isSet = answered(connection, ownSettings(statementSeconds)).then((answers) => {
      const [{ largest = 0 } = {}] = (answers as { largest?: number | string }[][]).at(-1) ?? []
      notePacketLimit(connection, Number(largest))
    })
    return Promise.all([isSet, hosts?.require(connection)])
  }
  pool.on('connection', (connection) => {
    // A connection that cannot be set is closed: it would have the server's own isolation level.
    set(connection).catch((error: Error) => connection.stream.destroy(error))
  })
  hosts?.follow(pool)
  // TypeORM's first connection, which checked that the server answers, was made before the listener was added.
  const runner = source.createQueryRunner()
  try {
    await set(behind<ServerConnection>(await runner.connect()))
    await requireOneSession((sql) => runner.query(sql), OWN_ZONE)
  } finally {
    await runner.release()
  }
}
