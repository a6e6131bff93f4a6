/**
 * Connections of a DataSource's pool, for which callers wait a bounded time. Used on MySQL and MariaDB, where the pool
 * may be the user's, with connections held by the user's own transactions; SQLite's gate bounds the waiting by itself.
 * Owns the requests queued at the pool.
 *
 * Invariant: a connection that arrives after its caller gave up goes to another caller or back to the pool at once. The
 * pool never has more queued requests than callers that waited at the same time, however long it is exhausted. The next
 * caller takes over the request of one that gave up. While the server is silent callers do not wait one after the other. A
 * request has a moment, in which a connection may be made, and after that its callers are refused at once. Writes never have
 * all connections, where there are five or more: a part is for reads.
 */
import type { DataSource } from 'typeorm'
import { clearTimeout, performance, setTimeout } from '../../shared/platform'
import type { HeldConnection, Opened } from '../connection'
import { driverError, type Engine } from '../engine'
import { forgetLimit, isOverLimit, whenSilent } from '../mysql/statement-limit'
import { dropLost } from '../transaction-guard'
import { isUnconnected, poolSizeOf } from './connection-use'
import { NoConnection, noneFree } from './cut-off'

export const DEFAULT_CONNECTION_TIMEOUT_SECONDS = 10

/** The part of the connections, a fifth, that is left for reads: what keeps all writes waiting (FLUSH TABLES WITH READ LOCK) stops no reads. */
const READ_SHARE = 5

/** How long calls wait for a new connection while the server is silent. The attempt continues, for a later call. */
const SILENT_MS = 300

interface WaitingTurn {
  queuedAt: number
  hurry: (() => void) | null
}

interface WaitingCaller<Given> extends WaitingTurn {
  /** Null if the caller that queued it has given up. */
  caller: { given: (what: Given) => void; failed: (error: unknown) => void } | null
}

type PoolRequest = WaitingCaller<HeldConnection>

interface BoundedPoolOptions {
  source: DataSource
  open: (done: Opened) => void
  connectionTimeoutSeconds: number | undefined
  location: string
}

export class BoundedPool {
  /** Requests whose callers have given up, longest queued first. */
  readonly #abandoned = new Set<PoolRequest>()
  readonly #waiting = new Set<WaitingTurn>()
  /** When the connection of the newest work that has ended well was given: its answers are of after that. */
  answeredAt = Number.NEGATIVE_INFINITY
  /** Callers that wait for their turn to write, longest first. */
  readonly #turns = new Set<WaitingCaller<void>>()
  readonly #writing = new Set<HeldConnection>()
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

  /** Resolves to a connection. Throws `overloaded` or `database_unavailable` if there is none in time. */
  take(deadline = performance.now() + this.#timeoutMs): Promise<HeldConnection> {
    const [abandoned] = this.#abandoned
    const request = abandoned ?? this.#queue()
    this.#abandoned.delete(request)
    const late = () => {
      this.#abandoned.add(request)
      return this.#late(poolSizeOf(this.options.source))
    }
    return this.#answered(request, deadline, late)
  }

  /** The same for writes, which take turns at most of the connections. */
  async takeForWrite(): Promise<HeldConnection> {
    const deadline = performance.now() + this.#timeoutMs
    const most = this.#mostWriters
    if (this.#writers < most) this.#writers++
    else {
      const turn: WaitingCaller<void> = { queuedAt: performance.now(), hurry: null, caller: null }
      this.#turns.add(turn)
      const late = () => {
        this.#turns.delete(turn)
        return this.#late(most)
      }
      await this.#answered(turn, deadline, late)
    }
    try {
      const connection = await this.take(deadline)
      this.#writing.add(connection)
      return connection
    } catch (error) {
      this.#nextWriter()
      throw error
    }
  }

  release(connection: HeldConnection): Promise<void> | undefined {
    const { driver } = connection
    if (driver) forgetLimit(driver)
    const next = () => {
      if (this.#writing.delete(connection)) this.#nextWriter()
    }
    const released = connection.release()
    if (released) return released.finally(next)
    next()
    return undefined
  }

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
      next.caller?.given()
    }
  }

  /** Resolves to what the caller is given, or rejects with the error of `late`. */
  #answered<Given>(request: WaitingCaller<Given>, deadline: number, late: () => Error): Promise<Given> {
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
      request.hurry = () => {
        clearTimeout(timer)
        timer = setTimeout(look, leftMs())
      }
      request.caller = {
        given: (what) => {
          answered()
          resolve(what)
        },
        failed: (error) => {
          answered()
          reject(this.#ofPool(error))
        },
      }
    })
  }

  #giveUpAt({ queuedAt }: WaitingTurn, deadline: number): number {
    if (this.#silentSince === null) return deadline
    return Math.min(deadline, Math.max(queuedAt, this.#silentSince) + SILENT_MS)
  }

  /** Notes the error of work on a connection of this pool, which is closed if its server is lost. */
  lost(connection: HeldConnection, engine: Engine, error: unknown): void {
    this.#noteSilence(error)
    dropLost(connection, engine, error)
  }

  /** A connection that was not answered says so of its server; a slow statement does not. */
  #noteSilence(error: unknown): void {
    if (driverError(error).code === 'ETIMEDOUT' && !isOverLimit(error)) this.#fallSilent()
  }

  /** No call waits for long until the server answers. */
  #fallSilent(): void {
    if (this.#silentSince !== null) return
    this.#silentSince = performance.now()
    for (const { hurry } of this.#waiting) hurry?.()
  }

  /** Notes that work on the connection has ended well: an answer of the server. */
  heard(connection: HeldConnection): void {
    this.answeredAt = Math.max(this.answeredAt, connection.givenAt ?? performance.now())
    this.#given(connection)
  }

  /** It ends the silence of the server, unless it was closed in it. It may have waited in the pool, and be cut off. */
  #given({ driver }: HeldConnection): void {
    if (driver?.stream?.destroyed !== true) this.#silentSince = null
  }

  #queue(): PoolRequest {
    const request: PoolRequest = { queuedAt: performance.now(), hurry: null, caller: null }
    this.options.open((error, connection) => {
      if (!connection) {
        this.#abandoned.delete(request)
        this.#noteSilence(error)
        request.caller?.failed(error)
        return
      }
      connection.givenAt = performance.now()
      this.#given(connection)
      if (request.caller) {
        request.caller.given(connection)
        return
      }
      // No call waits for it any more.
      this.#abandoned.delete(request)
      connection.release()?.catch(() => {})
    })
    return request
  }

  /** If not one connection of the pool is established, the server does not answer. */
  #late(max: number | null): NoConnection {
    const { location, source } = this.options
    const timeoutMs = this.#timeoutMs
    const isSilent = this.#silentSince !== null
    if (isSilent || isUnconnected(source)) {
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
