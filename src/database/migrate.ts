/**
 * Migrates the schema. TypeORM's migrations take no lock, so several processes that start at once on an empty database
 * would all create the tables: here a lock lets one process migrate, and the others then find nothing to do. The table
 * `schema` has the version, whether we or the user's own DataSource ran the migrations.
 */
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm'
import { migrationStem, SCHEMA_VERSION, takenNames } from '../../migrations'
import { describe, refuseNames, standing } from '../../migrations/standing'
import { RecentnError } from '../errors'
import type { Engine, Session } from './engine'
import { requireSchema, schemaVersion } from './schema-check'
import type { Tables } from './tables'

const LOCK_SECONDS = 120

/**
 * Brings the tables to this code's version. Throws `schema_too_new` for a newer database, and `database_refused`,
 * before it creates anything, if other tables have our names.
 */
export async function migrate(source: DataSource, session: Session, engine: Engine): Promise<void> {
  const before = await schemaVersion(session)
  if (before < SCHEMA_VERSION) {
    const runner = source.createQueryRunner()
    try {
      await (engine.family === 'sqlite'
        ? migrateInTransaction(source, runner, session.tables)
        : migrateUnderLock(source, runner, session.tables))
    } finally {
      await runner.release()
    }
  }
  requireSchema(await schemaVersion(session))
}

/** SQLite: DDL is transactional, and BEGIN IMMEDIATE is the lock. */
async function migrateInTransaction(source: DataSource, runner: QueryRunner, tables: Tables): Promise<void> {
  await runner.startTransaction()
  try {
    await runPending(source, runner, tables)
    await runner.commitTransaction()
  } catch (error) {
    await runner.rollbackTransaction()
    throw error
  }
}

/** MySQL and MariaDB: DDL commits implicitly, so the lock is a named one, which ends with the connection. */
async function migrateUnderLock(source: DataSource, runner: QueryRunner, tables: Tables): Promise<void> {
  // A lock's name has at most 64 characters (8 and 56 here) and is known to the whole server, so the database is in it,
  // and the prefix: stores with other prefixes need not wait for each other.
  const name = `CONCAT('recentn:', SHA2(CONCAT(DATABASE(), '/${tables.prefix}'), 224))`
  const [row] = await runner.query(`SELECT GET_LOCK(${name}, ${LOCK_SECONDS}) AS got`)
  if (Number(row.got) !== 1) {
    throw new RecentnError('database_unavailable', `Another process has been migrating for ${LOCK_SECONDS} s`)
  }
  try {
    await runPending(source, runner, tables)
  } finally {
    await runner.query(`SELECT RELEASE_LOCK(${name})`)
  }
}

async function runPending(source: DataSource, runner: QueryRunner, tables: Tables): Promise<void> {
  // Otherwise TypeORM creates its table before the first migration checks the names, and prints the error.
  await refuseMigrationsTable(runner, tables)
  refuseNames(await takenNames(runner, tables.prefix))
  const executor = new MigrationExecutor(source, runner)
  executor.transaction = 'none'
  await executor.executePendingMigrations()
}

/** Refuses a migrations table that is not ours: it would get our migrations, and its owner could not revert its own. */
async function refuseMigrationsTable(runner: QueryRunner, { migrations: name, prefix }: Tables): Promise<void> {
  const isSqlite = runner.connection.options.type === 'better-sqlite3'
  const found = (await standing((sql) => runner.query(sql), isSqlite, [name])).get(name)
  if (!found) return
  const isTypeorms =
    found.kind === 'table' && ['id', 'name', 'timestamp'].join() === [...found.columns.keys()].sort().join()
  if (!isTypeorms) refuseNames([describe(name, found)])
  const rows: { name: string }[] = await runner.query(`SELECT name FROM ${name}`)
  const own = new RegExp(`^${migrationStem(prefix)}\\d{13}$`)
  const other = rows.find((row) => !own.test(row.name))
  if (other) refuseNames([`${name} (a table with the migration ${other.name}, which is not recentn's)`])
}
