/**
 * Query runners of TypeORM's on our SQLite connection: for the manager of our transactions, and for callers that use the DataSource.
 *
 * TypeORM gives every caller of a SQLite DataSource the same query runner, so that two transactions nest into each other and a
 * plain write made during a transaction vanishes with another's rollback. Here every caller gets its own runner, with a
 * `SqliteConnection` in which its statements have their turn.
 */
import { type DataSource, QueryFailedError, type QueryRunner, QueryRunnerAlreadyReleasedError } from 'typeorm'
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner'
import { TRANSACTION_ENDS } from '../attached/callers-transaction'
import type { FollowedRunner } from '../attached/runner-connection'
import type { Opened } from '../connection'
import { RowParameters } from '../engine'
import type { Gate } from './gate'
import { preparedOn, runPrepared } from './prepared'
import { type GateOptions, SqliteConnection } from './sqlite-connection'
import { WatchedFile } from './watched-file'

class GatedQueryRunner extends BetterSqlite3QueryRunner implements FollowedRunner {
  readonly turns: SqliteConnection

  constructor({ driver }: DataSource, turns: SqliteConnection) {
    super(driver as ConstructorParameters<typeof BetterSqlite3QueryRunner>[0])
    this.turns = turns
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature is TypeORM's
  override async query(sql: string, parameters?: any[], structured?: boolean): Promise<any> {
    if (sql === 'BEGIN TRANSACTION') return this.turns.beginBy(() => this.#run('BEGIN IMMEDIATE', parameters))
    return this.turns.turn(sql, () => this.#run(sql, parameters, structured))
  }

  /** True where a subscriber listens to the events of TypeORM's runner, or asked it for more than statements. */
  get #isFollowed(): boolean {
    const { subscribers, options } = this.connection
    const isHeard = subscribers.some((one) => one !== TRANSACTION_ENDS)
    return isHeard || options.maxQueryExecutionTime !== undefined || options.isolationLevel !== undefined
  }

  /**
   * Runs a statement, without the promises and events of TypeORM's runner, which cost more than a short statement. Where
   * a subscriber follows them, TypeORM's runner does the work.
   */
  #run(sql: string, parameters: unknown[] | RowParameters = [], structured = false): unknown {
    const { logger } = this.connection
    const isRows = parameters instanceof RowParameters
    if (!isRows && (this.#isFollowed || !Array.isArray(parameters))) return super.query(sql, parameters, structured)
    if (this.isReleased) throw new QueryRunnerAlreadyReleasedError()
    const given = isRows ? [] : parameters.map((value) => (typeof value === 'boolean' ? Number(value) : value))
    logger.logQuery(sql, given, this)
    try {
      const result = runPrepared(this.driver.databaseConnection, sql, isRows ? parameters : given)
      return structured ? result : result.raw
    } catch (error) {
      logger.logQueryError(error as Error, sql, given, this)
      throw new QueryFailedError(sql, given, error as Error)
    }
  }

  override async startTransaction(): Promise<void> {
    try {
      await super.startTransaction()
    } catch (error) {
      if (this.transactionDepth === 0) this.isTransactionActive = false
      throw error
    }
  }

  override async rollbackTransaction(): Promise<void> {
    try {
      await super.rollbackTransaction()
    } catch (error) {
      if (this.turns.isBegun) throw error
      this.transactionDepth = 0
      this.isTransactionActive = false
    }
  }

  override async release(): Promise<void> {
    this.isTransactionActive = false
    await this.turns.release()
    await super.release()
  }
}

// Where TypeORM's runner runs a statement, it uses those that the connection keeps. (To it this method is private.)
Object.assign(GatedQueryRunner.prototype, {
  async getStmt(this: BetterSqlite3QueryRunner, sql: string) {
    return preparedOn(this.driver.databaseConnection, sql)
  },
})

const gated = new WeakMap<DataSource, GatedSource>()

/** The gated source of a SQLite DataSource that we have opened; undefined for another. */
export function gatedSourceOf(source: DataSource): GatedSource | undefined {
  return gated.get(source)
}

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
    const runner = (connection: SqliteConnection) => {
      const made = new GatedQueryRunner(source, connection)
      return Object.assign(made, { manager: source.createEntityManager(made) })
    }
    return new SqliteConnection(source, gate, this.#options, runner)
  }

  open = (done: Opened): void => done(null, this.#connection())

  /** A runner, with a manager, as `createQueryRunner` of a DataSource makes it. */
  readonly runner = (): QueryRunner => this.#connection().runner
}
