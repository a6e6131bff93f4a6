/**
 * Connections of a DataSource's pool, for which callers wait a bounded time. Used on MySQL and MariaDB, where the pool
 * may be the user's, with connections held by the user's own transactions; SQLite's gate bounds the waiting by itself.
 * Owns the requests queued at the pool.
 *
 * Invariant: a connection that arrives after its caller gave up goes to another caller or back to the pool at once. The
 * pool never has more queued requests than callers that waited at the same time, however long it is exhausted: the next
 * caller takes over the request of one that gave up. While the server is silent callers do not wait one after the other: a
 * request has a moment, in which a connection may be made, and after that its callers are refused at once. Writes never have
 * all connections, where there are five or more: a part is for reads.
 */
import type { DataSource, QueryRunner } from 'typeorm'
import { RecentnError } from '../shared/errors'
import { clearTimeout, performance, setTimeout } from '../shared/platform'
import { connectionState, poolSizeOf } from './connection-use'
import { driverError, type Engine } from './engine'
import { USE_WITHIN } from './inside'
import { connectionOf } from './mysql/packets'
import { forgetLimit, isOverLimit, whenSilent } from './mysql/statement-limit'
import { dropLost } from './transaction-guard'

export const DEFAULT_CONNECTION_TIMEOUT_SECONDS = 10

/** The part of the connections, a fifth, that is left for reads: what keeps all writes waiting (FLUSH TABLES WITH READ LOCK) stops no reads. */
const READ_SHARE = 5

/** How long calls wait for a new connection while the server is silent. The attempt goes on, for a later call. */
const SILENT_MS = 300

/** No connection became free in time; nothing was sent. */
export class NoConnection extends RecentnError {}

/** The error for `what` not becoming free within `timeoutMs`. */
export function noneFree(what: string, timeoutMs: number): NoConnection {
  const detail = `${what} within ${timeoutMs / 1000} s (connectionTimeoutSeconds). If a transaction of your own is open, the call may wait for it to end: ${USE_WITHIN}`
  return new NoConnection('overloaded', detail, { retryAfterSeconds: 1 })
}

interface WaitingCaller {
  queuedAt: number
  /** Null if the caller that queued it has given up. */
  caller: { connected: () => void; failed: (error: unknown) => void; hurry: () => void } | null
}

interface PoolRequest extends WaitingCaller {
  runner: QueryRunner
}

export interface BoundedPoolOptions {
  source: DataSource
  createRunner: () => QueryRunner
  connectionTimeoutSeconds: number | undefined
  /** The address of the database, without the password. */
  location: string
}

export class BoundedPool {
  /** Requests whose callers have given up, longest queued first. */
  readonly #abandoned = new Set<PoolRequest>()
  readonly #waiting = new Set<WaitingCaller>()
  /** How often the database has answered. */
  answers = 0
  /** Callers that wait for their turn to write, longest first. */
  readonly #turns = new Set<WaitingCaller>()
  readonly #writing = new Set<QueryRunner>()
  /** Turns that are taken, also by callers that wait for their connection. */
  #writers = 0
  /** Since when the server has not answered; null from its next answer on. */
  #silentSince: number | null = null

  readonly #timeoutMs: number

