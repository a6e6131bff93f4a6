/**
 * Runs operations inside a transaction one after the other, each as a whole or not at all.
 *
 * A row lock does not keep a transaction from itself: two appends that run at once in one transaction would both read
 * the same last id. So the operations of one query runner wait for each other, whichever handle was called. An
 * operation that fails half-way is rolled back to a savepoint, so that a caller who catches the error and commits
 * stores nothing of it.
 */
import type { EntityManager, QueryRunner } from 'typeorm'
import { RecentnError } from '../shared/errors'
import { afterCommitOf } from './after-commit'
import type { Session, Tx } from './engine'
import { locationOf } from './location'
import { requireSettings } from './mysql/session-settings'
import { translated } from './retries'
import { type Setting, txOn } from './statements'

const SAVEPOINT = 'recentn_operation'

/** What follows a commit, outside of a transaction: nothing is left to be committed. */
export const runAtOnce = async (listener: () => void): Promise<void> => listener()

/** The last operation of each connection, by what runs its statements. */
const lastOperations = new WeakMap<object, Promise<unknown>>()

function inTurn<T>(source: object, work: () => Promise<T>): Promise<T> {
  const before = lastOperations.get(source) ?? Promise.resolve()
  const mine = before.then(work, work)
  lastOperations.set(
    source,
    mine.catch(() => {}),
  )
  return mine
}

export async function settled(source: object): Promise<void> {
  for (let last = lastOperations.get(source); last; ) {
    await last
    const now = lastOperations.get(source)
    if (now === last) return
    last = now
  }
}

/**
 * A session of operations in the transaction `tx` of the connection `source`. `translate` turns the driver's errors into the caller's;
 * `check` runs before each operation.
 */
export function sessionIn(
  tx: Tx,
  source: object,
  translate: (error: unknown) => unknown,
  check: () => Promise<void> = async () => {},
): Session {
  const rethrow = (error: unknown) => {
    throw translate(error)
  }
  const all = <T>(work: () => Promise<T>) => inTurn(source, () => check().then(work)).catch(rethrow)
  const session: Session = {
    tables: tx.tables,
    inTransaction: true,
    read: (work) => all(() => work(tx)),
    write: (work) => all(() => allOrNothing(tx, work)),
    separately: (work) => all(() => allOrNothing(tx, work)),
    // In its turn: not while another operation may go back to its savepoint.
    afterCommit: (listener) => all(async () => tx.afterCommit(listener)),
    whole: (work) => work(session),
  }
  return session
}

async function allOrNothing<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  await tx.run(`SAVEPOINT ${SAVEPOINT}`)
  let result: T
  try {
    result = await work(tx)
    // What still waits of the operation is sent with this, and fails here, not in the next one.
    await tx.run(`RELEASE SAVEPOINT ${SAVEPOINT}`)
  } catch (error) {
    // After a deadlock there is no savepoint any more; after a wait for a lock that was too long there may be.
    if (tx.engine.failure(error) !== 'lost') await tx.run(`ROLLBACK TO SAVEPOINT ${SAVEPOINT}`).catch(() => {})
    throw error
  }
  return result
}

const OTHERS = '; for the transaction of another library use what recentn/adapters has for it'

/** A session inside a transaction of the caller's. Nothing is retried: it throws `conflict`. */
export function sessionWithin(transaction: EntityManager | QueryRunner, setting: Setting): Session {
  const given: Partial<QueryRunner & EntityManager> | null = transaction
  const runner = given?.startTransaction ? (transaction as QueryRunner) : given?.queryRunner
  if (!runner?.isTransactionActive) {
    throw new RecentnError('invalid_input', `The EntityManager or QueryRunner has no open transaction${OTHERS}`)
  }
  const tx = txOn(runner, setting, {
    isOpen: () => runner.isTransactionActive,
    listeners: () => afterCommitOf(runner),
  })
  const { engine } = setting
  const translate = (error: unknown) => translated(error, engine, () => locationOf(runner.connection.options))
  return sessionIn(tx, runner, translate, engine.family === 'sqlite' ? undefined : () => requireSettings(runner))
}
