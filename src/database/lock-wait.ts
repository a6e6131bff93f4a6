/** How long statements on a connection of our own wait for a lock. Owns the last setting of each connection. */
import type { QueryRunner } from 'typeorm'
import type { Later } from './gathering'
import { lockSeconds } from './session-settings'

/** Of transactions for many callers: the others wait as long as the one whose lock is held. */
export const BRIEF_SECONDS = 1

interface Told {
  /** What the session has been set to at its beginning. */
  whole: number
  seconds: number
  /** The statement that says it. */
  by: Later
}

const told = new WeakMap<object, Told>()

/** Notes the wait that the settings of a new connection have given it. */
export function noteLockWait(connection: object, statementSeconds: number): void {
  const seconds = lockSeconds(statementSeconds)
  told.set(connection, { whole: seconds, seconds, by: { result: {} as Later['result'] } })
}

/** Sets the wait of the transaction that has begun, with its first statement. Undefined where it is set, or not ours to set. */
export function setLockWait(runner: QueryRunner, isBrief: boolean): Promise<void> | undefined {
  const { databaseConnection } = runner as { databaseConnection?: object }
  const last = databaseConnection && told.get(databaseConnection)
  if (!last) return undefined
  const seconds = isBrief ? BRIEF_SECONDS : last.whole
  // Without a result it was not sent, or its connection is lost.
  if (last.seconds === seconds && last.by.result !== null) return undefined
  const sql = `SET SESSION innodb_lock_wait_timeout = ${seconds}`
  return runner.query(sql, null as never, 'later' as never).then((by: unknown) => {
    told.set(databaseConnection, { whole: last.whole, seconds, by: by as Later })
  })
}