  constructor(private readonly options: BoundedPoolOptions) {
    this.#timeoutMs = (options.connectionTimeoutSeconds ?? DEFAULT_CONNECTION_TIMEOUT_SECONDS) * 1000
    const { pool } = options.source.driver as { pool?: object }
    if (pool) whenSilent(pool, () => this.#fallSilent())
  }

  /** Resolves to a runner with its connection. Throws `overloaded` or `database_unavailable` if there is none in time. */
  async take(deadline = performance.now() + this.#timeoutMs): Promise<QueryRunner> {
    const [abandoned] = this.#abandoned
    const request = abandoned ?? this.#queue()
    this.#abandoned.delete(request)
    await this.#answered(request, deadline, () => {
      this.#abandoned.add(request)
      return this.#late(poolSizeOf(this.options.source))
    })
    return request.runner
  }

  /** The same for writes, which take turns at most of the connections. */
  async takeForWrite(): Promise<QueryRunner> {
    const deadline = performance.now() + this.#timeoutMs
    const most = this.#mostWriters
    if (this.#writers < most) this.#writers++
    else {
      const turn: WaitingCaller = { queuedAt: performance.now(), caller: null }
      this.#turns.add(turn)
      await this.#answered(turn, deadline, () => {
        this.#turns.delete(turn)
        return this.#late(most)
      })
    }
    try {
      const runner = await this.take(deadline)
      this.#writing.add(runner)
      return runner
    } catch (error) {
      this.#nextWriter()
      throw error
    }
  }

  async release(runner: QueryRunner): Promise<void> {
    forgetLimit(runner)
    try {
      await runner.release()
    } finally {
      if (this.#writing.delete(runner)) this.#nextWriter()
    }
  }

  /** How many callers wait for their turn to write. */
  get turns(): number {
    return this.#turns.size
  }

  get #mostWriters(): number {
    const size = poolSizeOf(this.options.source)
    return size === null ? Number.POSITIVE_INFINITY : size - Math.floor(size / READ_SHARE)
  }

  /** Hands the turn of a writer that has ended to the one that has waited longest. */
  #nextWriter(): void {
    const [next] = this.#turns
    if (next === undefined) this.#writers--
    else {
      this.#turns.delete(next)
      next.caller?.connected()
    }
  }

  /** Resolves when the caller is given what it waits for; if that takes too long, rejects with the error of `late`. */
  #answered(request: WaitingCaller, deadline: number, late: () => Error): Promise<void> {
    this.#waiting.add(request)
    return new Promise((resolve, reject) => {
      const leftMs = () => this.#giveUpAt(request, deadline) - performance.now()
      const look = () => {
        const left = leftMs()
        if (left > 0) {
          timer = setTimeout(look, left)
          return
        }
        request.caller = null
        this.#waiting.delete(request)
        reject(late())
      }
      let timer = setTimeout(look, leftMs())
      const answered = () => {
        clearTimeout(timer)
        this.#waiting.delete(request)
      }
      request.caller = {
        connected: () => {
          answered()
          resolve()
        },
        failed: (error) => {
          answered()
          reject(this.#ofPool(error))
        },
        hurry: () => {
          clearTimeout(timer)
          timer = setTimeout(look, leftMs())
        },
      }
    })
  }

  #giveUpAt({ queuedAt }: WaitingCaller, deadline: number): number {
    if (this.#silentSince === null) return deadline
    return Math.min(deadline, Math.max(queuedAt, this.#silentSince) + SILENT_MS)
  }

  /** Notes the error of work on a runner of this pool, whose connection is closed if its server is lost. */
  lost(runner: QueryRunner, engine: Engine, error: unknown): void {
    this.#noteSilence(error)
    dropLost(runner, engine, error)
  }

  /** A connection that was not answered says so of its server; a slow statement does not. */
  #noteSilence(error: unknown): void {
    if (driverError(error).code === 'ETIMEDOUT' && !isOverLimit(error)) this.#fallSilent()
  }

  /** Nobody waits for long until the server answers. */
  #fallSilent(): void {
    if (this.#silentSince !== null) return
    this.#silentSince = performance.now()
    for (const { caller } of this.#waiting) caller?.hurry()
  }

  /** Notes that work on the runner has ended well: an answer of the server, unless the connection was closed in its silence. */
  heard(runner: QueryRunner): void {
    this.answers++
    if (this.#silentSince === null) return
    const { databaseConnection } = runner as { databaseConnection?: { stream?: { destroyed?: boolean } } }
    if (databaseConnection?.stream?.destroyed !== true) this.#silentSince = null
  }

  #queue(): PoolRequest {
    const runner = this.options.createRunner()
    const request: PoolRequest = { runner, queuedAt: performance.now(), caller: null }
    connectionOf(runner).then(
      () => {
        this.heard(runner)
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
  #late(max: number | null): NoConnection {
    const { location, source } = this.options
    const timeoutMs = this.#timeoutMs
    const { connected } = connectionState(source)
    const isSilent = this.#silentSince !== null
    if (connected === 0 || isSilent) {
      const silence = isSilent ? 'it does not answer' : `no answer within ${timeoutMs / 1000} s`
      const detail = `The database ${location} cannot be reached: ${silence}`
      return new NoConnection('database_unavailable', detail, { retryAfterSeconds: 1 })
    }
    return noneFree(`None of ${max === null ? 'the' : `the ${max}`} database connections became free`, timeoutMs)
  }

  /** A user's pool may be set to refuse callers instead of letting them wait. */
  #ofPool(error: unknown): unknown {
    if (!(error instanceof Error && /^(No connections available|Queue limit reached)\.$/.test(error.message)))
      return error
    const detail = `The connection pool refused the call (${error.message}) while all connections were in use`
    return new NoConnection('overloaded', detail, { retryAfterSeconds: 1, cause: error })
  }
}
