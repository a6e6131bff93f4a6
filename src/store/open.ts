/** How a store comes to its database: one that is opened by a URL, or the user's own. */
import 'reflect-metadata'
import type { DataSource, DataSourceOptions } from 'typeorm'
import { attach, engineOf, recognise } from '../database/attached/attach'
import type { Engine } from '../database/engine'
import { ownPoolOf } from '../database/mysql/own-pool'
import { SkipLockedCheck } from '../database/mysql/skip-locked'
import { connect, dataSourceOptions, requireFile } from '../database/opening/connect'
import { migrate } from '../database/schema/migrate'
import { requireNames, requireSchema, schemaVersion } from '../database/schema/schema'
import { Gate } from '../database/sqlite/gate'
import { gatedSourceOf } from '../database/sqlite/gated-runner'
import { tablesOf } from '../database/tables'
import { Database } from '../database/transaction'
import type { OpenOptions, StoreOptions } from './option-types'
import { checkAttach, checkOpenOptions, openingFault } from './options'
import { BoundStore } from './store'
import type { Store } from './types'

export { otherSettings } from '../database/mysql/session-settings'
/** Of use to `recentn doctor`, too. */
export { OF_A_PROXY, refusedServer, serverName, sharedSessions, skipsLocked } from '../database/mysql/skip-locked'
export { backUp, fileOf, restore } from '../database/sqlite/file-copies'
export { proceduresSql } from '../repositories/door/doors'

/**
 * Opens a store on its own connections, creating or upgrading the tables (unless `migrate` is false). If several processes
 * do so at once, one migrates and the others wait. `openStore({ url: 'sqlite::memory:' })` is a fresh store for one test.
 *
 * Throws `invalid_input` for a bad URL, `database_unavailable` when no server answers, and `schema_too_new` for a database
 * that newer code has migrated. Throws `database_refused` for a wrong password, no such database or file, user tables with
 * names that recentn needs, or recentn's tables with other columns. With `migrate: false` also `schema_missing` and
 * `schema_outdated`.
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
  const own = ownPoolOf(dataSource) ?? gatedSourceOf(dataSource)
  try {
    const database = new Database({
      engine: await recognise(dataSource),
      tables,
      dataSource,
      gate,
      skipLocked: engine.oneConnection ? undefined : new SkipLockedCheck(dataSource, tables.schema),
      connectionTimeoutSeconds,
      clockOffsetMs,
      open: (done) => own?.open(done),
    })
    if (options.migrate === false) await requireSchema(database, await schemaVersion(database))
    else await migrate(dataSource, database, database.engine)
    return new BoundStore({ dataSource, database, close: () => disconnect(dataSource, engine) }, options)
  } catch (error) {
    await disconnect(dataSource, engine)
    throw openingFault(engine, connection, error)
  }
}

/** Closes our own connections. One that is lost then, or that has not been made yet, is closed all the same. */
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
 * never mix. SQLite in memory is used through the user's one connection, where transactions must go through
 * `store.transaction`. `close()` leaves the user's DataSource open. Throws `schema_missing`, `schema_outdated` or
 * `schema_too_new`, and `invalid_input` where `entityPrefix` or a naming strategy gives recentn's entities other names than
 * the store has. Throws `database_refused` where the tables have other columns than recentn's, or where its connections have
 * another character set than `utf8mb4`, or settings such as `autocommit` off. The error names them.
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
