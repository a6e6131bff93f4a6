/**
 * Decides when work runs again after a deadlock, a lock timeout or a lost connection, and what error its caller gets
 * after the last try.
 *
 * Invariant: a caller that gets `conflict` or `database_unavailable` knows that nothing of the work was stored. If
 * statements have committed by themselves, or may have, the work runs again until it finds out, or its caller gets
 * `outcome_unknown`.
 */
import { RecentnError } from '../shared/errors'
import { performance } from '../shared/platform'
import { driverError, type Engine, type FailureKind, type Statements } from './engine'
import { AWAY_MS, hasFailedEarlier, lookUntil, NoConnection, pause, unknownOutcome } from './pool/cut-off'
import { writingBy } from './statements'

const MAX_CONFLICT_RETRIES = 40
const MAX_LOST_RETRIES = 2
/** No retry begins later than this after the first try, unless the write sets another limit. */
const RETRY_MS = 30_000
const LONGEST_PAUSE_MS = 1000

export class Trail {
  /** A statement has changed something, or its answer was lost. */
  isLeft = false

  /** The same statements, with notes. `before` runs before each one that writes, and changes nothing by itself. */
  follow(statements: Statements, before: () => Promise<unknown> = async () => {}): Statements {
    const { engine } = statements
    const noted = async <T>(answer: Promise<T>, hasChanged: (answer: T) => boolean): Promise<T> => {
      try {
        const given = await answer
        if (hasChanged(given)) this.isLeft = true
        return given
      } catch (error) {
        if (mayHaveCommitted(engine, error)) this.isLeft = true
        throw error
      }
    }
    const execute: Statements['execute'] = async (sql, parameters) => {
      await before()
      return noted(statements.execute(sql, parameters), ({ affected }) => affected > 0)
    }
    return writingBy(statements, {
      execute,
      together: async (list) => {
        await before()
        const together = statements.together(list).catch((error: unknown) => {
          // Where each commits alone, those before the last one have committed if that one failed.
          if (engine.commitsAlone && list.length > 1 && !hasFailedEarlier(error)) this.isLeft = true
          throw error
        })
        return noted(together, (answers) => answers.some(({ affected }) => affected > 0))
      },
      rows: (sql, parameters) => {
        const rows = statements.rows(sql, parameters)
        return sql.startsWith('SELECT') ? rows : noted(rows, ({ length }) => length > 0)
      },
    })
  }
}

/** With a COMMIT behind the statements (`separateOn`), the error may be that of the COMMIT. */
function mayHaveCommitted(engine: Engine, error: unknown): boolean {
  if (engine.leavesDoubt(error)) return true
  return engine.failure(error) === 'unable' && !engine.commitsAlone && !hasFailedEarlier(error)
}

export interface RetryRules {
  engine: Engine
  counts: DatabaseCounts
  /** The address of the database for error messages, without user and password. */
  locate: () => string
  maxConflicts?: number
  retryMs?: number | undefined
  /** The same for a conflict: a wait for a lock takes longer. */
  conflictMs?: number | undefined
  /** Set if the statements of the work commit by themselves. */
  trail?: Trail
  /** True if it has been found out by then that nothing of a failed try is stored. */
  findsOut?: boolean
}

class Retrier {
  readonly #startedAt = performance.now()
  readonly #deadline: number
  readonly #lossDeadline: number
  #lookUntil: number | null = null
  #conflicts = 0
  #losses = 0
  /** A try has ended with a conflict at its COMMIT that a server also reports while it leaves its cluster. */
  #mayBeLeaving = false

  constructor(private readonly rules: RetryRules) {
    const retryMs = rules.retryMs ?? RETRY_MS
    this.#deadline = this.#startedAt + Math.min(retryMs, rules.conflictMs ?? retryMs)
    this.#lossDeadline = this.#startedAt + Math.min(retryMs, AWAY_MS)
  }

