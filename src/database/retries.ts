/**
 * When work runs again after a deadlock, a lock timeout or a lost connection, and what its caller gets when it is given up.
 *
 * Invariant: after `conflict` or `database_unavailable` nothing is left of the work. Where statements have committed by
 * themselves, or may have, the work runs again until it finds out, or its caller gets `outcome_unknown`.
 */
import { RecentnError } from '../errors'
import { NoConnection } from './connections'
import { OUTCOME_MS, pause, unknownOutcome } from './cut-off'
import type { DatabaseCounts } from './database-counts'
import { driverError, type Engine, type Failure, type Statements } from './engine'

export const MAX_CONFLICT_RETRIES = 40
const MAX_LOST_RETRIES = 2
/** No retry begins later than this after the first try, however many are left, unless the write says otherwise. */
const RETRY_MS = 30_000
const LONGEST_PAUSE_MS = 1000

/** What statements leave behind that commit by themselves. */
export class Trail {
  /** Something was changed, or was asked for by a statement whose answer was lost. */
  isLeft = false

  /** The same statements; `before` runs before each that writes, and leaves nothing. */
  follow(statements: Statements, before: () => Promise<unknown> = async () => {}): Statements {
    const noted = async <T>(answer: Promise<T>, hasChanged: (answer: T) => boolean): Promise<T> => {
      try {
        const given = await answer
        if (hasChanged(given)) this.isLeft = true
        return given
      } catch (error) {
        if (statements.engine.failure(error) === 'lost') this.isLeft = true
        throw error
      }
    }
    const execute: Statements['execute'] = async (sql, parameters) => {
      await before()
      return noted(statements.execute(sql, parameters), ({ affected }) => affected > 0)
    }
    return {
      ...statements,
      get now() {
        return statements.now
      },
      execute,
      run: async (sql, parameters) => (await execute(sql, parameters)).affected,
      rows: (sql, parameters) => {
        const rows = statements.rows(sql, parameters)
        return sql.startsWith('SELECT') ? rows : noted(rows, ({ length }) => length > 0)
      },
    }
  }
}

export interface Retries {
  engine: Engine
  counts: DatabaseCounts
  /** What is said of a database that cannot be reached: where it is, without user and password. */
  locate: () => string
  maxConflicts?: number
  retryMs?: number
  /** Of the work's statements, where they commit by themselves. */
  trail?: Trail
}

/** Decides after each failed try of one piece of work whether it runs again. */
export class Retrier {
  readonly #retries: Retries
  readonly #deadline: number
  #lookUntil: number | null = null
  #conflicts = 0
  #losses = 0

  constructor(retries: Retries) {
    this.#retries = retries
    this.#deadline = Date.now() + (retries.retryMs ?? RETRY_MS)
  }

  /** Resolves, after a pause, when the work is to run again; throws what its caller gets when it is not. */
  async after(error: unknown): Promise<void> {
    const { engine, counts, locate, trail } = this.#retries
    // Without a connection nothing was done by this try; what an earlier one has left must still be found out.
    const isWaiting = error instanceof NoConnection && trail?.isLeft === true
    if (error instanceof RecentnError && !isWaiting) throw error
    const failure = isWaiting ? 'lost' : engine.failure(error)
    if (!this.#isWorthAnother(failure)) {
      if (failure === 'conflict' || failure === 'lost') counts.failed(error)
      throw trail?.isLeft ? unknownOutcome(error) : translated(error, engine, locate)
    }
    counts.retried(error)
    const longest = failure === 'conflict' ? Math.min(2 ** this.#conflicts, 100) : 50 * this.#losses
    await pause(Math.min(longest, LONGEST_PAUSE_MS))
  }

  #isWorthAnother(failure: Failure): boolean {
    const { maxConflicts = MAX_CONFLICT_RETRIES, trail } = this.#retries
    const now = Date.now()
    if (failure === 'conflict') return this.#conflicts++ < maxConflicts && now < this.#deadline
    if (failure !== 'lost') return false
    if (trail?.isLeft) this.#lookUntil ??= now + OUTCOME_MS
    const isLeft = this.#losses++ < Math.min(MAX_LOST_RETRIES, maxConflicts) || now < (this.#lookUntil ?? 0)
    return isLeft && now < this.#deadline
  }
}

/** The driver's errors that a caller can do something about, as ours; others stay as they are. */
export function translated(error: unknown, engine: Engine, locate: () => string): unknown {
  if (error instanceof RecentnError) return error
  const options = { cause: error, retryAfterMs: 1000 }
  switch (engine.failure(error)) {
    case 'conflict':
      return new RecentnError('conflict', undefined, options)
    case 'lost':
      return new RecentnError('database_unavailable', unreachable(error, locate()), options)
    case 'no-table':
      return new RecentnError('schema_missing', undefined, options)
    case 'other': {
      const refusal = engine.refusal(error)
      return refusal === undefined ? error : new RecentnError('database_refused', refusal, { cause: error })
    }
  }
}

/** The driver's words are of the connection: no SQL, and no password. */
function unreachable(error: unknown, location: string): string {
  const { message, code } = driverError(error)
  const reason = message || code
  return `The database ${location} cannot be reached${reason ? `: ${reason}` : ''}`
}
