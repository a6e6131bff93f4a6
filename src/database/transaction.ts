/**
 * A database as a `Session`: runs statements, and transactions that are retried when that is safe.
 *
 * Invariant: a transaction is retried only here, at its outermost level and as a whole. Work inside a user's
 * transaction is never retried (`sessionWithin`). If the connection is lost before the commit, nothing has changed. If
 * it is lost during the commit, the outcome is unknown: `arrived` finds it out from what the transaction wrote, and
 * without it the caller gets `outcome_unknown`.
 */
import type { DataSource } from 'typeorm'
import { RecentnError } from '../shared/errors'
import { performance } from '../shared/platform'
import { inScope } from '../shared/scopes'
import { InFlight } from '../shared/settle-batch'
import type { HeldConnection, Opened } from './connection'
import type { Engine, Reader, Session, Statements, Tx, WriteOptions } from './engine'
import { type Joinable, requireOutside, transactionAround } from './inside'
import { catchUp } from './mysql/cluster'
import { requireSettings } from './mysql/session-settings'
import type { SkipLockedCheck } from './mysql/skip-locked'
import { limitUntil } from './mysql/statement-limit'
import { locationOf } from './opening/location'
import { runAtOnce, sessionIn, type TransactionSession } from './operations'
import { BoundedPool } from './pool/bounded-pool'
import { CutOff, hasFailedEarlier, isRefusedCommit, type LostCommit, settledCommit } from './pool/cut-off'
import { DatabaseCounts, type RetryRules, Trail, tried } from './retries'
import type { Gate } from './sqlite/gate'
import { readerOn, type Setting, separateOn, txOn } from './statements'
import type { Tables } from './tables'
import { AfterCommit, commit, Life, rollBack } from './transaction-guard'
import { settled } from './turns'

/** How long the last writes of a store wait for a server that hangs. */
const CLOSING_MS = 2000

interface DatabaseOptions extends Setting {
  dataSource: DataSource
  /** Gives each caller a connection: on SQLite at once. */
  open: (done: Opened) => void
  /** How long a call waits for a connection of the DataSource's pool. */
  connectionTimeoutSeconds?: number
  /** Set if the connections are not ours: each is checked, and may have another isolation level. */
  isForeign?: boolean
  gate?: Gate
  /** The check of a server's SKIP LOCKED, on which claims rely, before the first write. */
  skipLocked?: SkipLockedCheck
}

