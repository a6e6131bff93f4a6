/**
 * Migrates the schema. TypeORM's migrations take no lock, so several processes that start at once on an empty database
 * would all create the tables: here a lock lets one process migrate, and the others then find nothing to do. The table
 * `schema` has the version, whether we or the user's own DataSource ran the migrations.
 *
 * The lock of MySQL and MariaDB does not leave its server: the processes of a cluster's nodes migrate at the same time.
 * Invariant: each statement can be run again. A statement that fails because another process was faster is run again, and then finds
 * that it is done.
 */
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm'
import { migrationStem, SCHEMA_VERSION, takenNames } from '../../migrations'
import { describe, refuseNames, standing } from '../../migrations/standing'
import { RecentnError } from '../errors'
import { pause } from './cut-off'
import { driverError, type Engine, type Session } from './engine'
import { LostRows, requireSchema, restoreRows, schemaVersion } from './schema-check'
import { withoutLimit } from './statement-limit'
import type { Tables } from './tables'

const LOCK_SECONDS = 120

/** How often a migration is run again that another process got in the way of, and the longest pause before. */
const MAX_RACES = 20
const LONGEST_PAUSE_MS = 200

/** A table, column, index or row is there already, or is gone already; the definition of a table is being changed. */
const RACED = new Set([1050, 1051, 1060, 1061, 1062, 1091, 1146, 1684])

/**
 * Brings the tables to this code's version. Throws `schema_too_new` for a newer database, and `database_refused`,
 * before it creates anything, if other tables have our names.
 */
export async function migrate(source: DataSource, session: Session, engine: Engine): Promise<void> {
  const before = await steadily(() => schemaVersion(session)).catch(async (error: unknown) => {
    if (!(error instanceof LostRows)) throw error
    await restoreRows(session)
    return SCHEMA_VERSION
  })
  if (before < SCHEMA_VERSION) {
    const runner = source.createQueryRunner()
    try {
      await (engine.family === 'sqlite'
        ? migrateInTransaction(source, runner, session.tables)
        : withoutLimit(runner, () => migrateUnderLock(source, runner, session.tables, engine)))
    } finally {
      await runner.release()
    }
  }
  await requireSchema(session, await steadily(() => schemaVersion(session)))
}

/**
 * Runs `look`, and again after a refusal, until it refuses for the same reason three times: while another process migrates,
 * tables are seen half made, and the version is read later than the tables.
 */
async function steadily<T>(look: () => Promise<T>): Promise<T> {
  let reason = ''
  for (let looks = 1, same = 1; ; looks++) {
    try {
      return await look()
    } catch (error) {
      if (!(error instanceof RecentnError && error.code === 'database_refused')) throw error
      same = error.message === reason ? same + 1 : 1
      reason = error.message
      if (same >= 3 || looks >= MAX_RACES) throw error
      await pause(LONGEST_PAUSE_MS)
    }
  }
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
async function migrateUnderLock(
  source: DataSource,
  runner: QueryRunner,
  tables: Tables,
  engine: Engine,
): Promise<void> {
  // A lock's name has at most 64 characters (8 and 56 here) and is known to the whole server, so the database is in it,
  // and the prefix: stores with other prefixes need not wait for each other.
  const name = `CONCAT('recentn:', SHA2(CONCAT(DATABASE(), '/${tables.prefix}'), 224))`
  const isLocked = await lock(runner, name, engine)
  try {
    for (let races = 0; ; races++) {
      try {
        await steadily(() => runPending(source, runner, tables))
        return await keepOneRow(runner, tables)
      } catch (error) {
        if (races >= MAX_RACES || !isRaced(error, engine)) throw error
        await pause(LONGEST_PAUSE_MS)
      }
    }
  } finally {
    if (isLocked) await runner.query(`SELECT RELEASE_LOCK(${name})`)
  }
}

/** Resolves to false where the server does not give such locks, as nodes of some clusters do not. */
async function lock(runner: QueryRunner, name: string, engine: Engine): Promise<boolean> {
  let rows: { got: unknown }[]
  try {
    rows = await runner.query(`SELECT GET_LOCK(${name}, ${LOCK_SECONDS}) AS got`)
  } catch (error) {
    if (engine.failure(error) !== 'other') throw error
    return false
  }
  if (Number(rows[0]?.got) === 1) return true
  throw new RecentnError('database_unavailable', `Another process has been migrating for ${LOCK_SECONDS} s`)
}

function isRaced(error: unknown, engine: Engine): boolean {
  return engine.failure(error) === 'conflict' || RACED.has(driverError(error).errno ?? 0)
}

/** TypeORM notes each migration that it has run: several processes note the same one. */
async function keepOneRow(runner: QueryRunner, { migrations }: Tables): Promise<void> {
  await runner.query(
    `DELETE later FROM ${migrations} later JOIN ${migrations} first ON first.name = later.name AND first.id < later.id`,
  )
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
