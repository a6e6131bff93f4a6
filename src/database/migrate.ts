/**
 * The state of the schema. TypeORM's migrations take no lock of their own, so that several processes that start at
 * once on an empty database would all create the tables: one lock lets one of them migrate, and the others then find
 * nothing to do. `recentn_schema` says the version, whoever ran the migrations (we, or the user's own DataSource).
 */
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm'
import { SCHEMA_VERSION } from '../../migrations'
import { RecentnError } from '../errors'
import type { Engine, Session } from './engine'

const LOCK_SECONDS = 120

/** The version that the database has: 0 when it has no table of ours. */
export async function schemaVersion(session: Session): Promise<number> {
  try {
    const rows = await session.read((reader) => reader.rows('SELECT version FROM recentn_schema'))
    return Number(rows[0]?.version ?? 0)
  } catch (error) {
    if (error instanceof RecentnError && error.code === 'schema_missing') return 0
    throw error
  }
}

/** Throws `schema_missing`, `schema_outdated` or `schema_too_new` unless the tables are those that this code knows. */
export function requireSchema(version: number): void {
  if (version === SCHEMA_VERSION) return
  if (version === 0) {
    throw new RecentnError(
      'schema_missing',
      'The database has no recentn tables: run "recentn migrate", or add the exported migrations to your DataSource and run them',
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

/** Brings the tables to this code's version; refuses a database that is newer. */
export async function migrate(source: DataSource, session: Session, engine: Engine): Promise<void> {
  const before = await schemaVersion(session)
  if (before < SCHEMA_VERSION) {
    const runner = source.createQueryRunner()
    try {
      await (engine.family === 'sqlite' ? migrateInTransaction(source, runner) : migrateUnderLock(source, runner))
    } finally {
      await runner.release()
    }
  }
  requireSchema(await schemaVersion(session))
}

/** SQLite: DDL is transactional, and BEGIN IMMEDIATE is the lock. */
async function migrateInTransaction(source: DataSource, runner: QueryRunner): Promise<void> {
  await runner.startTransaction()
  try {
    await runPending(source, runner)
    await runner.commitTransaction()
  } catch (error) {
    await runner.rollbackTransaction()
    throw error
  }
}

/** MySQL and MariaDB: DDL commits implicitly, so a lock by name; it goes with the connection when this process dies. */
async function migrateUnderLock(source: DataSource, runner: QueryRunner): Promise<void> {
  // A lock's name has at most 64 characters (8 and 56 here) and is known to the whole server, so the database is in it.
  const name = "CONCAT('recentn:', SHA2(DATABASE(), 224))"
  const [row] = await runner.query(`SELECT GET_LOCK(${name}, ${LOCK_SECONDS}) AS got`)
  if (Number(row.got) !== 1) {
    throw new RecentnError('database_unavailable', `Another process has been migrating for ${LOCK_SECONDS} s`)
  }
  try {
    await runPending(source, runner)
  } finally {
    await runner.query(`SELECT RELEASE_LOCK(${name})`)
  }
}

async function runPending(source: DataSource, runner: QueryRunner): Promise<void> {
  const executor = new MigrationExecutor(source, runner)
  executor.transaction = 'none'
  await executor.executePendingMigrations()
}
