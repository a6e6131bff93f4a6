/**
 * Limits how long a statement of the store may take on a connection of the user's pool: one that passes nothing would hold its
 * caller for ever. Owns the limits of the runners that the store took from such a pool.
 *
 * Invariants: no statement of the user's is ended. In `store.transaction`, where they share a connection, only statements of
 * the store are limited, and none while one of the user's runs, behind which it may wait. A connection whose statement is over
 * its limit is closed, never returned to the pool: its answer may still come. To the caller it is a lost connection.
 */
import type { QueryRunner } from 'typeorm'
import { clearTimeout, performance, setTimeout } from '../../shared/platform'
import { endOf, OverLimit } from '../mysql/statement-limit'

interface RunnerLimit {
  ms: number
  /** True if the user's statements run on it, too. */
  isShared: boolean
  /** How many of the user's are running. */
  theirs: number
}

/** The streams of mysql2's connection and of mysql's. */
interface UserConnection {
  stream?: Stream
  _socket?: Stream
}
interface Stream {
  destroy(error: Error): void
}

/** What begins and ends transactions is quick, whoever sends it. */
const CONTROL = /^(SET TRANSACTION|START TRANSACTION|COMMIT|ROLLBACK|SAVEPOINT|RELEASE SAVEPOINT)\b/

const limits = new WeakMap<QueryRunner, RunnerLimit>()
/** True while a statement of the store is given to its runner. */
let isOurs = false

/** The runner, whose statements have so many seconds. */
export function limitedRunner(runner: QueryRunner, seconds: number): QueryRunner {
  const limit: RunnerLimit = { ms: seconds * 1000, isShared: false, theirs: 0 }
  limits.set(runner, limit)
  const query = runner.query.bind(runner) as (...given: unknown[]) => Promise<unknown>
  const limited = async (sql: string, ...rest: unknown[]) => {
    const isTheirs = limit.isShared && !isOurs && !CONTROL.test(sql)
    const end = isTheirs ? theirs(limit) : limitOn(runner, limit)
    try {
      return await query(sql, ...rest)
    } finally {
      end()
    }
  }
  const stream = runner.stream.bind(runner)
  runner.query = limited as QueryRunner['query']
  // How long a stream is read, nobody knows.
  runner.stream = (...given) => {
    theirs(limit)
    return stream(...given)
  }
  return runner
}

function theirs(limit: RunnerLimit): () => void {
  limit.theirs++
  return () => {
    limit.theirs--
  }
}

/** Returns what ends the limit of a statement that begins now. */
function limitOn(runner: QueryRunner, limit: RunnerLimit): () => void {
  const connectionOf = () => (runner as unknown as { databaseConnection?: UserConnection }).databaseConnection
  const over = () => {
    if (limit.theirs > 0) {
      timer = setTimeout(over, limit.ms)
      return
    }
    const { stream, _socket } = connectionOf() ?? {}
    const error = new OverLimit(`no answer within ${limit.ms / 1000} s (statementTimeoutSeconds)`)
    ;(stream ?? _socket)?.destroy(error)
  }
  const until = endOf(connectionOf())
  let timer = setTimeout(over, Math.max(0, Math.min(limit.ms, until - performance.now())))
  return () => clearTimeout(timer)
}

/** From now on the user's statements run on it, too. */
export function shareRunner(runner: QueryRunner | undefined): void {
  const limit = runner && limits.get(runner)
  if (limit) limit.isShared = true
}

/** Gives a statement of the store to its runner. */
export function giveOurs<T>(runner: QueryRunner, give: () => Promise<T>): Promise<T> {
  if (!limits.has(runner)) return give()
  isOurs = true
  try {
    return give()
  } finally {
    isOurs = false
  }
}
