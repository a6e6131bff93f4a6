/**
 * The state of the schema. TypeORM's migrations take no lock of their own, so that several processes that start at
 * once on an empty database would all create the tables: one lock lets one of them migrate, and the others then find
 * nothing to do. The table `schema` says the version, whoever ran the migrations (we, or the user's own DataSource).
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
 * Brings the tables to this code's version. Throws `schema_too_new` for a database that is newer, and `database_refused`,
 * before anything is made, for one in which other tables have our names.
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

/** MySQL and MariaDB: DDL commits implicitly, so a lock by name; it goes with the connection when this process dies. */
async function migrateUnderLock(source: DataSource, runner: QueryRunner, tables: Tables): Promise<void> {
  // A lock's name has at most 64 characters (8 and 56 here) and is known to the whole server, so the database is in it,
  // and the prefix: stores beside each other have nothing to wait for.
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
  // TypeORM would make its table before the first migration looks at the names, and print what that says.
  await refuseMigrationsTable(runner, tables)
  refuseNames(await takenNames(runner, tables.prefix))
  const executor = new MigrationExecutor(source, runner)
  executor.transaction = 'none'
  await executor.executePendingMigrations()
}

/** A table of that name in which somebody else keeps migrations would get ours too, and could not undo its own. */
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
