/**
 * Our SQLite connection: makes the one connection to a file behave as a pool whose transactions run one after the other.
 *
 * Invariant: a caller holds the gate while it runs a statement: for that statement, or for its whole transaction.
 * The gate is first come, first served. A transaction begins IMMEDIATE, so that it never fails half-way for the write
 * lock; a lock that another process or connection holds is waited for without blocking the event loop.
 */
import type BetterSqlite3 from 'better-sqlite3'
import { type DataSource, type EntityManager, QueryFailedError, type QueryRunner } from 'typeorm'
import { delay, performance } from '../../shared/platform'
import type { Done, Following, HeldConnection, LaterAnswer } from '../connection'
import type { Row, StatementAnswer, StatementValues } from '../engine'
import { DEFAULT_CONNECTION_TIMEOUT_SECONDS } from '../pool/bounded-pool'
import { noneFree } from '../pool/cut-off'
import { AfterCommit } from '../transaction-guard'
import { BUSY, type Gate, type Leave, PASSED } from './gate'
import { type PreparedResult, runPrepared } from './prepared'
import type { SharedFile } from './shared-file'
import { sqliteEngine } from './sqlite-engine'
import type { WatchedFile } from './watched-file'

/** How long a caller at its turn waits for the lock of another connection or process. */
const LOCK_LIMIT_MS = 30_000

const READS = /^\s*SELECT\b/i

export interface GateOptions {
  sharedFile?: SharedFile | undefined
  watchedFile?: WatchedFile | undefined
  /** How long a caller waits for its turn, and for a user's transaction on the same connection. */
  connectionTimeoutSeconds?: number | undefined
}

/** One caller's use of the connection. */
export class SqliteConnection implements HeldConnection {
  readonly gathers = false
  readonly driver = null
  isBegun = false
  following: Following | null = null
  #leave: Leave | null = null
  #hasPassed = false
  #runner: QueryRunner | null = null
  #listeners: AfterCommit | null = null
  readonly #timeoutMs: number

  constructor(
    private readonly dataSource: DataSource,
    private readonly gate: Gate,
    private readonly options: GateOptions,
    private readonly newRunner: (connection: SqliteConnection) => QueryRunner,
  ) {
    this.#timeoutMs = (options.connectionTimeoutSeconds ?? DEFAULT_CONNECTION_TIMEOUT_SECONDS) * 1000
  }

  get source(): object {
    return this
  }

