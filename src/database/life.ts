/**
 * The life of one transaction of ours on its query runner: what may still run in it, and how it ends.
 *
 * Invariant: no statement runs on the connection between the end of the transaction and its release, and none after a
 * deadlock, when the server has rolled everything back and each statement would commit by itself. A connection whose
 * transaction could not be ended is thrown away, not given back to the pool.
 */
import type { QueryRunner } from 'typeorm'
import { RecentnError } from '../errors'
import type { AfterCommit } from './after-commit'
import type { Engine, Parameter, Ran, Reader, Row, Statements, Tx } from './engine'
import type { Tables } from './tables'

export interface Life {
  /** False from the moment at which the transaction is to end. */
  open: boolean
  committing: boolean
  /** Whether the COMMIT was answered, whatever comes after it. */
  committed: boolean
  /** The error that ended it on the server. */
  fault: { error: unknown } | null
  /** The statements under way. */
  running: Set<Promise<unknown>>
}

/** Follows all statements of the runner, those too that come by TypeORM's manager. */
export function watch(runner: QueryRunner, engine: Engine, afterCommit: AfterCommit): Life {
  const life: Life = { open: true, committing: false, committed: false, fault: null, running: new Set() }
  const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>
  const watched = async (sql: string, ...rest: unknown[]) => {
    const ends = sql === 'ROLLBACK' || sql === 'COMMIT'
    if (life.fault && !ends) {
      // There is no savepoint left; whoever goes back to one must get so far as to end the whole.
      if (sql.startsWith('ROLLBACK TO')) return undefined
      throw life.fault.error
    }
    if (!life.open && !ends) throw new RecentnError('closed', 'The transaction is over')
    const statement = query(sql, ...rest)
    life.running.add(statement)
    try {
      const result = await statement
      if (sql === 'COMMIT') life.committed = true
      afterCommit.follow(sql)
      return result
    } catch (error) {
      const failure = engine.failure(error)
      if ((failure === 'conflict' || failure === 'lost') && !ends) life.fault ??= { error }
      throw error
    } finally {
      life.running.delete(statement)
    }
  }
  runner.query = watched as QueryRunner['query']
  return life
}

/** Commits; refuses when a deadlock was swallowed, or a transaction that was begun inside is still open. */
export async function commit(runner: QueryRunner, life: Life): Promise<void> {
  requireWhole(life)
  if (depthOf(runner).transactionDepth !== 1) {
    throw new RecentnError('conflict', 'A transaction that was begun inside of this one was left open')
  }
  life.open = false
  await Promise.allSettled(life.running)
  requireWhole(life)
  life.committing = true
  await runner.commitTransaction()
}

function requireWhole({ fault }: Life): void {
  if (fault) throw fault.error
}

/** Rolls back to before the first statement, whatever savepoints there are. */
export async function rollBack(runner: QueryRunner, life: Life | null): Promise<void> {
  if (life) {
    life.open = false
    await Promise.allSettled(life.running)
  }
  if (!runner.isTransactionActive) return
  depthOf(runner).transactionDepth = 1
  try {
    await runner.rollbackTransaction()
  } catch {
    // The fault that led here is the one to tell. The server rolls back when the connection is gone.
    drop(runner)
  }
}

/** Throws the connection away after such an error: it may lead to a server that has become a replica. */
export function dropLost(runner: QueryRunner, engine: Engine, error: unknown): void {
  if (engine.failure(error) === 'lost') drop(runner)
}

function drop(runner: QueryRunner): void {
  const { databaseConnection } = runner as unknown as { databaseConnection?: { destroy?: () => void } }
  databaseConnection?.destroy?.()
}

function depthOf(runner: QueryRunner): { transactionDepth: number } {
  return runner as unknown as { transactionDepth: number }
}

/** What statements of ours are made for. */
export interface Setting {
  engine: Engine
  tables: Tables
  clockOffsetMs?: () => number
}

export function readerOn(runner: QueryRunner, { engine, tables, clockOffsetMs }: Setting): Reader {
  return {
    engine,
    tables,
    get now() {
      const offset = Math.trunc(clockOffsetMs?.() ?? 0)
      return offset === 0 ? engine.nowMs : `(${engine.nowMs} + ${offset})`
    },
    rows: (sql: string, parameters: readonly Parameter[] = []) => {
      const [bound, left] = engine.bound(sql, parameters)
      return runner.query(bound, left as Parameter[]) as Promise<Row[]>
    },
  }
}

/** Statements outside of any transaction; `before` runs before each. */
export function statementsOn(
  runner: QueryRunner,
  setting: Setting,
  before: () => Promise<unknown> = async () => {},
): Statements {
  const reader = readerOn(runner, setting)
  const { engine, tables } = setting
  const execute = async (sql: string, parameters: readonly Parameter[] = []) => {
    await before()
    const [bound, left] = engine.bound(sql, parameters)
    return ranOf(await runner.query(bound, left as Parameter[], true))
  }
  return {
    engine,
    tables,
    separate: true,
    get now() {
      return reader.now
    },
    rows: (sql, parameters) => reader.rows(sql, parameters),
    execute,
    run: async (sql, parameters) => (await execute(sql, parameters)).affected,
  }
}

/** What TypeORM answers to a statement: the id is the raw answer of better-sqlite3, and a part of mysql2's. */
function ranOf(result: { affected?: number; raw?: unknown } | undefined): Ran {
  const raw = result?.raw
  const insertId = typeof raw === 'object' ? (raw as { insertId?: string | number } | null)?.insertId : raw
  return { affected: Number(result?.affected ?? 0), insertId: BigInt((insertId as string | number | undefined) ?? 0) }
}

/** A `Tx` ends with its transaction: what is still called on it then would run outside of any. */
export function txOn(runner: QueryRunner, setting: Setting, isOpen: () => boolean, listenersOf: () => AfterCommit): Tx {
  const requireOpen = async () => {
    if (!isOpen()) throw new RecentnError('closed', 'The transaction is over')
  }
  const statements = statementsOn(runner, setting, requireOpen)
  const tx = {
    ...statements,
    separate: false,
    get now() {
      return statements.now
    },
    manager: runner.manager,
    afterCommit: (listener: () => void) => listenersOf().add(listener),
    rows: async (sql: string, parameters?: readonly Parameter[]) => {
      await requireOpen()
      return statements.rows(sql, parameters)
    },
  }
  return tx as unknown as Tx
}