type TransactionWork<T> = (tx: Tx, session: TransactionSession) => Promise<T>
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
    const { dataSource: source, open, connectionTimeoutSeconds } = options
    this.location = locationOf(source.options)
    this.#retryRules = { engine: this.engine, counts: this.counts, locate: () => this.location }
    this.pool = new BoundedPool({ source, open, connectionTimeoutSeconds, location: this.location })
  }

  /** The object that a transaction holds and that a call inside of it would wait for (`inside.ts`). */
  get #held(): object {
    return this.gate ?? this.#options.dataSource
  }

  /** Throws `misuse` in code inside a transaction on this database: a call that waits there may wait for itself. */
  readonly requireOutside = (why?: string): void => requireOutside(this.#held, why)

  /** The transaction of this database that the running code belongs to; null where there is none. Throws `closed` if it has ended. */
  readonly around = (): Joinable | null => transactionAround(this.#held)

  /**
   * Runs `work` so that its calls of this database are known to be inside of the transaction. Only for work of a user's. The
   * store's own transactions call nothing but their statements, and until Node 24 a process that has once used an
   * `AsyncLocalStorage` makes every later promise more expensive.
   */
  inside<T>(transaction: Joinable['given'], work: (scope: Joinable) => Promise<T>): Promise<T> {
    return inScope(this.#held, transaction, work)
  }

  /** A connection, which its caller releases. Callers wait for SQLite's one connection with each statement, at the gate. */
  #connection(isWrite: boolean, until?: number): HeldConnection | Promise<HeldConnection> {
    if (this.gate) {
      let atOnce: HeldConnection | undefined
      this.#options.open((_, connection) => {
        atOnce = connection
      })
      return atOnce as unknown as HeldConnection
    }
    if (until !== undefined) return this.pool.take(until)
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
  readonly read: Session['read'] = (work) => this.#counted(() => this.#read(work))

  #read<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return tried(this.#retryRules, () =>
      this.#connected(false, (connection) => work(readerOn(connection, this.#options))),
    )
  }

  /** Runs `work` in a transaction, and again as a whole after a deadlock, up to `retries` times. */
  write<T>(work: TransactionWork<T>, options?: RetriedWrite): Promise<T> {
    return this.#counted(() => this.#write(work, options))
  }

  #write<T>(work: TransactionWork<T>, options: RetriedWrite = {}): Promise<T> {
    const { retries, arrived, lockSeconds } = options
    const retryMs = options.closing ? 0 : options.retryMs
    const ask = arrived && ((until: number) => this.#once(arrived, until, {}))
    const lost: LostCommit = { startedAt: performance.now(), ask }
    const conflictMs = this.gate || this.#options.isForeign ? undefined : lockSeconds && lockSeconds * 900
    const rules = { ...this.#retryRules, maxConflicts: retries, retryMs, conflictMs, findsOut: ask !== undefined }
    return tried(rules, () => this.#once(work, lost, options), this.#writable())
  }

  /** Runs statements that each commit by themselves; on SQLite, which has one connection, in a transaction. */
  readonly separately: Session['separately'] = (work, options) => this.#counted(() => this.#separately(work, options))

  async #separately<T>(work: StatementsWork<T>, { retryMs }: Pick<WriteOptions, 'retryMs'> = {}): Promise<T> {
    if (this.engine.family === 'sqlite') return this.#write(work, { retryMs })
    await this.#writable()
    const trail = new Trail()
    return tried({ ...this.#retryRules, retryMs, trail }, () =>
      this.#connected(true, async (connection) => {
        const isolate = () => connection.execute('SET TRANSACTION ISOLATION LEVEL READ COMMITTED', null)
        const before = this.#options.isForeign ? isolate : undefined
        if (trail.isLeft) await catchUp(connection, this.#options)
        const result = await work(trail.follow(separateOn(connection, this.#options), before))
        if (trail.isLeft) this.counts.wrote()
        return result
      }),
    )
  }

  /** Runs `work` on a connection, which is closed where its server is lost. */
  async #connected<T>(isWrite: boolean, work: (connection: HeldConnection) => Promise<T>): Promise<T> {
    const connection = await this.#connection(isWrite)
    try {
      if (this.#options.isForeign) await requireSettings(connection)
      const result = await work(connection)
      this.pool.heard(connection)
      return result
    } catch (error) {
      this.pool.lost(connection, this.engine, error)
      throw error
    } finally {
      await this.pool.release(connection)
    }
  }

  readonly afterCommit = runAtOnce

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

  drain(): Promise<void> {
    this.#isClosed = true
    return this.#inFlight.none()
  }

  #counted<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new RecentnError('closed'))
    const end = () => this.#inFlight.end()
    this.#inFlight.begin()
    try {
      const running = work()
      running.then(end, end)
      return running
    } catch (error) {
      end()
      return Promise.reject(error)
    }
  }

  /**
   * Runs the transaction once. Its commit listeners run when the connection is free again. With a time for `lost` it looks
   * until then for what another connection has committed, in a cluster perhaps on another node.
   */
  async #once<T>(
    work: TransactionWork<T>,
    lost: LostCommit | number,
    { lockSeconds, closing }: Pick<WriteOptions, 'lockSeconds' | 'closing'>,
  ): Promise<T> {
    const afterCommit = new AfterCommit()
    const isLook = typeof lost === 'number'
    const { isForeign } = this.#options
    const connection = await this.#connection(true, isLook ? lost : undefined)
    const life = new Life(this.engine, afterCommit)
    let result: T | undefined
    let cutOff: CutOff | null = null
    try {
      if (isForeign) await requireSettings(connection)
      if (isLook) await catchUp(connection, this.#options, lost)
      if (closing && connection.driver) limitUntil(connection.driver, performance.now() + CLOSING_MS)
      const begun = connection.begin({ isolation: isForeign ? 'READ COMMITTED' : undefined, lockSeconds })
      if (begun) await begun
      connection.following = life
      const tx = txOn(connection, this.#options, { isOpen: () => life.isOpen, listeners: () => afterCommit })
      const session = sessionIn(tx, connection.source, (error) => error)
      result = await work(tx, session)
      const left = settled(connection.source)
      if (left) await left
      await commit(connection, life)
      this.pool.heard(connection)
    } catch (error) {
      life.committed ||= life.committing && !connection.isBegun
      if (hasFailedEarlier(error)) life.committing = false
      // After a deadlock the transaction must run again, even if `work` threw another error.
      const reason = life.fault ? life.fault.error : error
      await rollBack(connection, life)
      this.pool.lost(connection, this.engine, reason)
      // The commit stays one if a TypeORM subscriber of the user's throws after it.
      if (!life.committing || (!life.committed && isRefusedCommit(this.engine, error))) throw reason
      cutOff = new CutOff(error, result, life.committed, afterCommit)
    } finally {
      await this.pool.release(connection)
    }
    if (life.changed) this.counts.wrote()
    if (cutOff === null) {
      afterCommit.run()
      return result as T
    }
    if (isLook) throw cutOff
    return settledCommit<T>(cutOff, this.engine, lost)
  }
}
