/**
 * Connections for the statements of a store, each waited for a bounded time. On MySQL and MariaDB they come from the
 * pool of a DataSource, which may be the user's and be held by the user's own transactions; SQLite's gate bounds the
 * waiting by itself.
 *
 * Invariant: a connection that arrives after its caller gave up goes to another caller or back to the pool at once. No
 * more places are queued at the pool than callers ever waited at the same time, however long no connection becomes free: the place
 * of a caller that gave up goes to the next one.
 */
import type { DataSource, QueryRunner } from 'typeorm'
import { RecentnError } from '../errors'
import { connectionState } from './connection-use'
import { USE_WITHIN } from './inside'

export const DEFAULT_CONNECTION_TIMEOUT_MS = 10_000

/** No connection could be had in time, so that nothing was sent. */
export class NoConnection extends RecentnError {}

/** The error when `what` did not become free in this time. */
export function noneFree(what: string, timeoutMs: number): NoConnection {
  const detail = `${what} within ${timeoutMs / 1000} s (connectionTimeoutMs). If a transaction of your own is open, the call may wait for it to end: ${USE_WITHIN}`
  return new NoConnection('overloaded', detail, { retryAfterMs: 1000 })
}

interface QueuedPlace {
  runner: QueryRunner
  /** Null where the one it was queued for has given up. */
  caller: { connected: () => void; failed: (error: unknown) => void } | null
}

export interface ConnectionsOptions {
  source: DataSource
  createRunner: () => QueryRunner
  timeoutMs: number
  /** What was tried to be reached, without the password. */
  location: string
}

export class BoundedConnections {
  readonly #options: ConnectionsOptions
  /** Places whose callers have given up, longest queued first. */
  readonly #left = new Set<QueuedPlace>()

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  /** A runner that has its connection. Throws `overloaded` or `database_unavailable` where there is none in time. */
  take(): Promise<QueryRunner> {
    const [left] = this.#left
    const place = left ?? this.#queue()
    this.#left.delete(place)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        place.caller = null
        this.#left.add(place)
        reject(this.#late())
      }, this.#options.timeoutMs)
      place.caller = {
        connected: () => {
          clearTimeout(timer)
          resolve(place.runner)
        },
        failed: (error) => {
          clearTimeout(timer)
          reject(this.#ofPool(error))
        },
      }
    })
  }

  #queue(): QueuedPlace {
    const place: QueuedPlace = { runner: this.#options.createRunner(), caller: null }
    place.runner.connect().then(
      () => {
        if (place.caller) place.caller.connected()
        else this.#leave(place)
      },
      (error: unknown) => {
        this.#left.delete(place)
        place.caller?.failed(error)
      },
    )
    return place
  }

  /** Nobody waits for it any more. */
  #leave(place: QueuedPlace): void {
    this.#left.delete(place)
    place.runner.release().catch(() => {})
  }

  /** A pool whose connections are all being made, or none is, has a server that does not answer. */
  #late(): NoConnection {
    const { timeoutMs, location, source } = this.#options
    const { max, connected } = connectionState(source)
    if (connected === 0) {
      const detail = `The database ${location} cannot be reached: no answer within ${timeoutMs / 1000} s`
      return new NoConnection('database_unavailable', detail, { retryAfterMs: 1000 })
    }
    return noneFree(`None of ${max === null ? 'the' : `the ${max}`} database connections became free`, timeoutMs)
  }

  /** A pool of the user's may be set to refuse in place of waiting. */
  #ofPool(error: unknown): unknown {
    if (!(error instanceof Error && /^(No connections available|Queue limit reached)\.$/.test(error.message)))
      return error
    const detail = `The connection pool refused the call (${error.message}) while all connections were in use`
    return new NoConnection('overloaded', detail, { retryAfterMs: 1000, cause: error })
  }
}
