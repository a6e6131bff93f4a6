/**
 * The life of one of our transactions on its query runner: which statements may still run in it, and how it ends.
 *
 * Invariant: no statement runs on the connection between the end of the transaction and its release. None runs after a
 * deadlock or on a full disk either: the database may have rolled everything back, and each statement would commit by
 * itself. A connection whose transaction could not be ended is closed, not returned to the pool.
 */
import type { QueryRunner } from 'typeorm'
import { RecentnError } from '../errors'
import type { AfterCommit } from './after-commit'
import {
  driverError,
  type Engine,
  type Insert,
  type Reader,
  type Row,
  type StatementAnswer,
  type Statements,
  type StatementValues,
  type Tx,
} from './engine'
import { failedEarlier, GatheringQueryRunner, hasFailedEarlier, type Later } from './gathering'
import { queryOn } from './prepared'
import { doubtHost } from './server-hosts'
import type { Tables } from './tables'

export interface Life {
  /** False once the transaction is ending. */
  open: boolean
  committing: boolean
  /** True once the COMMIT has succeeded, whatever fails after it. */
  committed: boolean
  /** The error that ended it on the server. */
  fault: { error: unknown } | null
  running: Set<Promise<unknown>>
}

/** Follows all statements of the runner, also those of TypeORM's manager. */
export function watch(runner: QueryRunner, engine: Engine, afterCommit: AfterCommit): Life {
  const life: Life = { open: true, committing: false, committed: false, fault: null, running: new Set() }
  const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>
  const watched = async (sql: string, ...rest: unknown[]) => {
    const ends = sql === 'ROLLBACK' || sql === 'COMMIT'
    if (life.fault && !ends) {
      // No savepoint is left. A caller that rolls back to one must still be able to end the whole transaction.
      if (sql.startsWith('ROLLBACK TO')) return undefined
      throw life.fault.error
    }
    if (!life.open && !ends) throw new RecentnError('closed', 'The transaction has ended')
    const statement = query(sql, ...rest)
    life.running.add(statement)
    try {
      const result = await statement
      if (sql === 'COMMIT') life.committed = true
      afterCommit.follow(sql)
      return result
    } catch (error) {
      const failure = engine.failure(error)
      if (failure !== 'other' && failure !== 'no-table' && !ends) life.fault ??= { error }
      throw error
    } finally {
      life.running.delete(statement)
    }
  }
  runner.query = watched as QueryRunner['query']
  return life
}

/** Commits. Throws if the work swallowed a deadlock, or left a transaction open that it began inside. */
export async function commit(runner: QueryRunner, life: Life): Promise<void> {
  requireWhole(life)
  if (depthOf(runner).transactionDepth !== 1) {
    throw new RecentnError('conflict', 'A transaction that was begun inside of this one was left open')
  }
  life.open = false
  await Promise.allSettled(life.running)
  requireWhole(life)
  life.committing = true
  try {
    await runner.commitTransaction()
  } catch (error) {
    if (hasFailedEarlier(error)) life.committing = false
    throw error
  }
}

function requireWhole({ fault }: Life): void {
  if (fault) throw fault.error
}

/** Rolls back the whole transaction, with all savepoints. */
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
    // The error to report is the one that led here. The server rolls back when the connection closes.
    drop(runner)
  }
}

/** Closes the connection after a lost-connection error: its server may have become a replica. */
export function dropLost(runner: QueryRunner, engine: Engine, error: unknown): void {
  if (engine.failure(error) !== 'lost') return
  drop(runner)
  const { databaseConnection } = runner as unknown as { databaseConnection?: object }
  const { errno = 0, code } = driverError(error)
  // What the server says itself, and that it says nothing, holds for its other connections, too.
  const isSilent = code === 'ETIMEDOUT'
  if (databaseConnection && (errno > 0 || isSilent)) doubtHost(databaseConnection, isSilent)
}

export function drop(runner: QueryRunner): void {
  const { databaseConnection } = runner as unknown as { databaseConnection?: { destroy?: () => void } }
  databaseConnection?.destroy?.()
}

function depthOf(runner: QueryRunner): { transactionDepth: number } {
  return runner as unknown as { transactionDepth: number }
}

/** What our statements depend on. */
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
    rows: (sql: string, parameters: StatementValues = []) =>
      queryOn<Row[]>(runner, engine.bound(sql, parameters), false),
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
  const execute = async (sql: string, parameters: StatementValues = []) => {
    await before()
    return answerOf(await queryOn(runner, engine.bound(sql, parameters), true))
  }
  return {
    engine,
    tables,
    separate: true,
    gathers: runner instanceof GatheringQueryRunner,
    get now() {
      return reader.now
    },
    rows: (sql, parameters) => reader.rows(sql, parameters),
    execute,
    run: async (sql, parameters) => (await execute(sql, parameters)).affected,
    together: async (statements) => {
      if (statements.length === 0) return []
      const waiting: Later[] = []
      for (const statement of statements.slice(0, -1)) {
        await before()
        const later = runLater(runner, engine, statement).catch((error: unknown) => {
          throw failedEarlier(error)
        })
        waiting.push(await later)
      }
      const { sql, parameters } = statements.at(-1) as Insert
      const last = await execute(sql, parameters)
      return [...waiting.map(({ result }) => answerOf(result)), last]
    },
  }
}

/** Runs a statement at once where the connection does not gather them. */
async function runLater(runner: QueryRunner, engine: Engine, { sql, parameters }: Insert): Promise<Later> {
  const bound = engine.bound(sql, parameters)
  // TypeORM's type does not know the third way.
  if (runner instanceof GatheringQueryRunner) return runner.query(bound[0], bound[1] as never, 'later' as never)
  return { result: await queryOn(runner, bound, true) }
}

/** The effect of a statement from TypeORM's answer: the id is better-sqlite3's raw answer, and a part of mysql2's. */
function answerOf(result: Later['result']): StatementAnswer {
  const raw = result?.raw
  const insertId = typeof raw === 'object' ? (raw as { insertId?: string | number } | null)?.insertId : raw
  return {
    rows: (result?.records ?? []) as Row[],
    affected: Number(result?.affected ?? 0),
    insertId: BigInt((insertId as string | number | undefined) ?? 0),
  }
}

/** A `Tx` refuses calls after its transaction has ended: they would run outside of any transaction. */
export function txOn(runner: QueryRunner, setting: Setting, isOpen: () => boolean, listenersOf: () => AfterCommit): Tx {
  const requireOpen = async () => {
    if (!isOpen()) throw new RecentnError('closed', 'The transaction has ended')
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
    rows: async (sql: string, parameters?: StatementValues) => {
      await requireOpen()
      return statements.rows(sql, parameters)
    },
    later: async (sql: string, parameters: StatementValues = []) => {
      await requireOpen()
      await runLater(runner, setting.engine, { sql, parameters })
    },
  }
  return tx as unknown as Tx
}
