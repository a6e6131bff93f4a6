/** How a store comes to its database: one that is opened by a URL, or the user's own. */
import 'reflect-metadata'
import type { DataSource, DataSourceOptions } from 'typeorm'
import { attach, engineOf, recognise } from '../database/attached/attach'
import { connect, dataSourceOptions, requireFile } from '../database/connect'
import type { Engine } from '../database/engine'
import { SkipLockedCheck } from '../database/mysql/skip-locked'
import { migrate } from '../database/schema/migrate'
import { requireNames } from '../database/schema/schema'
import { requireSchema, schemaVersion } from '../database/schema/schema-check'
import { Gate } from '../database/sqlite/gate-queue'
import { tablesOf } from '../database/tables'
import { Database } from '../database/transaction'
import { checkAttach, checkOpenOptions, openingFault } from './options'
import { BoundStore } from './store'
import type { OpenOptions, Store, StoreOptions } from './types'

/** What `recentn doctor` asks of a server, too. */
export { otherSettings } from '../database/mysql/session-settings'
export { refusedServer, serverName, skipsLocked } from '../database/mysql/skip-locked'
export { backUp, fileOf, restore } from '../database/sqlite/file-copies'

/**
 * Opens a store on a database of its own connections, creating or upgrading the tables (unless `migrate` is false); of
 * several processes that do so at once one migrates and the others wait.
 *
 * `openStore({ url: 'sqlite::memory:' })` is a fresh store for one test. Throws `invalid_input` for a bad URL,
 * `database_unavailable` when nobody answers, `database_refused` when it answers but can't be used (a wrong password,
 * no such database, no database file, tables of the user's with names that recentn needs, tables of recentn's with
 * other columns), `schema_too_new` for a database that newer code has migrated, and with `migrate: false` also
 * `schema_missing` and `schema_outdated`.
 */
export async function openStore(options: OpenOptions): Promise<Store> {
  checkOpenOptions(options)
  return openOn(dataSourceOptions(options), options)
}

/** The same on these connections; the options are valid. */
export async function openOn(connection: DataSourceOptions, options: OpenOptions): Promise<BoundStore> {
  if (options.migrate === false) requireFile(connection)
  const gate = new Gate()
  const engine = engineOf({ options: connection } as DataSource)
  const { clockOffsetMs, connectionTimeoutSeconds, statementTimeoutSeconds } = options
  const tables = tablesOf(options.tablePrefix)
  const gateOptions = { connectionTimeoutSeconds }
  const dataSource = await connect(connection, gate, gateOptions, statementTimeoutSeconds).catch((error: unknown) => {
    throw openingFault(engine, connection, error)
  })
  try {
    const database = new Database({
      engine: await recognise(dataSource),
      tables,
      dataSource,
      gate,
      skipLocked: engine.oneConnection ? undefined : new SkipLockedCheck(dataSource, tables.schema),
      connectionTimeoutSeconds,
      clockOffsetMs,
      createRunner: () => dataSource.createQueryRunner(),
    })
    if (options.migrate === false) await requireSchema(database, await schemaVersion(database))
    else await migrate(dataSource, database, database.engine)
    return new BoundStore({ dataSource, database, close: () => disconnect(dataSource, engine) }, options)
  } catch (error) {
    await disconnect(dataSource, engine)
    throw openingFault(engine, connection, error)
  }
}

/** Closes our own connections. One that is lost meanwhile, or that has not been made yet, is closed all the same. */
async function disconnect(dataSource: DataSource, engine: Engine): Promise<void> {
  try {
    await dataSource.destroy()
  } catch (error) {
    if (engine.failure(error) !== 'lost') throw error
  }
}

/**
 * Attaches a store to the user's own, initialized DataSource of type mysql, mariadb or better-sqlite3. The tables must
 * be there: list the `migrations` of `recentn/typeorm` in the DataSource (with `tablePrefix`, those of `schemaOf`) and run them, or
 * run `recentn migrate`.
 *
 * SQLite in a file is used through a connection of the store's own, so that the user's open transaction and the store's
 * never mix; SQLite in memory through the user's one connection, where transactions must go through
 * `store.transaction`. `close()` leaves the user's DataSource open. Throws `invalid_input` where `entityPrefix` or a naming
 * strategy gives recentn's entities other names than the store has, `schema_missing`, `schema_outdated` or
 * `schema_too_new`, and `database_refused` where the tables have other columns than recentn's, or where its connections
 * lose texts (another character set than `utf8mb4`) or have settings that recentn does not work with, such as
 * `autocommit` off or a `sql_select_limit`: the error names them.
 */
export async function attachStore(dataSource: DataSource, options: StoreOptions = {}): Promise<Store> {
  checkAttach(dataSource, options)
  requireNames(dataSource, tablesOf(options.tablePrefix))
  const attached = await attach(dataSource, options)
  try {
    await requireSchema(attached.database, await schemaVersion(attached.database))
  } catch (error) {
    await attached.close()
    throw error
  }
  return new BoundStore(attached, options)
}
