/**
 * A database as a `Session`: statements of its own, and transactions that are run again when that is safe.
 *
 * Invariant: a transaction is retried only here, at its outermost level and as a whole; what runs inside a
 * transaction of somebody else is never retried (`sessionWithin`). A connection that is lost before the commit has
 * changed nothing; one that is lost during the commit leaves the outcome unknown, and that is what is thrown.
 */
import type { EntityManager, QueryRunner } from 'typeorm'
import { RecentnError } from '../errors'
import type { Engine, Parameter, Reader, Row, Session, Tx } from './engine'
import type { Gate } from './gate'

export interface DatabaseOptions {
  engine: Engine
  /** Gives a query runner of its own to each caller. */
  createRunner: () => QueryRunner
  /** Set where the connections are not ours, so that they may stand at another isolation level. */
  setIsolation?: boolean
  gate?: Gate
  clockOffsetMs?: () => number
}

const MAX_CONFLICT_RETRIES = 40
const MAX_LOST_RETRIES = 2
/** No retry begins later than this after the first try, however many are left. */
const RETRY_MS = 30_000

export class Database implements Session {
  readonly engine: Engine
  readonly #options: DatabaseOptions
  /** SQLite's; the servers have a connection for each caller. */
  readonly #gate: Gate | null
  #inFlight = 0
  #closed = false
  #idle: (() => void) | null = null

  constructor(options: DatabaseOptions) {
    this.#options = options
    this.#gate = options.engine.family === 'sqlite' ? (options.gate ?? null) : null
    this.engine = options.engine
  }