  get #file(): BetterSqlite3.Database {
    return (this.dataSource.driver as unknown as { databaseConnection: BetterSqlite3.Database }).databaseConnection
  }

  get runner(): QueryRunner {
    this.#runner ??= this.newRunner(this)
    return this.#runner
  }

  get manager(): EntityManager {
    if (this.#runner === null) Object.assign(this.runner, { isTransactionActive: this.isBegun, transactionDepth: 1 })
    return this.runner.manager
  }

  get hasInner(): boolean {
    const { transactionDepth = 1 } = (this.#runner ?? {}) as { transactionDepth?: number }
    return transactionDepth !== 1
  }

  /** The listeners to the commit of a transaction that was begun by a runner on it. */
  get listeners(): AfterCommit {
    this.#listeners ??= new AfterCommit()
    return this.#listeners
  }

  /** Runs a statement by `run`: in the transaction at once, or in its own turn. */
  turn<Answer>(sql: string, run: () => Answer | Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#pass(sql, run, (error, answer) => (error === null ? resolve(answer as Answer) : reject(error)))
    })
  }

  #pass<Answer>(sql: string, run: () => Answer | Promise<Answer>, done: Done<Answer>): void {
    const ran: Done<Answer> = (error, answer) => {
      if (error === null && this.#listeners?.ended(sql)) this.#listeners = null
      done(error, answer)
    }
    const begin = (then: Done<Answer>) => {
      if (this.isBegun) this.#inTransaction(sql, run, then)
      else settle(this.#alone(sql, run), then)
    }
    if (this.following) this.following.through(sql, begin, ran)
    else begin(ran)
  }

  #inTransaction<Answer>(sql: string, run: () => Answer | Promise<Answer>, done: Done<Answer>): void {
    let answer: Answer | Promise<Answer>
    try {
      answer = run()
    } catch (error) {
      // SQLite rolls back by itself after some faults (a full disk); then nothing is left to roll back.
      if (sql === 'ROLLBACK' && !this.#file.inTransaction) this.#end()
      done(error)
      return
    }
    const ended: Done<Answer> = (error, given) => {
      const ends = sql === 'ROLLBACK' || (sql === 'COMMIT' && error === null)
      if (ends && !this.#file.inTransaction) this.#end()
      done(error, given)
    }
    if (answer instanceof Promise) settle(answer, ended)
    else ended(null, answer)
  }

  async #alone<Answer>(sql: string, run: () => Answer | Promise<Answer>): Promise<Answer> {
    let leave = await this.gate.enter(this.#timeoutMs, READS.test(sql))
    // The transaction that the read has passed may have begun since.
    if (leave === PASSED && this.#file.inTransaction) leave = await this.gate.enter(this.#timeoutMs)
    this.#hasPassed = leave === PASSED
    try {
      return await this.#inTimeLimit(run)
    } finally {
      leave()
    }
  }

  /** Runs a statement outside of a transaction, again while another connection has the lock. */
  async #inTimeLimit<Answer>(run: () => Answer | Promise<Answer>): Promise<Answer> {
    const { sharedFile, watchedFile } = this.options
    const begunAt = performance.now()
    watchedFile?.require()
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
      // If the connection is the user's own, the user's transaction must end before our statement runs.
      if (!this.#file.inTransaction && sharedFile?.begin() !== false) {
        try {
          return await run()
        } catch (error) {
          if (sqliteEngine.failure(error) !== 'conflict' || performance.now() - begunAt > LOCK_LIMIT_MS) throw error
          this.gate.counts.retried(error)
        } finally {
          if (!this.#file.inTransaction) sharedFile?.end()
        }
        if (!this.#hasPassed) {
          await this.gate.awaitLock(pauseMs)
          continue
        }
      } else if (performance.now() - begunAt > this.#timeoutMs) throw noneFree(BUSY, this.#timeoutMs)
      await delay(pauseMs)
    }
  }

  /** Begins a transaction by `run`, in a turn that lasts until it ends. */
  async beginBy(run: () => unknown): Promise<void> {
    this.#leave ??= await this.gate.enter(this.#timeoutMs)
    this.#hasPassed = false
    try {
      await this.#inTimeLimit(run)
      this.isBegun = true
    } catch (error) {
      this.#end()
      throw error
    }
  }

  begin(): Promise<void> {
    return this.beginBy(() => this.#prepared('BEGIN IMMEDIATE', null))
  }

  #end(): void {
    this.isBegun = false
    if (!this.#leave) return
    this.options.sharedFile?.end()
    this.#leave()
    this.#leave = null
  }

  #prepared(sql: string, values: StatementValues | null): PreparedResult {
    try {
      return runPrepared(this.#file, sql, values ?? [])
    } catch (error) {
      throw new QueryFailedError(sql, undefined, error as Error)
    }
  }

  rows(sql: string, values: StatementValues | null): Promise<Row[]> {
    return this.turn(sql, () => this.#prepared(sql, values).records)
  }

  execute(sql: string, values: StatementValues | null): Promise<StatementAnswer> {
    return this.turn(sql, () => answerOf(this.#prepared(sql, values)))
  }

  later(sql: string, values: StatementValues | null): LaterAnswer | Promise<LaterAnswer> {
    if (!this.isBegun) return this.execute(sql, values).then((answer) => () => answer)
    let outcome: [error: unknown, answer?: StatementAnswer] = [null]
    const prepared = () => answerOf(this.#prepared(sql, values))
    this.#pass(sql, prepared, (...given) => {
      outcome = given
    })
    if (outcome[0] !== null) throw outcome[0]
    return () => outcome[1] as StatementAnswer
  }

  async #endBy(sql: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    await this.execute(sql, null)
    if (this.#runner) Object.assign(this.#runner, { isTransactionActive: false, transactionDepth: 0 })
  }

  commit(): Promise<void> {
    return this.#endBy('COMMIT')
  }

  async rollBack(): Promise<void> {
    await this.#endBy('ROLLBACK').catch((error: unknown) => {
      if (this.isBegun) throw error
    })
  }

  /** Its file is in this process: nothing is lost with it. */
  drop(): void {}

  release(): Promise<void> | undefined {
    if (!this.isBegun) {
      this.#end()
      return undefined
    }
    const end = () => this.#end()
    return this.rollBack().then(end, end)
  }
}

function settle<Answer>(answer: Promise<Answer>, done: Done<Answer>): void {
  answer.then((given) => done(null, given), done)
}

function answerOf({ records, affected, raw }: PreparedResult): StatementAnswer {
  return { rows: records, affected, insertId: Array.isArray(raw) ? 0n : BigInt(raw as number | bigint) }
}
