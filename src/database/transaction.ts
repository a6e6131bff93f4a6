/**
 * A database as a `Session`: runs statements, and transactions that are retried when that is safe.
 *
 * Invariant: a transaction is retried only here, at its outermost level and as a whole. Work inside a user's
 * transaction is never retried (`sessionWithin`). If the connection is lost before the commit, nothing has changed. If
 * it is lost during the commit, the outcome is unknown: `arrived` finds it out from what the transaction wrote, and
 * without it the caller gets `outcome_unknown`.
 */
import type { DataSource, QueryRunner } from 'typeorm'
import { RecentnError } from '../shared/errors'
import { performance } from '../shared/platform'
import { InFlight } from '../shared/settle-batch'
import { AfterCommit } from './after-commit'
import { shareRunner } from './attached/limited-runner'
import { BoundedPool } from './bounded-pool'
import { CutOff, isRefusedCommit, type LostCommit, settledCommit } from './cut-off'
import { DatabaseCounts } from './database-counts'
import type { Engine, Reader, Session, Statements, Tx, WriteOptions } from './engine'
import { holding, newHolder, requireOutside } from './inside'
import { locationOf } from './location'
import { catchUp } from './mysql/cluster'
import { setLockWait } from './mysql/lock-wait'
import { separateOn } from './mysql/own-transactions'
import { requireSettings } from './mysql/session-settings'
import type { SkipLockedCheck } from './mysql/skip-locked'
import { runAtOnce, sessionIn, settled } from './operations'
import { Retrier, type RetryRules, Trail } from './retries'
import type { Gate } from './sqlite/gate-queue'
import { readerOn, type Setting, txOn } from './statements'
import type { Tables } from './tables'
import { commit, type Life, rollBack, watch } from './transaction-guard'

export interface DatabaseOptions extends Setting {
  dataSource: DataSource
  /** Makes a query runner for each caller. */
  createRunner: () => QueryRunner
  /** How long a call waits for a connection of the DataSource's pool. */
  connectionTimeoutSeconds?: number
  /** Set if the connections are not ours: each is checked, and may have another isolation level. */
  isForeign?: boolean
  gate?: Gate
  /** The check of a server's SKIP LOCKED, on which claims rely, before the first write. */
  skipLocked?: SkipLockedCheck
}

type TransactionWork<T> = (tx: Tx, session: Session) => Promise<T>
type StatementsWork<T> = (statements: Statements) => Promise<T>
type RetriedWrite = WriteOptions & { retries?: number | undefined }