  /** Resolves after a pause if the work should run again. Otherwise throws the error for its caller. */
  async after(error: unknown): Promise<void> {
    const { engine, counts, locate, trail, findsOut } = this.rules
    // Without a connection this try did nothing; but it must still be found out what an earlier try has left.
    const isWaiting = error instanceof NoConnection && trail?.isLeft === true
    const refusal = ofStore(error)
    if (refusal && !isWaiting) throw refusal
    const failure = isWaiting ? 'lost' : engine.failure(error)
    if (!this.#isWorthAnother(failure)) {
      if (failure !== 'other' && failure !== 'no-table') counts.failed(error)
      const isUnknown = trail?.isLeft || (this.#mayBeLeaving && failure === 'lost')
      const told = isUnknown ? unknownOutcome(error) : translated(error, engine, locate)
      if (engine.isDiskFull(error)) counts.foundFull(told)
      throw told
    }
    if (failure === 'conflict' && !trail && !findsOut && engine.leavesDoubt(error)) this.#mayBeLeaving = true
    counts.retried(error)
    const longest = failure === 'conflict' ? Math.min(2 ** this.#conflicts, 100) : 50 * this.#losses
    await pause(Math.min(longest, LONGEST_PAUSE_MS))
  }

  #isWorthAnother(failure: FailureKind): boolean {
    const { maxConflicts = MAX_CONFLICT_RETRIES, trail } = this.rules
    const now = performance.now()
    if (failure === 'conflict') return this.#conflicts++ < maxConflicts && now < this.#deadline
    // If the server then refuses an operation, another one of its cluster would do it a second time.
    if (failure !== 'lost' || this.#mayBeLeaving) return false
    this.#losses++
    if (trail?.isLeft) this.#lookUntil ??= lookUntil(this.#startedAt)
    if (now < (this.#lookUntil ?? 0)) return true
    return this.#losses <= Math.min(MAX_LOST_RETRIES, maxConflicts) && now < this.#lossDeadline
  }
}

/** Runs the work once `checked` has resolved, and again as the rules say. */
export async function tried<T>(rules: RetryRules, once: () => Promise<T>, checked?: Promise<void>): Promise<T> {
  if (checked) await checked
  for (const retrier = new Retrier(rules); ; ) {
    try {
      return await once()
    } catch (error) {
      await retrier.after(error)
    }
  }
}

/** The refusal of a statement that TypeORM was to run, without what it has wrapped around it. */
function ofStore(error: unknown): RecentnError | null {
  const below: unknown = driverError(error)
  return below instanceof RecentnError ? below : null
}

/** Driver errors that a caller can act on, as `RecentnError`; others stay as they are. */
export function translated(error: unknown, engine: Engine, locate: () => string): unknown {
  const refusal = ofStore(error)
  if (refusal) return refusal
  const options = { cause: error, retryAfterSeconds: 1 }
  switch (engine.failure(error)) {
    case 'conflict':
      return new RecentnError('conflict', undefined, options)
    case 'lost':
      return new RecentnError('database_unavailable', withReason(`${the(locate)} cannot be reached`, error), options)
    case 'unable':
      return new RecentnError('database_unavailable', withReason(`${the(locate)} cannot do this now`, error), options)
    case 'no-table':
      return new RecentnError('schema_missing', undefined, options)
    case 'other': {
      const refusal = engine.refusal(error)
      return refusal === undefined ? error : new RecentnError('database_refused', refusal, { cause: error })
    }
  }
}

const the = (locate: () => string) => `The database ${locate()}`

/** The driver's message is about the connection, a table or a file: it has no values and no password. */
function withReason(sentence: string, error: unknown): string {
  const { message, code } = driverError(error)
  const reason = message || code
  return reason ? `${sentence}: ${reason}` : sentence
}

/** The most reasons that are counted separately, in case a server invents error numbers. */
const MAX_REASONS = 64

/** Sooner after a failure, a write that succeeds says nothing: on a full disk those succeed that need no more room. */
const ROOM_MS = 2000

/**
 * Counts retries and failures by the error that caused them, and knows whether the disk is full. Reasons are error numbers and
 * codes of the engines, of which there are few; no text of an error is kept.
 */
export class DatabaseCounts {
  /** Work that was tried again after an error, by the error. */
  readonly retries = new Map<string, number>()
  /** Work that failed with a passing error after its last retry, by the error. */
  readonly failures = new Map<string, number>()

  readonly onDiskFull = new Set<(error: unknown) => void>()
  #fullAt: number | null = null

  /** Whether work has failed because the database's disk is full, and no write has succeeded since. */
  get isDiskFull(): boolean {
    return this.#fullAt !== null
  }

  foundFull(error: unknown): void {
    const wasFull = this.isDiskFull
    this.#fullAt = performance.now()
    if (!wasFull) for (const listener of this.onDiskFull) listener(error)
  }

  wrote(): void {
    if (this.#fullAt !== null && performance.now() - this.#fullAt >= ROOM_MS) this.#fullAt = null
  }

  retried(error: unknown): void {
    add(this.retries, reasonOf(error))
  }

  failed(error: unknown): void {
    add(this.failures, reasonOf(error))
  }
}

function add(counts: Map<string, number>, reason: string): void {
  const key = counts.has(reason) || counts.size < MAX_REASONS ? reason : 'other'
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** The number of the server's error (`1213`), or the code of the driver's or the system's (`ECONNRESET`, `SQLITE_BUSY`). */
function reasonOf(error: unknown): string {
  const { errno, code } = driverError(error)
  if (errno !== undefined && errno > 0) return String(errno)
  return code !== undefined && /^[A-Z0-9_]{1,64}$/.test(code) ? code : 'other'
}
