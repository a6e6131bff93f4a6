/**
 * The SQLite gate: makes TypeORM's one SQLite connection behave as a pool whose transactions run one after the other.
 *
 * TypeORM gives every caller the same query runner, so that two transactions nest into each other and a plain write
 * made meanwhile vanishes with another's rollback. Here every caller gets a runner of its own on the shared connection.
 * Invariant: whoever runs a statement holds the gate, for that statement or for the whole of its transaction.
 * The gate is first come, first served. A transaction begins IMMEDIATE, so that it never fails half-way for the write
 * lock; a lock that another process or connection holds is waited for without blocking the event loop.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type BetterSqlite3 from 'better-sqlite3'
import type { DataSource, QueryRunner } from 'typeorm'
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner'
import { RecentnError } from '../errors'
import type { Courtesy } from './courtesy'
import { DatabaseCounts } from './database-counts'
import { sqliteEngine } from './sqlite'

/** How long a caller waits for its turn, and then for the lock of another process. */
const PATIENCE_MS = 30_000

/** How long the gate may be passed on without a turn of the event loop. */
const BREATHE_MS = 10

type Leave = () => void

/** The gate that the running code holds, while it does: asking for it again from there would wait for ever. */
const holding = new AsyncLocalStorage<{ gate: Gate; active: boolean }>()

/** True for code that a transaction of a store on SQLite runs: what it asks of the store itself must not wait. */
export function isInsideTransaction(): boolean {
  return holding.getStore()?.active === true
}

export class Gate {
  #tail: Promise<void> = Promise.resolve()
  #waiting = 0
  #breathedAt = Number.NEGATIVE_INFINITY
  /** Of all that goes through it. */
  readonly counts = new DatabaseCounts()

  /** True while somebody holds it or waits for it. */
  get busy(): boolean {
    return this.#waiting > 0
  }

  /** Who holds it and who wait for it. */
  get waiting(): number {
    return this.#waiting
  }

  /** Resolves when it is the caller's turn, to the function that ends it. */
  async enter(): Promise<Leave> {
    const holder = holding.getStore()
    if (holder?.gate === this && holder.active) {
      throw new RecentnError(
        'conflict',
        'An operation of the store was called inside its own transaction: SQLite has one connection, use the transaction that was passed in',
      )
    }
    const before = this.#tail
    const free = this.#waiting === 0
    let leave: Leave = () => {}
    this.#waiting++
    this.#tail = new Promise((resolve) => {
      leave = () => {
        this.#waiting--
        resolve()
      }
    })
    if (!free) await this.#turn(before, leave)
    await this.#breathe()
    return leave
  }

  /**
   * Lets timers and sockets have their turn. better-sqlite3 answers at once, so that callers who go on as soon as they
   * are answered would keep the event loop from ever getting further.
   */
  async #breathe(): Promise<void> {
    if (performance.now() - this.#breathedAt < BREATHE_MS) return
    await new Promise(setImmediate)
    this.#breathedAt = performance.now()
  }

  async #turn(before: Promise<void>, leave: Leave): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), PATIENCE_MS)
    })
    const outcome = await Promise.race([before, patience])
    clearTimeout(timer)
    if (outcome !== 'late') return
    before.then(leave) // who waits behind this caller still waits for the one before it
    throw new RecentnError('database_unavailable', 'Another transaction has held the SQLite connection for 30 s')
  }

  /** Runs `work` so that a call of `enter` inside is refused in place of waiting for itself. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    const holder = { gate: this, active: true }
    try {
      return await holding.run(holder, work)
    } finally {
      holder.active = false // what the work left running is no part of the transaction any more
    }
  }
}

/** A query runner on the shared connection that holds the gate for each statement or for its whole transaction. */
class GatedQueryRunner extends BetterSqlite3QueryRunner {
  #leave: Leave | null = null
  readonly #gate: Gate
  readonly #courtesy: Courtesy | undefined

  constructor(source: DataSource, gate: Gate, statements: Map<string, unknown>, courtesy?: Courtesy) {
    super(source.driver as ConstructorParameters<typeof BetterSqlite3QueryRunner>[0])
    this.#gate = gate
    this.#courtesy = courtesy
    // Prepared statements belong to the connection; a runner lives for one call.
    Object.assign(this, { stmtCache: statements, manager: source.createEntityManager(this) })
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature is TypeORM's
  override async query(sql: string, parameters?: any[], structured?: boolean): Promise<any> {
    const statement = sql === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : sql
    if (this.#leave && this.isTransactionActive) {
      const begins = statement === 'BEGIN IMMEDIATE'
      return begins
        ? this.#patiently(statement, parameters, structured)
        : super.query(statement, parameters, structured)
    }
    const leave = await this.#gate.enter()
    try {
      return await this.#patiently(statement, parameters, structured)
    } finally {
      leave()
    }
  }

  /** Runs a statement that stands alone: when another connection has the lock it has changed nothing, so try again. */
  // biome-ignore lint/suspicious/noExplicitAny: the signature is TypeORM's
  async #patiently(sql: string, parameters?: any[], structured?: boolean): Promise<any> {
    const connection: BetterSqlite3.Database = await this.connect()
    const deadline = Date.now() + PATIENCE_MS
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
      // Where the connection is the user's own, its transaction must end before a statement of ours runs.
      if (!connection.inTransaction && this.#courtesy?.begin() !== false) {
        try {
          return await super.query(sql, parameters, structured)
        } catch (error) {
          if (sqliteEngine.failure(error) !== 'conflict' || Date.now() > deadline) throw error
          this.#gate.counts.retried(error)
        } finally {
          if (!connection.inTransaction) this.#courtesy?.end()
        }
      } else if (Date.now() > deadline) {
        throw new RecentnError('database_unavailable', 'A transaction has held the SQLite connection for 30 s')
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  override async startTransaction(): Promise<void> {
    this.#leave ??= await this.#gate.enter()
    try {
      await super.startTransaction()
    } catch (error) {
      if (this.transactionDepth === 0) this.#end()
      throw error
    }
  }

  override async commitTransaction(): Promise<void> {
    await super.commitTransaction()
    if (!this.isTransactionActive) this.#end()
  }

  override async rollbackTransaction(): Promise<void> {
    try {
      await super.rollbackTransaction()
    } catch (error) {
      // SQLite rolls back by itself on some faults (a full disk); then there is nothing left to roll back.
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
      this.transactionDepth = 1 // whatever savepoints there are
      await this.rollbackTransaction().catch(() => {})
    }
    this.#end()
    await super.release()
  }

  #end(): void {
    this.isTransactionActive = false
    if (!this.#leave) return
    this.#courtesy?.end()
    this.#leave()
    this.#leave = null
  }
}

/** Makes runners on the connection of an initialized better-sqlite3 DataSource that share one gate. */
export function gatedRunners(source: DataSource, gate: Gate, courtesy?: Courtesy): () => QueryRunner {
  const statements = new Map<string, unknown>()
  return () => new GatedQueryRunner(source, gate, statements, courtesy)
}