export class Database implements Session {
  readonly engine: Engine
  readonly tables: Tables
  readonly inTransaction = false
  readonly counts: DatabaseCounts
  /** The address of the data, without user and password. */
  readonly location: string
  readonly #options: DatabaseOptions
  readonly pool: BoundedPool
  readonly #retryRules: RetryRules
  /** For SQLite only; the servers have a connection for each caller. */
  readonly gate: Gate | null
  readonly #inFlight = new InFlight()
  #isClosed = false

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.gate = options.engine.family === 'sqlite' ? (options.gate ?? null) : null
    this.engine = options.engine
    this.tables = options.tables
    this.counts = this.gate?.counts ?? new DatabaseCounts()
    const { dataSource: source, createRunner, connectionTimeoutSeconds } = options
    this.location = locationOf(source.options)
    this.#retryRules = { engine: this.engine, counts: this.counts, locate: () => this.location }
    this.pool = new BoundedPool({ source, createRunner, connectionTimeoutSeconds, location: this.location })
  }

  /** What a transaction holds and a call inside of it would wait for (`inside.ts`). */
  get #held(): object {
    return this.gate ?? this.#options.dataSource
  }

  /** Throws `misuse` in code inside a transaction on this database: a call that waits there may wait for itself. */
  readonly requireOutside = (why?: string): void => requireOutside(this.#held, why)

  /**
   * Runs `work` so that its calls of this database outside of the transaction are refused. Only for work of a user's: the
   * store's own transactions call nothing but their statements, and until Node 24 a process that has once used an
   * `AsyncLocalStorage` makes every later promise more expensive.
   */
  async inside<T>(work: () => Promise<T>, runner?: QueryRunner): Promise<T> {
    shareRunner(runner)
    const holder = newHolder(this.#held)
    try {
      return await holding.run(holder, work)
    } finally {
      holder.isOpen = false // what `work` left running is outside of the transaction now
    }
  }

  /** A runner, which its caller releases. Callers wait for SQLite's one connection with each statement, at the gate. */
  #runner(isWrite: boolean): QueryRunner | Promise<QueryRunner> {
    if (this.gate) return this.#options.createRunner()
    requireOutside(this.#held)
    return isWrite ? this.pool.takeForWrite() : this.pool.take()
  }

  /** Checks a write before it waits for a connection: it must be outside of transactions, and SKIP LOCKED must work. */
  #writable(): Promise<void> | undefined {
    if (this.gate) return undefined
    requireOutside(this.#held)
    return this.#options.skipLocked?.require()
  }

  /** Runs statements outside of a transaction. `work` must only read: it runs again after a lost connection. */
  read<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#counted(() => this.#read(work))
  }

  #read<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#tried(this.#retryRules, () =>
      this.#connected(false, (runner) => work(readerOn(runner, this.#options))),
    )
  }

  /** Runs `work` in a transaction, and again as a whole after a deadlock, up to `retries` times. */
  write<T>(work: TransactionWork<T>, options?: RetriedWrite): Promise<T> {
    return this.#counted(() => this.#write(work, options))
  }

  async #write<T>(work: TransactionWork<T>, options: RetriedWrite = {}): Promise<T> {
    const { retries, arrived, retryMs, lockSeconds } = options
    const checked = this.#writable()
    if (checked) await checked
    const ask = arrived && ((until: number) => this.#once(arrived, until))
    const lost: LostCommit = { startedAt: performance.now(), ask }
    const conflictMs = this.gate || this.#options.isForeign ? undefined : lockSeconds && lockSeconds * 900
    const rules = { ...this.#retryRules, maxConflicts: retries, retryMs, conflictMs, findsOut: ask !== undefined }
    return this.#tried(rules, () => this.#once(work, lost, lockSeconds))
  }

  /** Runs statements that each commit by themselves; on SQLite, which has one connection, in a transaction. */
  separately<T>(work: StatementsWork<T>, options: { retryMs?: number } = {}): Promise<T> {
    return this.#counted(() => this.#separately(work, options))
  }

  async #separately<T>(work: StatementsWork<T>, { retryMs }: { retryMs?: number } = {}): Promise<T> {
    if (this.engine.family === 'sqlite') return this.#write(work, { retryMs })
    await this.#writable()
    const trail = new Trail()
    return this.#tried({ ...this.#retryRules, retryMs, trail }, () =>
      this.#connected(true, async (runner) => {
        const isolate = () => runner.query('SET TRANSACTION ISOLATION LEVEL READ COMMITTED')
        const before = this.#options.isForeign ? isolate : undefined
        if (trail.isLeft) await catchUp(runner, this.#options)
        const result = await work(trail.follow(separateOn(runner, this.#options), before))
        if (trail.isLeft) this.counts.wrote()
        return result
      }),
    )
  }

  /** Runs `work` on a connection, which is closed where its server is lost. */
  async #connected<T>(isWrite: boolean, work: (runner: QueryRunner) => Promise<T>): Promise<T> {
    const runner = await this.#runner(isWrite)
    try {
      if (this.#options.isForeign) await requireSettings(runner)
      const result = await work(runner)
      this.pool.heard(runner)
      return result
    } catch (error) {
      this.pool.lost(runner, this.engine, error)
      throw error
    } finally {
      await this.pool.release(runner)
    }
  }

  async #tried<T>(rules: RetryRules, once: () => Promise<T>): Promise<T> {
    for (const retrier = new Retrier(rules); ; ) {
      try {
        return await once()
      } catch (error) {
        await retrier.after(error)
      }
    }
  }

  readonly afterCommit = runAtOnce

  /** Runs `work` as one operation: closing the store waits for all its reads and writes. */
  whole<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const inner: Session = {
      tables: this.tables,
      inTransaction: false,
      read: (reading) => this.#read(reading),
      write: (writing, options) => this.#write(writing, options),
      separately: (separate, options) => this.#separately(separate, options),
      afterCommit: runAtOnce,
      whole: (whole) => whole(inner),
    }
    return this.#counted(() => work(inner))
  }

  /** Refuses later operations; resolves when the running ones have ended. */
  drain(): Promise<void> {
    this.#isClosed = true
    return this.#inFlight.none()
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new RecentnError('closed')
    this.#inFlight.begin()
    try {
      return await work()
    } finally {
      this.#inFlight.end()
    }
  }

  /**
   * Runs the transaction once. Its commit listeners run when the connection is free again. With a time for `lost` it looks
   * until then for what another connection has committed, in a cluster perhaps on another node.
   */
  async #once<T>(work: TransactionWork<T>, lost: LostCommit | number, lockSeconds?: number): Promise<T> {
    const afterCommit = new AfterCommit()
    const runner = await (typeof lost === 'number' && !this.gate ? this.pool.take(lost) : this.#runner(true))
    let life: Life | null = null
    let result: T | undefined
    let cutOff: CutOff | null = null
    try {
      if (this.#options.isForeign) await requireSettings(runner)
      if (typeof lost === 'number') await catchUp(runner, this.#options, lost)
      await runner.startTransaction(this.#options.isForeign ? 'READ COMMITTED' : undefined)
      await setLockWait(runner, lockSeconds)
      const alive = watch(runner, this.engine, afterCommit)
      life = alive
      const tx = txOn(runner, this.#options, { isOpen: () => alive.open, listeners: () => afterCommit })
      result = await work(
        tx,
        sessionIn(tx, runner, (error) => error),
      )
      await settled(runner)
      await commit(runner, alive)
      this.pool.heard(runner)
    } catch (error) {
      // After a deadlock the transaction must run again, even if `work` threw another error.
      const reason = life?.fault ? life.fault.error : error
      await rollBack(runner, life)
      this.pool.lost(runner, this.engine, reason)
      // The commit stays one if a TypeORM subscriber of the user's throws after it.
      if (!life?.committing || (!life.committed && isRefusedCommit(this.engine, error))) throw reason
      cutOff = new CutOff(error, result, life.committed, afterCommit)
    } finally {
      await this.pool.release(runner)
    }
    if (life?.changed) this.counts.wrote()
    if (cutOff === null) {
      afterCommit.run()
      return result as T
    }
    if (typeof lost === 'number') throw cutOff
    return settledCommit<T>(cutOff, this.engine, lost)
  }
}
