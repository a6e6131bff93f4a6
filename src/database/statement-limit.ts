/**
 * Limits how long a statement on a connection of our own may take. Nothing else ends one whose answer never comes, because
 * the network swallows it or the server hangs: it would hold its caller for ever, and ten of them the whole pool.
 *
 * Invariants: a connection whose statement is over the limit is closed, never used again: its answer may still come. To the
 * caller it is a lost connection, so a commit is looked up. If the server has sent nothing on any connection of the pool since
 * that statement began, it is silent: all connections are closed, so that no other call waits for a limit of its own. A server
 * that sends anything, such as the error of a lock wait, loses only the connection of the slow statement.
 */
import type { QueryRunner } from 'typeorm'
import { clearInterval, performance, setInterval } from '../real-time'
import { driverError, type Tx } from './engine'

export const DEFAULT_STATEMENT_TIMEOUT_SECONDS = 30

/** A statement is looked at this often within the limit: it takes up to a fiftieth more. */
const LOOKS = 50

/** The parts of mysql2's connection that are used. `_command` is the running statement. */
export interface LimitedConnection {
  _command?: object | null
  stream: { bytesRead: number; destroy(error?: Error): void; once(event: 'close', listener: () => void): void }
  destroy(): void
}

/** The error of a statement that is over the limit. */
export class OverLimit extends Error {
  readonly code = 'ETIMEDOUT'
}

/** Whether the error says that one statement was slow, and nothing of the server. */
export function isOverLimit(error: unknown): boolean {
  return driverError(error) instanceof OverLimit
}

/** What the connections of one pool have received. */
class Received {
  readonly onSilence: (() => void)[] = []
  readonly #bytes = new Map<LimitedConnection, number>()
  #lastAt = 0

  add(connection: LimitedConnection): void {
    this.look(connection)
    connection.stream.once('close', () => this.#bytes.delete(connection))
  }

  look(connection: LimitedConnection): void {
    const { bytesRead } = connection.stream
    if (this.#bytes.get(connection) === bytesRead) return
    this.#bytes.set(connection, bytesRead)
    this.#lastAt = performance.now()
  }

  /** Closes all connections if none has received anything since then. */
  judge(since: number, error: Error): void {
    for (const connection of this.#bytes.keys()) this.look(connection)
    if (this.#lastAt > since) return
    for (const connection of this.#bytes.keys()) {
      if (!unlimited.has(connection)) closeWith(connection, error)
    }
    for (const listener of this.onSilence) listener()
  }
}

const received = new WeakMap<object, Received>()

/** Calls the listener whenever the server of a pool of our own falls silent. All connections of the pool are closed by then. */
export function whenSilent(pool: object, listener: () => void): void {
  received.get(pool)?.onSilence.push(listener)
}

/** A connection without a statement would report the error to nobody. */
function closeWith(connection: LimitedConnection, error: Error): void {
  if (connection._command) {
    connection.stream.destroy(error)
    return
  }
  connection.destroy()
  connection.stream.destroy()
}

const unlimited = new WeakSet<object>()
/** When the statements of a connection end, whatever their limit. */
const ends = new WeakMap<object, number>()

export function endOf(connection: object | undefined): number {
  return (connection && ends.get(connection)) ?? Number.POSITIVE_INFINITY
}

/** Closes the connection of the pool when a statement takes longer. Its timer keeps no process alive. */
export function limitStatements(connection: LimitedConnection, pool: object, seconds: number): void {
  const ofPool = received.get(pool) ?? new Received()
  received.set(pool, ofPool)
  ofPool.add(connection)
  const lookMs = (seconds * 1000) / LOOKS
  let seen: object | null = null
  let seenAt = 0
  let looks = 0
  const timer = setInterval(() => {
    ofPool.look(connection)
    const running = connection._command ?? null
    if (running !== seen) {
      seen = running
      seenAt = performance.now()
      looks = 0
    } else looks++
    if (running === null || unlimited.has(connection)) return
    const isOver = looks >= LOOKS
    if (!isOver && performance.now() <= endOf(connection)) return
    const error = new OverLimit(`no answer within ${seconds} s (statementTimeoutSeconds)`)
    connection.stream.destroy(error)
    // What was received before the statement began may have been noticed as late as this.
    if (isOver) ofPool.judge(seenAt + lookMs, error)
  }, lookMs)
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
