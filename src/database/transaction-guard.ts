/**
 * The life of one of our transactions on its query runner: which statements may still run in it, and how it ends.
 *
 * Invariant: no statement runs on the connection between the end of the transaction and its release. None runs after a
 * deadlock or on a full disk either: the database may have rolled everything back, and each statement would commit by
 * itself. A connection whose transaction could not be ended is closed, not returned to the pool.
 */
import type { QueryRunner } from 'typeorm'
import { RecentnError } from '../shared/errors'
import type { AfterCommit } from './after-commit'
import { driverError, type Engine } from './engine'
import { hasFailedEarlier } from './mysql/packets'
import { checkHost, doubtHost, UnfitHost } from './mysql/server-hosts'

export interface Life {
  /** False once the transaction is ending. */
  open: boolean
  committing: boolean
  /** True once the COMMIT has succeeded, whatever fails after it. */
  committed: boolean
  /** True once a statement has changed a row, or waits for the next one and will (`packets.ts`). */
  changed: boolean
  /** The error that ended it on the server. */
  fault: { error: unknown } | null
  running: Set<Promise<unknown>>
}

/** Follows all statements of the runner, also those of TypeORM's manager. */
export function watch(runner: QueryRunner, engine: Engine, afterCommit: AfterCommit): Life {
  const life: Life = {
    open: true,
    committing: false,
    committed: false,
    changed: false,
    fault: null,
    running: new Set(),
  }
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
      life.changed ||= rest[1] === 'later' || hasChanged(result)
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

/** What a statement answers: of TypeORM's runners with `true`, or of mysql2. */
function hasChanged(result: unknown): boolean {
  const { affected = 0, affectedRows = 0 } = (result ?? {}) as { affected?: number; affectedRows?: number }
  return affected > 0 || affectedRows > 0
}

/** Commits. Throws if the work swallowed a deadlock, or left a transaction open that it began inside. */
export async function commit(runner: QueryRunner, life: Life): Promise<void> {
  requireWhole(life)
  if (depthOf(runner).transactionDepth !== 1) {
    throw new RecentnError('misuse', 'A transaction that was begun inside of this one was left open')
  }
  life.open = false
  if (life.running.size > 0) await Promise.allSettled(life.running)
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

const LOCK_WAIT_TIMEOUT = 1205

/** Closes the connection after a lost-connection error: its server may have become a replica. */
export function dropLost(runner: QueryRunner, engine: Engine, error: unknown): void {
  const { databaseConnection } = runner as unknown as { databaseConnection?: object }
  const { errno = 0, code } = driverError(error)
  if (databaseConnection && engine.members && errno === LOCK_WAIT_TIMEOUT) checkHost(databaseConnection)
  if (engine.failure(error) !== 'lost') return
  drop(runner)
  // What the server says itself, and that it says nothing, holds for its other connections, too.
  const isSilent = code === 'ETIMEDOUT'
  const isOfHost = errno > 0 || isSilent || error instanceof UnfitHost
  if (databaseConnection && isOfHost) doubtHost(databaseConnection, isSilent)
}

export function drop(runner: QueryRunner): void {
  const { databaseConnection } = runner as unknown as { databaseConnection?: { destroy?: () => void } }
  databaseConnection?.destroy?.()
}

function depthOf(runner: QueryRunner): { transactionDepth: number } {
  return runner as unknown as { transactionDepth: number }
}