  /** Runs statements outside of a transaction; `work` must only read, it runs again after a lost connection. */
  read<T>(work: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#counted(() =>
      this.#retried(MAX_CONFLICT_RETRIES, async () => {
        const runner = this.#options.createRunner()
        try {
          return await work(readerOn(runner, this.engine, this.#options.clockOffsetMs))
        } finally {
          await runner.release()
        }
      }),
    )
  }

  /** Runs `work` in a transaction, again as a whole after a deadlock, up to `retries` times. */
  write<T>(work: (tx: Tx) => Promise<T>, retries = MAX_CONFLICT_RETRIES): Promise<T> {
    return this.#counted(() => this.#retried(retries, () => this.#once(work)))
  }

  /** Refuses what comes from now on and resolves when what runs has ended. */
  async drain(): Promise<void> {
    this.#closed = true
    if (this.#inFlight === 0) return
    await new Promise<void>((resolve) => {
      this.#idle = resolve
    })
  }

  /** An error of the driver as the one that callers know. */
  told(error: unknown): unknown {
    return translated(error, this.engine)
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new RecentnError('closed')
    this.#inFlight++
    try {
      return await work()
    } finally {
      this.#inFlight--
      if (this.#inFlight === 0) this.#idle?.()
    }
  }

  async #once<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const runner = this.#options.createRunner()
    let committing = false
    try {
      await runner.startTransaction(this.#options.setIsolation ? 'READ COMMITTED' : undefined)
      const requireWhole = refuseAfterConflict(runner, this.engine)
      const tx = txOn(runner, this.engine, this.#options.clockOffsetMs)
      const result = await (this.#gate ? this.#gate.guard(() => work(tx)) : work(tx))
      requireWhole()
      committing = true
      await runner.commitTransaction()
      return result
    } catch (error) {
      if (committing && this.engine.failure(error) === 'lost') {
        throw new RecentnError('outcome_unknown', undefined, { cause: error, retryAfterSeconds: 1 })
      }
      // The fault that led here is the one to tell; a connection that can't roll back is rolled back by its server.
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => {})
      throw error
    } finally {
      await runner.release()
    }
  }

  async #retried<T>(maxConflicts: number, work: () => Promise<T>): Promise<T> {
    const deadline = Date.now() + RETRY_MS
    for (let conflicts = 0, losses = 0; ; ) {
      try {
        return await work()
      } catch (error) {
        if (error instanceof RecentnError) throw error
        const failure = Date.now() < deadline ? this.engine.failure(error) : 'other'
        if (failure === 'conflict' && conflicts++ < maxConflicts) await pause(Math.min(2 ** conflicts, 100))
        else if (failure === 'lost' && losses++ < Math.min(MAX_LOST_RETRIES, maxConflicts)) await pause(50 * losses)
        else throw translated(error, this.engine)
      }
    }
  }
}

/** A session inside a transaction that somebody else began and will end. Nothing is retried: it throws `conflict`. */
export function sessionWithin(
  transaction: EntityManager | QueryRunner,
  engine: Engine,
  clockOffsetMs?: () => number,
): Session {
  const runner = 'startTransaction' in transaction ? transaction : transaction.queryRunner
  if (!runner?.isTransactionActive) {
    throw new RecentnError('invalid_input', 'The EntityManager or QueryRunner has no open transaction')
  }
  const tx = txOn(runner, engine, clockOffsetMs)
  return sessionIn(tx, (error) => translated(error, engine))
}

/** A session inside one transaction of ours, whose outermost level must still know a deadlock when it sees one. */
export function sessionOn(tx: Tx): Session {
  return sessionIn(tx, (error) => error)
}

function sessionIn(tx: Tx, told: (error: unknown) => unknown): Session {
  const run = async <T>(work: (open: Tx) => Promise<T>): Promise<T> => {
    try {
      return await work(tx)
    } catch (error) {
      throw told(error)
    }
  }
  return { read: run, write: run }
}

/** The driver's errors that a caller can do something about, as ours; others stay as they are. */
function translated(error: unknown, engine: Engine): unknown {
  if (error instanceof RecentnError) return error
  const options = { cause: error, retryAfterSeconds: 1 }
  switch (engine.failure(error)) {
    case 'conflict':
      return new RecentnError('conflict', undefined, options)
    case 'lost':
      return new RecentnError('database_unavailable', undefined, options)
    case 'no-table':
      return new RecentnError('schema_missing', undefined, options)
    case 'other':
      return error
  }
}

function pause(maxMs: number): Promise<void> {
  // Full jitter: those who met must not meet again at the same moment.
  return new Promise((resolve) => setTimeout(resolve, Math.random() * maxMs))
}

function readerOn(runner: QueryRunner, engine: Engine, clockOffsetMs?: () => number): Reader {
  return {
    engine,
    get now() {
      const offset = Math.trunc(clockOffsetMs?.() ?? 0)
      return offset === 0 ? engine.nowMs : `(${engine.nowMs} + ${offset})`
    },
    rows: (sql: string, parameters: readonly Parameter[] = []) =>
      runner.query(sql, parameters as Parameter[]) as Promise<Row[]>,
  }
}

/**
 * After a deadlock the server has rolled the whole transaction back, and what follows would commit by itself, each
 * statement alone. So nothing follows: whoever catches the error inside of the transaction is told it again at every
 * statement, and at the end by the function that is given back.
 */
function refuseAfterConflict(runner: QueryRunner, engine: Engine): () => void {
  const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>
  let fault: { error: unknown } | null = null
  const requireWhole = () => {
    if (fault) throw fault.error
  }
  const watched = async (...parameters: unknown[]) => {
    if (parameters[0] !== 'ROLLBACK') requireWhole()
    try {
      return await query(...parameters)
    } catch (error) {
      if (engine.failure(error) === 'conflict') fault = { error }
      throw error
    }
  }
  runner.query = watched as QueryRunner['query']
  return requireWhole
}

/** A `Tx` ends with its transaction: what is still called on it then would run outside of any. */
function txOn(runner: QueryRunner, engine: Engine, clockOffsetMs?: () => number): Tx {
  const reader = readerOn(runner, engine, clockOffsetMs)
  const open = () => {
    if (!runner.isTransactionActive) throw new RecentnError('closed', 'The transaction is over')
  }
  const tx = {
    engine,
    get now() {
      return reader.now
    },
    manager: runner.manager,
    rows: async (sql: string, parameters?: readonly Parameter[]) => {
      open()
      return reader.rows(sql, parameters)
    },
    run: async (sql: string, parameters: readonly Parameter[] = []) => {
      open()
      const result = await runner.query(sql, parameters as Parameter[], true)
      return Number(result.affected ?? 0)
    },
  }
  return tx as unknown as Tx
}
