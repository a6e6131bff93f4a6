/**
 * The life of one of our transactions on its connection: which statements may still run in it, how it ends, and what this process
 * does after its commit.
 *
 * Invariant: no statement runs on the connection between the end of the transaction and its release. None runs after a
 * deadlock or on a full disk either: the database may have rolled everything back, and each statement would commit by
 * itself. A connection whose transaction could not be ended is closed, not returned to the pool.
 */
import { RecentnError } from '../shared/errors'
import { outside } from '../shared/platform'
import type { Done, Following, HeldConnection } from './connection'
import { driverError, type Engine } from './engine'
import { checkHost, doubtHost, UnfitHost } from './mysql/server-hosts'

const LOST_WHOLE = new Set(['conflict', 'lost', 'unable'])

export class Life implements Following {
  isOpen = true
  committing = false
  /** True once the COMMIT has succeeded, whatever fails after it. */
  committed = false
  /** True once a statement has changed a row, or waits for the next one and will (`packets.ts`). */
  changed = false
  fault: { error: unknown } | null = null
  #running = 0
  #whenIdle: (() => void) | null = null

  constructor(
    private readonly engine: Engine,
    private readonly afterCommit: AfterCommit,
  ) {}

  through<Answer>(sql: string, run: (done: Done<Answer>) => void, done: Done<Answer>): void {
    const ends = sql === 'ROLLBACK' || sql === 'COMMIT'
    const refusal = ends ? null : this.#refusal()
    if (refusal) {
      // No savepoint is left. A caller that rolls back to one must still be able to end the whole transaction.
      done(this.fault && sql.startsWith('ROLLBACK TO') ? null : refusal.error)
      return
    }
    this.#running++
    run((error, answer) => {
      if (error === null) {
        if (sql === 'COMMIT') this.committed = true
        this.changed ||= hasChanged(answer)
        this.afterCommit.follow(sql)
      } else if (!ends && LOST_WHOLE.has(this.engine.failure(error))) this.fault ??= { error }
      done(error, answer)
      if (--this.#running === 0) this.#whenIdle?.()
    })
  }

  wait(): void {
    const refusal = this.#refusal()
    if (refusal) throw refusal.error
    this.changed = true
  }

  #refusal(): { error: unknown } | null {
    if (this.fault || this.isOpen) return this.fault
    return { error: new RecentnError('closed', 'The transaction has ended') }
  }

  requireWhole(): void {
    if (this.fault) throw this.fault.error
  }

  /** Refuses further statements; resolves when those that run have ended. */
  end(): Promise<void> | undefined {
    this.isOpen = false
    if (this.#running === 0) return undefined
    return new Promise((resolve) => {
      this.#whenIdle = resolve
    })
  }
}

/** Whether the answer to a statement reports changed rows: from TypeORM's runners with `true`, or from mysql2. */
function hasChanged(result: unknown): boolean {
  const { affected = 0, affectedRows = 0 } = (result ?? {}) as { affected?: number; affectedRows?: number }
  return affected > 0 || affectedRows > 0
}

/** Commits. Throws if the work swallowed a deadlock, or left a transaction open that it began inside. */
export function commit(connection: HeldConnection, life: Life): Promise<void> {
  life.requireWhole()
  if (connection.hasInner) {
    throw new RecentnError('misuse', 'A transaction that was begun inside of this one was left open')
  }
  const end = () => {
    life.requireWhole()
    life.committing = true
    return connection.commit()
  }
  return life.end()?.then(end) ?? end()
}

export async function rollBack(connection: HeldConnection, life: Life): Promise<void> {
  await life.end()
  if (!connection.isBegun) return
  // The error to report is the one that led here. The server rolls back when the connection closes.
  await connection.rollBack().catch(() => connection.drop())
}

const LOCK_WAIT_TIMEOUT = 1205

/** Closes the connection after a lost-connection error: its server may have become a replica. */
export function dropLost(connection: HeldConnection, engine: Engine, error: unknown): void {
  const { driver } = connection
  const { errno = 0, code } = driverError(error)
  if (driver && engine.members && errno === LOCK_WAIT_TIMEOUT) checkHost(driver)
  if (engine.failure(error) !== 'lost') return
  connection.drop()
  // An error from the server itself, and its silence, hold for its other connections, too.
  const isSilent = code === 'ETIMEDOUT'
  const isOfHost = errno > 0 || isSilent || error instanceof UnfitHost
  if (driver && isOfHost) doubtHost(driver, isSilent)
}

type CommitListener = () => void

const SAVEPOINT = /^\s*(SAVEPOINT|ROLLBACK(?:\s+WORK)?\s+TO(?:\s+SAVEPOINT)?)\s+[`"]?(\w+)/i
const COMMIT = /^\s*COMMIT\b/i
const ROLLBACK = /^\s*ROLLBACK\b/i

/**
 * The listeners of one transaction: waking receivers and publishers, clearing caches. A listener runs once, after the database has
 * committed; never after a rollback, nor when the transaction went back to a savepoint that is older than the listener.
 */
export class AfterCommit {
  #listeners: CommitListener[] = []
  readonly #savepoints = new Map<string, number>()

  add(listener: CommitListener): void {
    this.#listeners.push(listener)
  }

  /** Notes a statement that has succeeded: a savepoint, or a return to one, drops what was added since. */
  follow(sql: string): void {
    const match = SAVEPOINT.exec(sql)
    if (match === null) return
    const [, verb, written] = match as unknown as [string, string, string]
    const name = written.toLowerCase()
    // A savepoint that is not known was made before the first listener was added.
    if (/^ROLLBACK/i.test(verb)) this.#listeners.length = this.#savepoints.get(name) ?? 0
    else this.#savepoints.set(name, this.#listeners.length)
  }

  /** The same; true if the statement has ended the transaction. After a commit the listeners have run. */
  ended(sql: string): boolean {
    this.follow(sql)
    const isCommit = COMMIT.test(sql)
    if (isCommit) this.run()
    return isCommit || (ROLLBACK.test(sql) && !SAVEPOINT.test(sql))
  }

  run(): void {
    if (this.#listeners.length === 0) return
    const listeners = this.#listeners
    this.#listeners = []
    // Listeners begin work of the whole process.
    outside(() => {
      for (const listener of listeners) listener()
    })
  }
}
