/** How long statements on a connection of our own wait for a lock. Owns the last setting of each connection. */
import type { WaitingStatement } from './packets'
import { lockSeconds } from './session-settings'

interface Told {
  /** The limit of its statements. */
  statementSeconds: number
  seconds: number
  /** The statement that says it. */
  by: Pick<WaitingStatement, 'isSent'>
}

const told = new WeakMap<object, Told>()

/** Notes the wait that the settings of a new connection have given it. */
export function noteLockWait(connection: object, statementSeconds: number): void {
  told.set(connection, { statementSeconds, seconds: lockSeconds(statementSeconds), by: { isSent: true } })
}

/**
 * Sets the wait of the transaction that has begun, with its first statement; `asked` in place of the usual one. Undefined where
 * it is set, or goes with the next statement.
 */
export function setWait(
  connection: object,
  wait: (sql: string) => WaitingStatement | Promise<WaitingStatement>,
  asked: number | undefined,
): Promise<void> | undefined {
  const last = told.get(connection)
  if (!last) return undefined
  const seconds = lockSeconds(last.statementSeconds, asked)
  // A statement that was not sent has set nothing.
  if (last.seconds === seconds && last.by.isSent) return undefined
  const note = (by: WaitingStatement) => {
    told.set(connection, { ...last, seconds, by })
  }
  const by = wait(`SET SESSION innodb_lock_wait_timeout = ${seconds}`)
  if (by instanceof Promise) return by.then(note)
  note(by)
  return undefined
}
