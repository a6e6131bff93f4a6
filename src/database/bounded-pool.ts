/**
 * Connections of a DataSource's pool, for which callers wait a bounded time. Used on MySQL and MariaDB, where the pool
 * may be the user's, with connections held by the user's own transactions; SQLite's gate bounds the waiting by itself.
 * Owns the requests queued at the pool.
 *
 * Invariant: a connection that arrives after its caller gave up goes to another caller or back to the pool at once. The
 * pool never has more queued requests than callers that waited at the same time, however long it is exhausted: the next
 * caller takes over the request of one that gave up. While the server is silent callers do not wait one after the other: each
 * has a moment, in which a connection may be made.
 */
import type { DataSource, QueryRunner } from 'typeorm'
import { RecentnError } from '../errors'
import { clearTimeout, performance, setTimeout } from '../real-time'
import { connectionState } from './connection-use'
import { driverError, type Engine } from './engine'
import { USE_WITHIN } from './inside'
import { dropLost } from './life'

export const DEFAULT_CONNECTION_TIMEOUT_MS = 10_000

/** How long a call waits for a connection while the server is silent. The attempt goes on, for the next call. */
const SILENT_MS = 300

/** No connection became free in time; nothing was sent. */
export class NoConnection extends RecentnError {}

/** The error for `what` not becoming free within `timeoutMs`. */
export function noneFree(what: string, timeoutMs: number): NoConnection {
  const detail = `${what} within ${timeoutMs / 1000} s (connectionTimeoutMs). If a transaction of your own is open, the call may wait for it to end: ${USE_WITHIN}`
  return new NoConnection('overloaded', detail, { retryAfterMs: 1000 })
}

interface PoolRequest {
  runner: QueryRunner
  /** Null if the caller that queued it has given up. */
  caller: { connected: () => void; failed: (error: unknown) => void; hurry: () => void } | null
}

export interface BoundedPoolOptions {
  source: DataSource
  createRunner: () => QueryRunner
  timeoutMs: number
  /** The address of the database, without the password. */
  location: string
}

export class BoundedPool {
  /** Requests whose callers have given up, longest queued first. */
  readonly #abandoned = new Set<PoolRequest>()
  /** Requests whose callers wait. */
  readonly #waiting = new Set<PoolRequest>()
  /** True from a statement or a connection without an answer to the next answer. */
  #isSilent = false

  constructor(private readonly options: BoundedPoolOptions) {}

  /**
   * Resolves to a runner with its connection. Throws `overloaded` or `database_unavailable` if there is none in time.
   */
  take(): Promise<QueryRunner> {
    const [abandoned] = this.#abandoned
    const request = abandoned ?? this.#queue()
    this.#abandoned.delete(request)
    this.#waiting.add(request)
    const { timeoutMs } = this.options
    const deadline = performance.now() + timeoutMs
    return new Promise((resolve, reject) => {
      const late = () => {
        const left = deadline - performance.now()
        if (left > 0 && !this.#isSilent) {
          timer = setTimeout(late, left)
          return
        }
        request.caller = null
        this.#waiting.delete(request)
        this.#abandoned.add(request)
        reject(this.#late())
      }
      let timer = setTimeout(late, this.#isSilent ? Math.min(timeoutMs, SILENT_MS) : timeoutMs)
      const answered = () => {
        clearTimeout(timer)
        this.#waiting.delete(request)
      }
      request.caller = {
        connected: () => {
          answered()
          resolve(request.runner)
        },
        failed: (error) => {
          answered()
          reject(this.#ofPool(error))
        },
        hurry: () => {
          clearTimeout(timer)
          timer = setTimeout(late, Math.min(timeoutMs, SILENT_MS))
        },
      }
    })
  }

  /** Notes the error of work on a runner of this pool, whose connection is closed if its server is lost. */
  lost(runner: QueryRunner, engine: Engine, error: unknown): void {
    this.#noteSilence(error)
    dropLost(runner, engine, error)
  }

  /** After an error that says that there was no answer, nobody waits for long until there is one. */
  #noteSilence(error: unknown): void {
    if (driverError(error).code !== 'ETIMEDOUT' || this.#isSilent) return
    this.#isSilent = true
    for (const { caller } of this.#waiting) caller?.hurry()
  }

  /** Notes an answer of the server. */
  heard(): void {
    this.#isSilent = false
  }

  #queue(): PoolRequest {
    const request: PoolRequest = { runner: this.options.createRunner(), caller: null }
    request.runner.connect().then(
      () => {
        if (request.caller) request.caller.connected()
        else this.#giveBack(request)
      },
      (error: unknown) => {
        this.#abandoned.delete(request)
        this.#noteSilence(error)
        request.caller?.failed(error)
      },
    )
    return request
  }

  /** Returns a connection that nobody waits for any more. */
  #giveBack(request: PoolRequest): void {
    this.#abandoned.delete(request)
    request.runner.release().catch(() => {})
  }

  /** If not one connection of the pool is established, the server does not answer. */
  #late(): NoConnection {
    const { timeoutMs, location, source } = this.options
    const { max, connected } = connectionState(source)
    if (connected === 0 || this.#isSilent) {
      const silence = this.#isSilent ? 'it does not answer' : `no answer within ${timeoutMs / 1000} s`
      const detail = `The database ${location} cannot be reached: ${silence}`
      return new NoConnection('database_unavailable', detail, { retryAfterMs: 1000 })
    }
    return noneFree(`None of ${max === null ? 'the' : `the ${max}`} database connections became free`, timeoutMs)
  }

  /** A user's pool may be set to refuse callers instead of letting them wait. */
  #ofPool(error: unknown): unknown {
    if (!(error instanceof Error && /^(No connections available|Queue limit reached)\.$/.test(error.message)))
      return error
    const detail = `The connection pool refused the call (${error.message}) while all connections were in use`
    return new NoConnection('overloaded', detail, { retryAfterMs: 1000, cause: error })
  }
}
