/**
 * Runs operations inside a transaction one after the other (`turns.ts`), each as a whole or not at all. An operation that fails
 * half-way is rolled back to a savepoint, so that a caller who catches the error and commits stores nothing of it.
 */
import type { EntityManager, QueryRunner } from 'typeorm'
import { RecentnError } from '../shared/errors'
import { callersTransaction } from './attached/callers-transaction'
import { RunnerConnection } from './attached/runner-connection'
import type { Session, Tx } from './engine'
import { ownBehind } from './mysql/mysql-connection'
import { requireSettings } from './mysql/session-settings'
import { locationOf } from './opening/location'
import { translated } from './retries'
import { sqliteBehind } from './sqlite/gated-runner'
import { type Setting, txOn } from './statements'
import { inTurn, inTurnsOfItsOwn } from './turns'

export interface TransactionSession extends Session {
  /** Runs the work of a transaction inside of it, all of it or nothing. Other operations wait until it has ended. */
  within<T>(work: (session: TransactionSession) => Promise<T>): Promise<T>
}

/** Outside of a transaction a listener to the commit runs at once: nothing is left to be committed. */
export const runAtOnce = async (listener: () => void): Promise<void> => listener()

/** Operations in the transaction `tx`. `translate` turns the driver's errors into the caller's; `check` runs before each. */
export function sessionIn(
  tx: Tx,
  source: object,
  translate: (error: unknown) => unknown,
  check: () => Promise<void> = async () => {},
  depth = 0,
): TransactionSession {
  const rethrow = (error: unknown) => {
    throw translate(error)
  }
  const all = <T>(work: () => Promise<T>) => inTurn(source, () => check().then(work)).catch(rethrow)
  const within = <T>(work: (session: TransactionSession) => Promise<T>) => {
    let isOpen = true
    const part = tx.part(() => isOpen)
    const run = () => work(sessionIn(part, source, translate, check, depth + 1))
    const ended = () => {
      isOpen = false
    }
    return allOrNothing(tx, () => inTurnsOfItsOwn(source, run, ended), `recentn_transaction_${depth}`)
  }
  const session: TransactionSession = {
    tables: tx.tables,
    inTransaction: true,
    read: (work) => all(() => work(tx)),
    write: (work) => all(() => allOrNothing(tx, work)),
    separately: (work) => all(() => allOrNothing(tx, work)),
    // In its turn: not while another operation may go back to its savepoint.
    afterCommit: (listener) => all(async () => tx.afterCommit(listener)),
    whole: (work) => work(session),
    within: (work) => all(() => within(work)),
  }
  return session
}

async function allOrNothing<T>(tx: Tx, work: (tx: Tx) => Promise<T>, savepoint = 'recentn_operation'): Promise<T> {
  await tx.run(`SAVEPOINT ${savepoint}`)
  try {
    const result = await work(tx)
    // Statements of the operation that still wait are sent with this, and fail here, not in the next one.
    await tx.run(`RELEASE SAVEPOINT ${savepoint}`)
    return result
  } catch (error) {
    // After a deadlock there is no savepoint any more; after a wait for a lock that was too long there may be.
    if (tx.engine.failure(error) !== 'lost') await tx.run(`ROLLBACK TO SAVEPOINT ${savepoint}`).catch(() => {})
    throw error
  }
}

const OTHERS = '; for the transaction of another library use what recentn/adapters has for it'

/** A session inside a transaction of the caller's. Nothing is retried: it throws `conflict`. */
export function sessionWithin(transaction: EntityManager | QueryRunner, setting: Setting): TransactionSession {
  const given: Partial<QueryRunner & EntityManager> | null = transaction
  const runner = given?.startTransaction ? (transaction as QueryRunner) : given?.queryRunner
  if (!runner?.isTransactionActive) {
    throw new RecentnError('invalid_input', `The EntityManager or QueryRunner has no open transaction${OTHERS}`)
  }
  const connection = ownBehind(runner) ?? sqliteBehind(runner) ?? new RunnerConnection(runner)
  const callers = callersTransaction(runner, connection.source)
  const tx = txOn(connection, setting, {
    isCallers: true,
    isOpen: () => callers.isOpen && runner.isTransactionActive,
    listeners: () => connection.listeners,
  })
  const { engine } = setting
  const translate = (error: unknown) => translated(error, engine, () => locationOf(runner.connection.options))
  const check = async () => {
    await runner.connect()
    await requireSettings(connection)
  }
  return sessionIn(tx, connection.source, translate, engine.family === 'sqlite' ? undefined : check)
}
