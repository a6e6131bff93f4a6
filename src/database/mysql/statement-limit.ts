/**
 * Limits how long a statement on a connection of our own may take. Nothing else ends one whose answer never comes, because
 * the network swallows it or the server hangs. It would hold its caller for ever, and ten of them the whole pool.
 *
 * Invariants: a connection whose statement is over the limit is closed, never used again: its answer may still come. To the
 * caller it is a lost connection, so a commit is looked up. If the server has sent nothing on any connection of the pool since
 * that statement was first seen, it is silent. All connections are closed, so that no other call waits for its own limit. A
 * server that sends anything, such as the error of a lock wait, loses only the connection of the slow statement.
 */
import type { QueryRunner } from 'typeorm'
import { clearInterval, performance, setInterval } from '../../shared/platform'
import { behind } from '../attached/driver-view'
import { driverError } from '../engine'
import { close, type ServerConnection, type ServerPool } from './server-hosts'

export const DEFAULT_STATEMENT_TIMEOUT_SECONDS = 30

/** A statement is looked at this often within the limit: it takes up to a fiftieth more. */
const LOOKS = 50

/** How long the next answer of a packet may take before the server is asked whether it still works on it. */
const BETWEEN_MS = 2000

export class OverLimit extends Error {
  readonly code = 'ETIMEDOUT'
}

/** Whether the error says that one statement was slow, and nothing of the server. */
export const isOverLimit = (error: unknown) => driverError(error) instanceof OverLimit

class Received {
  readonly onSilence: (() => void)[] = []
  readonly connections = new Set<ServerConnection>()
  #ofClosed = 0

  constructor(readonly pool: ServerPool) {}

  add(connection: ServerConnection): void {
    this.connections.add(connection)
    connection.stream.once('close', () => {
      this.connections.delete(connection)
      this.#ofClosed += connection.stream.bytesRead
    })
  }

  /** The bytes that all of them have received so far: a look that comes late makes no answer newer. */
  get bytes(): number {
    let sum = this.#ofClosed
    for (const { stream } of this.connections) sum += stream.bytesRead
    return sum
  }

  closeAll(error: Error): void {
    for (const connection of this.connections) if (!unlimited.has(connection)) closeWith(connection, error)
    for (const listener of this.onSilence) listener()
  }
}

const received = new WeakMap<object, Received>()

/** Calls the listener whenever the server of a pool of our own falls silent. All connections of the pool are closed by then. */
export function whenSilent(pool: object, listener: () => void): void {
  received.get(pool)?.onSilence.push(listener)
}

/** A connection without a statement would report the error to no caller. */
function closeWith(connection: ServerConnection, error: Error): void {
  if (connection._command) connection.stream.destroy(error)
  else close(connection)
}

const unlimited = new WeakSet<object>()
/** When the statements of a connection end, whatever their limit. */
const ends = new WeakMap<object, number>()

export function endOf(connection: object | undefined): number {
  return (connection && ends.get(connection)) ?? Number.POSITIVE_INFINITY
}

/** Closes the connection of the pool when a statement takes longer. Its timer keeps no process alive. */
export function limitStatements(connection: ServerConnection, pool: ServerPool, seconds: number): void {
  const ofPool = received.get(pool) ?? new Received(pool)
  received.set(pool, ofPool)
  ofPool.add(connection)
  const lookMs = (seconds * 1000) / LOOKS
  let seen: ServerConnection['_command'] = null
  /** The bytes that the pool had received when the statement was first seen. */
  let before = 0
  let looks = 0
  /** The bytes that the connection has received, and for how many looks no more have come. */
  let bytes = 0
  let quiet = 0
  const timer = setInterval(() => {
    const running = connection._command ?? null
    quiet = connection.stream.bytesRead === bytes ? quiet + 1 : 0
    bytes = connection.stream.bytesRead
    if (running !== seen) {
      seen = running
      before = ofPool.bytes
      looks = 0
      quiet = 0
    } else looks++
    if (running === null || unlimited.has(connection)) return
    if ((running._resultIndex ?? 0) > 0 && quiet * lookMs >= BETWEEN_MS) {
      quiet = 0
      closeIfIdle(connection, pool)
    }
    const isOver = looks >= LOOKS
    if (!isOver && performance.now() <= endOf(connection)) return
    const error = new OverLimit(`no answer within ${seconds} s (statementTimeoutSeconds)`)
    const isSilent = ofPool.bytes === before
    connection.stream.destroy(error)
    if (isOver && isSilent) ofPool.closeAll(error)
  }, lookMs)
  timer.unref()
  connection.stream.once('close', () => clearInterval(timer))
}

/**
 * Closes the connection if its server has ended the packet without all answers: both servers do so (MariaDB 10.11 and 11.8,
 * MySQL 9.7) if KILL QUERY comes between two statements. A server that still works, or waits for a lock, is left alone.
 */
function closeIfIdle(connection: ServerConnection, pool: ServerPool): void {
  const { _command: command, threadId, stream } = connection
  const { bytesRead } = stream
  // MySQL cannot read information_schema.PROCESSLIST while a statement with an emoji runs on any connection.
  pool.query('SHOW PROCESSLIST', (_, rows) => {
    const isSame = connection._command === command && stream.bytesRead === bytesRead && !stream.destroyed
    const own = (rows as { Id: unknown; Command: string }[] | undefined)?.find(({ Id }) => Number(Id) === threadId)
    if (!isSame || own?.Command !== 'Sleep') return
    const text = 'The server has ended a packet of several statements without all of its answers, as by KILL QUERY'
    process.emitWarning(`${text}: its connection is closed`, { code: 'RECENTN_UNANSWERED' })
    stream.destroy(new OverLimit(text))
  })
}

/** Runs `work`, whose statements on this runner may take as long as they need: those of a migration. */
export async function withoutLimit<T>(runner: QueryRunner, work: () => Promise<T>): Promise<T> {
  const connection = behind<object>(await runner.connect())
  unlimited.add(connection)
  try {
    return await work()
  } finally {
    unlimited.delete(connection)
  }
}

/** The statements of this connection have until then; it is released after them. */
export const limitUntil = (connection: object, until: number) => void ends.set(connection, until)

/** The next statement on the connection has its own limit. */
export const forgetLimit = (connection: object) => void ends.delete(connection)
