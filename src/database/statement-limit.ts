/**
 * Limits how long a statement on a connection of our own may take. Nothing else ends one whose answer never comes, because
 * the network swallows it or the server hangs: it would hold its caller for ever, and ten of them the whole pool.
 *
 * Invariant: a connection whose statement is over the limit is closed, never used again: its answer may still come. To the
 * caller it is a lost connection, so a commit is looked up.
 */
import type { QueryRunner } from 'typeorm'
import { clearInterval, performance, setInterval } from '../real-time'
import type { Tx } from './engine'

export const DEFAULT_STATEMENT_TIMEOUT_SECONDS = 30

/** A statement is looked at this often within the limit: it takes up to a fiftieth more. */
const LOOKS = 50

/** The parts of mysql2's connection that are used. `_command` is the running statement. */
export interface LimitedConnection {
  _command?: object | null
  stream: { destroy(error: Error): void; once(event: 'close', listener: () => void): void }
}

const unlimited = new WeakSet<object>()
/** When the statements of a connection end, whatever their limit. */
const ends = new WeakMap<object, number>()

/** Closes the connection when a statement takes longer. Its timer keeps no process alive. */
export function limitStatements(connection: LimitedConnection, seconds: number): void {
  let seen: object | null = null
  let looks = 0
  const timer = setInterval(
    () => {
      const running = connection._command ?? null
      looks = running === seen ? looks + 1 : 0
      seen = running
      const isOver = looks >= LOOKS || performance.now() > (ends.get(connection) ?? Number.POSITIVE_INFINITY)
      if (running === null || !isOver || unlimited.has(connection)) return
      const message = `no answer within ${seconds} s (statementTimeoutSeconds)`
      connection.stream.destroy(Object.assign(new Error(message), { code: 'ETIMEDOUT' }))
    },
    (seconds * 1000) / LOOKS,
  )
  timer.unref()
  connection.stream.once('close', () => clearInterval(timer))
}

/** Runs `work`, whose statements on this runner may take as long as they need: those of a migration. */
export async function withoutLimit<T>(runner: QueryRunner, work: () => Promise<T>): Promise<T> {
  const connection: object = await runner.connect()
  unlimited.add(connection)
  try {
    return await work()
  } finally {
    unlimited.delete(connection)
  }
}

/** Runs `work`, whose statements in this transaction have until then. */
export async function limitedUntil<T>(tx: Tx, until: number, work: () => Promise<T>): Promise<T> {
  const connection: object = await (tx.manager.queryRunner as QueryRunner).connect()
  ends.set(connection, until)
  try {
    return await work()
  } finally {
    ends.delete(connection)
  }
}
