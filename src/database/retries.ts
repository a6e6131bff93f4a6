/**
 * Running work again after a deadlock, a lock timeout or a lost connection, and what is told when it is given up.
 *
 * Invariant: who is told `conflict` or `database_unavailable` knows that nothing is left of the work. Where statements
 * have committed by themselves, or may have, it is run for so long that it can find out, and else `outcome_unknown`.
 */
import { RecentnError } from '../errors'
import { NoConnection } from './connections'
import { OUTCOME_MS, pause, unknownOutcome } from './cut-off'
import type { DatabaseCounts } from './database-counts'
import { driverError, type Engine, type Statements } from './engine'

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

export async function retried<T>(
  { engine, counts, locate, maxConflicts = MAX_CONFLICT_RETRIES, retryMs = RETRY_MS, trail }: Retries,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = Date.now() + retryMs
  const maxLosses = Math.min(MAX_LOST_RETRIES, maxConflicts)
  let lookUntil: number | null = null
  for (let conflicts = 0, losses = 0; ; ) {
    try {
      return await work()
    } catch (error) {
      // Without a connection nothing was done by this try; what an earlier one has left must still be found out.
      const isWaiting = error instanceof NoConnection && trail?.isLeft === true
      if (error instanceof RecentnError && !isWaiting) throw error
      const failure = isWaiting ? 'lost' : engine.failure(error)
      if (failure === 'lost' && trail?.isLeft) lookUntil ??= Date.now() + OUTCOME_MS
      const isLeft =
        (failure === 'conflict' && conflicts++ < maxConflicts) ||
        (failure === 'lost' && (losses++ < maxLosses || Date.now() < (lookUntil ?? 0)))
      if (!isLeft || Date.now() >= deadline) {
        if (failure === 'conflict' || failure === 'lost') counts.failed(error)
        throw trail?.isLeft ? unknownOutcome(error) : translated(error, engine, locate)
      }
      counts.retried(error)
      await pause(failure === 'conflict' ? Math.min(2 ** conflicts, 100) : Math.min(50 * losses, LONGEST_PAUSE_MS))
    }
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
