/**
 * Migrates the schema. TypeORM's migrations take no lock, so several processes that start at once on an empty database
 * would all create the tables. Here a lock lets one process migrate, and the others then find nothing to do. The table
 * `schema` has the version, whether we or the user's own DataSource ran the migrations.
 *
 * The lock of MySQL and MariaDB does not leave its server: the processes of a Galera cluster's nodes migrate at the same time. In a
 * group of MySQL with several primaries one member migrates (`members.ts`), and processes on others wait for the tables.
 * Invariant: each statement can be run again. A statement that fails because another process was faster is run again, and then finds
 * that it is done.
 */
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm'
import { migrationStem, SCHEMA_VERSION, takenNames } from '../../../migrations'
import { describe, refuseNames, standing } from '../../../migrations/standing'
import { RecentnError } from '../../shared/errors'
import { performance } from '../../shared/platform'
import { RunnerConnection } from '../attached/runner-connection'
import { driverError, type Engine, type Session } from '../engine'
import { caughtUp, membersOf } from '../mysql/cluster'
import { mustNotMigrate } from '../mysql/server-hosts'
import { withoutLimit } from '../mysql/statement-limit'
import type { MysqlOptions } from '../opening/connect'
import { pause } from '../pool/cut-off'
import type { Tables } from '../tables'
import { LostRows, requireSchema, restoreRows, schemaVersion } from './schema'

/** How long a process waits for one that migrates, and from when on it says so where that one may have to be started. */
const TIME_LIMIT_SECONDS = 120
const WARNING_SECONDS = 3
const LONGEST_WAIT_MS = 1000

/** How often a migration is run again that another process got in the way of, and the longest pause before. */
const MAX_RACES = 20
const LONGEST_PAUSE_MS = 200

/** A table, column, index or row is there already, or is gone already; the definition of a table is being changed. */
const RACED = new Set([1050, 1051, 1060, 1061, 1062, 1091, 1146, 1684])

/**
 * Brings the tables to this code's version. Throws `schema_too_new` for a newer database, and `database_refused`,
 * before it creates anything, if other tables have our names.
 */
export async function migrate(
  source: DataSource,
  session: Session,
  engine: Engine,
  timeLimitSeconds = TIME_LIMIT_SECONDS,
): Promise<void> {
  if ((await versionOf(session)) < SCHEMA_VERSION) {
    if (engine.family === 'sqlite')
      await withRunner(source, (runner) => migrateInTransaction(source, runner, session.tables))
    else await new ServerMigration(source, session, engine, timeLimitSeconds).run()
  }
  await requireSchema(session, await steadily(() => schemaVersion(session)))
}

/** The version of the tables. Lost rows are made again. */
function versionOf(session: Session): Promise<number> {
  return steadily(() => schemaVersion(session)).catch(async (error: unknown) => {
    if (!(error instanceof LostRows)) throw error
    await restoreRows(session)
    return SCHEMA_VERSION
  })
}

/**
 * Runs `look`, and again after a refusal, until it refuses for the same reason three times. While another process migrates,
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

async function withRunner<T>(source: DataSource, work: (runner: QueryRunner) => Promise<T>): Promise<T> {
  const runner = source.createQueryRunner()
  try {
    return await work(runner)
  } finally {
    await runner.release()
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

/** MySQL and MariaDB. */
class ServerMigration {
  constructor(
    readonly source: DataSource,
    readonly session: Session,
    readonly engine: Engine,
    readonly timeLimitSeconds: number,
  ) {}

  async run(): Promise<void> {
    const startedAt = performance.now()
    let reason = await this.#here()
    if (reason === null) return
    for (let isWarned = false; (await versionOf(this.session)) < SCHEMA_VERSION; await pause(LONGEST_WAIT_MS)) {
      const elsewhere = await this.#anywhere()
      const seconds = (performance.now() - startedAt) / 1000
      reason = elsewhere ?? reason
      if (seconds > this.timeLimitSeconds) {
        const detail = `${reason}. No process has made the tables there within ${this.timeLimitSeconds} s: run "recentn migrate" with the address of that member`
        throw new RecentnError('database_unavailable', detail)
      }
      if (isWarned || elsewhere === null || seconds < WARNING_SECONDS) continue
      isWarned = true
      const text = `recentn waits for its tables. ${reason}: a process there, such as "recentn migrate", must make them`
      process.emitWarning(text, { code: 'RECENTN_MIGRATION' })
    }
  }

  /** Migrates on the host of the URL on which migrations may run, and returns to the one that is in use. */
  async #anywhere(): Promise<string | null> {
    const { hosts } = this.source.options as MysqlOptions
    const home = hosts?.current
    let reason = await this.#here()
    for (const host of hosts?.all ?? []) {
      if (reason === null || host === home) continue
      hosts?.use(host)
      // One that is away may not be the one.
      reason = await this.#here().catch((error: unknown) => {
        if (this.engine.failure(error) === 'lost') return reason
        throw error
      })
    }
    if (home) hosts?.use(home)
    return reason
  }

  /** Migrates, unless migrations must not run on the server of a new connection: why. */
  #here(): Promise<string | null> {
    return withRunner(this.source, async (runner) => {
      const reason = mustNotMigrate(await membersOf(this.engine, (sql) => runner.query(sql)))
      if (reason !== null) return reason
      const migrated = () => this.#underLock(runner)
      // The member that migrated before may have died: what it did comes first.
      const on = { query: (sql: string) => runner.query(sql), drop: () => new RunnerConnection(runner).drop() }
      await withoutLimit(runner, () => (this.engine.members ? caughtUp(on, this.engine, migrated) : migrated()))
      return null
    })
  }

  /** DDL commits implicitly, so the lock is a named one, which ends with the connection. */
  async #underLock(runner: QueryRunner): Promise<void> {
    const { source, session, engine } = this
    const { tables } = session
    // A lock's name has at most 64 characters (8 and 56 here) and is known to the whole server, so the database is in it,
    // and the prefix: stores with other prefixes need not wait for each other.
    const name = `CONCAT('recentn:', SHA2(CONCAT(DATABASE(), '/${tables.prefix}'), 224))`
    const isLocked = await this.#lock(runner, name)
    try {
      for (let races = 0; ; races++) {
        try {
          await steadily(() => runPending(source, runner, tables))
          // TypeORM notes each migration that it has run: several processes note the same one.
          const { migrations } = tables
          const same = `${migrations} first ON first.name = later.name AND first.id < later.id`
          await runner.query(`DELETE later FROM ${migrations} later JOIN ${same}`)
          return
        } catch (error) {
          const isRaced = engine.failure(error) === 'conflict' || RACED.has(driverError(error).errno ?? 0)
          if (races >= MAX_RACES || !isRaced) throw error
          await pause(LONGEST_PAUSE_MS)
        }
      }
    } finally {
      if (isLocked) await runner.query(`SELECT RELEASE_LOCK(${name})`)
    }
  }

  /** Resolves to false where the server does not give such locks, as nodes of some clusters do not. */
  async #lock(runner: QueryRunner, name: string): Promise<boolean> {
    let rows: { got: unknown }[]
    try {
      rows = await runner.query(`SELECT GET_LOCK(${name}, ${this.timeLimitSeconds}) AS got`)
    } catch (error) {
      if (this.engine.failure(error) !== 'other') throw error
      return false
    }
    if (Number(rows[0]?.got) === 1) return true
    throw new RecentnError('database_unavailable', `Another process has been migrating for ${this.timeLimitSeconds} s`)
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
