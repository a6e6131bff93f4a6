/**
 * The SQLite gate: makes TypeORM's one SQLite connection behave as a pool whose transactions run one after the other.
 *
 * TypeORM gives every caller the same query runner, so that two transactions nest into each other and a plain write
 * made meanwhile vanishes with another's rollback. Here every caller gets a runner of its own on the shared connection.
 * Invariant: a caller holds the gate while it runs a statement: for that statement, or for its whole transaction.
 * The gate is first come, first served. A transaction begins IMMEDIATE, so that it never fails half-way for the write
 * lock; a lock that another process or connection holds is waited for without blocking the event loop.
 */
import type BetterSqlite3 from 'better-sqlite3'
import { type DataSource, QueryFailedError, type QueryRunner, QueryRunnerAlreadyReleasedError } from 'typeorm'
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner'
import { performance, setTimeout } from '../../shared/platform'
import { DEFAULT_CONNECTION_TIMEOUT_SECONDS, noneFree } from '../bounded-pool'
import { RowParameters } from '../engine'
import { BUSY, type Gate, type Leave, PASSED } from './gate-queue'
import { preparedOn, type RowRunner, runPrepared } from './prepared'
import type { SharedFile } from './shared-file'
import { sqliteEngine } from './sqlite-engine'
import { WatchedFile } from './watched-file'

/** How long a caller at its turn waits for the lock of another connection or process. */
const LOCK_PATIENCE_MS = 30_000

const READS = /^\s*SELECT\b/i

export interface GateOptions {
  /** Set if the connection is a second one on a user's file. */
  sharedFile?: SharedFile
  watchedFile?: WatchedFile
  /** How long a caller waits for its turn, and for a user's transaction on the same connection. */
  connectionTimeoutSeconds?: number
}

/** A query runner on the shared connection that holds the gate for each statement or for its whole transaction. */
class GatedQueryRunner extends BetterSqlite3QueryRunner implements RowRunner {
  readonly takesRows = true
  #leave: Leave | null = null
  #hasPassed = false
  readonly #gate: Gate
  readonly #sharedFile: SharedFile | undefined
  readonly #watchedFile: WatchedFile | undefined
  readonly #timeoutMs: number

  constructor(source: DataSource, gate: Gate, options: GateOptions) {
    super(source.driver as ConstructorParameters<typeof BetterSqlite3QueryRunner>[0])
    this.#gate = gate
    this.#sharedFile = options.sharedFile
    this.#watchedFile = options.watchedFile
    this.#timeoutMs = (options.connectionTimeoutSeconds ?? DEFAULT_CONNECTION_TIMEOUT_SECONDS) * 1000
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature is TypeORM's
  override async query(sql: string, parameters?: any[], structured?: boolean): Promise<any> {
    const statement = sql === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : sql
    if (this.#leave && this.isTransactionActive) {
      const begins = statement === 'BEGIN IMMEDIATE'
      return begins ? this.#patiently(statement, parameters, structured) : this.#run(statement, parameters, structured)
    }
    let leave = await this.#gate.enter(this.#timeoutMs, READS.test(sql))
    // The transaction that the read has passed may have begun meanwhile.
    if (leave === PASSED && (await this.connect()).inTransaction) leave = await this.#gate.enter(this.#timeoutMs)
    this.#hasPassed = leave === PASSED
    try {
      return await this.#patiently(statement, parameters, structured)
    } finally {
      leave()
    }
  }

  /** Runs a statement outside of a transaction, again while another connection has the lock. */
  // biome-ignore lint/suspicious/noExplicitAny: the signature is TypeORM's
  async #patiently(sql: string, parameters?: any[], structured?: boolean): Promise<any> {
    const connection: BetterSqlite3.Database = await this.connect()
    const begunAt = performance.now()
    this.#watchedFile?.require()
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
      // If the connection is the user's own, the user's transaction must end before our statement runs.
      if (!connection.inTransaction && this.#sharedFile?.begin() !== false) {
        try {
          return await this.#run(sql, parameters, structured)
        } catch (error) {
          if (sqliteEngine.failure(error) !== 'conflict' || performance.now() - begunAt > LOCK_PATIENCE_MS) throw error
          this.#gate.counts.retried(error)
        } finally {
          if (!connection.inTransaction) this.#sharedFile?.end()
        }
        if (!this.#hasPassed) {
          await this.#gate.awaitLock(pauseMs)
          continue
        }
      } else if (performance.now() - begunAt > this.#timeoutMs) throw noneFree(BUSY, this.#timeoutMs)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  /** True where somebody listens to the events of TypeORM's runner, or asked it for more than statements. */
  get #isFollowed(): boolean {
    const { subscribers, options } = this.connection
    return subscribers.length > 0 || options.maxQueryExecutionTime !== undefined || options.isolationLevel !== undefined
  }

  /**
   * Runs a statement, without the promises and events of TypeORM's runner, which cost more than a short statement. So do
   * the transactions; where somebody follows them, TypeORM's runner does the work.
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
    this.#leave ??= await this.#gate.enter(this.#timeoutMs)
    try {
      if (this.transactionDepth > 0 || this.#isFollowed) await super.startTransaction()
      else {
        this.isTransactionActive = true
        await this.query('BEGIN TRANSACTION')
        this.transactionDepth = 1
      }
    } catch (error) {
      if (this.transactionDepth === 0) this.#end()
      throw error
    }
  }

  override async commitTransaction(): Promise<void> {
    if (this.transactionDepth !== 1 || this.#isFollowed) await super.commitTransaction()
    else {
      await this.query('COMMIT')
      this.isTransactionActive = false
      this.transactionDepth = 0
    }
    if (!this.isTransactionActive) this.#end()
  }

  override async rollbackTransaction(): Promise<void> {
    try {
      await super.rollbackTransaction()
    } catch (error) {
      // SQLite rolls back by itself after some faults (a full disk); then nothing is left to roll back.
      const connection: BetterSqlite3.Database = await this.connect()
      if (connection.inTransaction) throw error
      this.transactionDepth = 0
      this.isTransactionActive = false
    } finally {
      if (!this.isTransactionActive) this.#end()
    }
  }

  override async release(): Promise<void> {
    if (this.isTransactionActive) {
      this.transactionDepth = 1 // ends the whole transaction, with all savepoints
      await this.rollbackTransaction().catch(() => {})
    }
    this.#end()
    await super.release()
  }

  #end(): void {
    this.isTransactionActive = false
    if (!this.#leave) return
    this.#sharedFile?.end()
    this.#leave()
    this.#leave = null
  }
}

// Where TypeORM's runner runs a statement, it uses those that the connection keeps. (To it this method is private.)
Object.assign(GatedQueryRunner.prototype, {
  async getStmt(this: BetterSqlite3QueryRunner, sql: string) {
    return preparedOn(this.driver.databaseConnection, sql)
  },
})

/** Makes runners on the connection of an initialized better-sqlite3 DataSource that share one gate. */
export function gatedRunners(source: DataSource, gate: Gate, options: GateOptions = {}): () => QueryRunner {
  const { database } = source.options as { database: string }
  const watchedFile = database === '' || database === ':memory:' ? undefined : new WatchedFile(database)
  return () => new GatedQueryRunner(source, gate, { ...options, watchedFile })
}
