/**
 * Query runners of TypeORM's on our SQLite connection: for the manager of our transactions, and for callers that use the DataSource.
 *
 * TypeORM gives every caller of a SQLite DataSource the same query runner. Two transactions nest into each other, and a plain
 * write made during a transaction vanishes with another's rollback. Here every caller gets its own runner, with a
 * `SqliteConnection` in which its statements have their turn.
 */
import { type DataSource, QueryFailedError, type QueryRunner, QueryRunnerAlreadyReleasedError } from 'typeorm'
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner'
import { TRANSACTION_ENDS } from '../attached/callers-transaction'
import { runnerView } from '../attached/driver-view'
import type { Opened } from '../connection'
import type { Gate } from './gate'
import { runPrepared } from './prepared'
import { type GateOptions, SqliteConnection } from './sqlite-connection'
import { WatchedFile } from './watched-file'

const behindRunners = new WeakMap<QueryRunner, SqliteConnection>()

/** Our connection behind a query runner; undefined where that is another library's. */
export const sqliteBehind = (runner: QueryRunner): SqliteConnection | undefined => behindRunners.get(runner)

/** A view of a new runner, which has its manager: its statements, and those that it sends itself, have their turns here. */
function gatedRunner(source: DataSource, turns: SqliteConnection): QueryRunner {
  const runner = new BetterSqlite3QueryRunner(
    source.driver as unknown as ConstructorParameters<typeof BetterSqlite3QueryRunner>[0],
  )
  const { query, startTransaction, rollbackTransaction, release } = runner

  /** Runs a statement, unless a subscriber follows, without TypeORM's promises and events, which cost more than a short one. */
  const run = (sql: string, parameters: unknown[] = [], structured = false): unknown => {
    const { logger } = source
    if (isFollowed(source) || !Array.isArray(parameters)) return query.call(view, sql, parameters, structured as true)
    if (runner.isReleased) throw new QueryRunnerAlreadyReleasedError()
    const given = parameters.map((value) => (typeof value === 'boolean' ? Number(value) : value))
    logger.logQuery(sql, given, view)
    try {
      const result = runPrepared(runner.driver.databaseConnection, sql, given)
      return structured ? result : result.raw
    } catch (error) {
      logger.logQueryError(error as Error, sql, given, view)
      throw new QueryFailedError(sql, given, error as Error)
    }
  }
  const view = runnerView<BetterSqlite3QueryRunner>(runner, {
    query: async (sql: string, parameters?: unknown[], structured?: boolean) => {
      if (sql === 'BEGIN TRANSACTION') return turns.beginBy(() => run('BEGIN IMMEDIATE', parameters))
      return turns.turn(sql, () => run(sql, parameters, structured))
    },
    startTransaction: async () => {
      try {
        await startTransaction.call(view)
      } catch (error) {
        if (!turns.isBegun) runner.isTransactionActive = false
        throw error
      }
    },
    rollbackTransaction: async () => {
      try {
        await rollbackTransaction.call(view)
      } catch (error) {
        if (turns.isBegun) throw error
        Object.assign(runner, { transactionDepth: 0, isTransactionActive: false })
      }
    },
    release: async () => {
      runner.isTransactionActive = false
      await turns.release()
      await release.call(view)
    },
  })
  behindRunners.set(view, turns)
  return Object.assign(view, { manager: source.createEntityManager(view) })
}

/** True where a subscriber listens to the events of TypeORM's runner, or its options ask it for more than statements. */
function isFollowed({ subscribers, options }: DataSource): boolean {
  const isHeard = subscribers.some((one) => one !== TRANSACTION_ENDS)
  return isHeard || options.maxQueryExecutionTime !== undefined || options.isolationLevel !== undefined
}

const gated = new WeakMap<DataSource, GatedSource>()

/** The gated source of a SQLite DataSource that we have opened; undefined for another. */
export const gatedSourceOf = (source: DataSource): GatedSource | undefined => gated.get(source)

/** Connections and runners on the one connection of an initialized better-sqlite3 DataSource, which share one gate. */
export class GatedSource {
  readonly #options: GateOptions

  constructor(
    private readonly source: DataSource,
    private readonly gate: Gate,
    options: GateOptions = {},
  ) {
    const { database } = source.options as { database: string }
    const isFile = database !== '' && database !== ':memory:'
    this.#options = { ...options, watchedFile: isFile ? new WatchedFile(database) : undefined }
    gated.set(source, this)
  }

  #connection(): SqliteConnection {
    const { source, gate } = this
    return new SqliteConnection(source, gate, this.#options, (connection) => gatedRunner(source, connection))
  }

  open = (done: Opened): void => done(null, this.#connection())

  /** A runner, with a manager, as `createQueryRunner` of a DataSource makes it. */
  readonly runner = (): QueryRunner => this.#connection().runner
}
