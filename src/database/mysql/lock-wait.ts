/** How long statements on a connection of our own wait for a lock. Owns the last setting of each connection. */
import type { QueryRunner } from 'typeorm'
import type { Later } from './packets'
import { lockSeconds } from './session-settings'

interface Told {
  /** The limit of its statements. */
  statementSeconds: number
  seconds: number
  /** The statement that says it. */
  by: Later
}

const told = new WeakMap<object, Told>()

/** Notes the wait that the settings of a new connection have given it. */
export function noteLockWait(connection: object, statementSeconds: number): void {
  const seconds = lockSeconds(statementSeconds)
  told.set(connection, { statementSeconds, seconds, by: { result: {} as Later['result'] } })
}

/**
 * Sets the wait of the transaction that has begun, with its first statement; `asked` in place of the usual one. Undefined where
 * it is set, or not ours to set.
 */
export function setLockWait(runner: QueryRunner, asked: number | undefined): Promise<void> | undefined {
  const { databaseConnection } = runner as { databaseConnection?: object }
  const last = databaseConnection && told.get(databaseConnection)
  if (!last) return undefined
  const seconds = lockSeconds(last.statementSeconds, asked)
  // Without a result it was not sent, or its connection is lost.
  if (last.seconds === seconds && last.by.result !== null) return undefined
  const sql = `SET SESSION innodb_lock_wait_timeout = ${seconds}`
  return runner.query(sql, null as never, 'later' as never).then((by: unknown) => {
    told.set(databaseConnection, { ...last, seconds, by: by as Later })
  })
}
