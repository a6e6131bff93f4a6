/** The public shapes of pollers. */
import type { PollCounts, PollShape } from '../../repositories/polls/types'
import type { StopOptions } from '../worker/types'

/** What a handler gets beside its row. */
export interface PollContext {
  /** Aborted when the claim of this row is lost, and when the poller is stopped without patience. */
  signal: AbortSignal
  /** The how-manieth attempt this is: 1 for the first. */
  attempt: number
}

/**
 * The row comes without its status and the columns for claims. Resolving makes it done; throwing has it tried again, after
 * a backoff, up to `maxAttempts` times; an `UnrecoverableError` makes it failed at once.
 */
export type PollHandler<T> = (row: T, context: PollContext) => Promise<unknown> | unknown

export interface PollOptions<T = unknown> extends PollShape {
  /** Handlers at once, 1 to 1,000; 1 when left out. */
  concurrency?: number | undefined
  /** Rows of one claim: from 1 and up to 1,000 when left out, by how fast the handlers are; `concurrency` at first. */
  batch?: { min?: number | undefined; max?: number | undefined } | undefined
  /** The pause after a failure: doubled with each attempt, with jitter; from 1 second and up to 600 when left out. */
  backoff?: { minSeconds?: number | undefined; maxSeconds?: number | undefined } | undefined
  /** How long to wait after there was nothing to claim, in milliseconds, 1 to 86,400,000; 1000 when left out. */
  intervalMs?: number | undefined
  /** False: nothing is polled but by `once`. */
  auto?: boolean | undefined
  /**
   * Told of what went wrong: a handler's error with its row, and the database's without one; of a row that can't be read
   * or claimed, with an object of the columns of its key. Left out, each kind of these is a warning of the process, once
   * until it goes well again.
   */
  onError?: ((error: unknown, row?: T) => void) | undefined
  /** Told at the start of an index that is missing, of another `where`, of a pool that is small; else a warning of the process. */
  onWarning?: ((warning: string) => void) | undefined
}

/** What became of the rows that were claimed. */
export interface PollResult {
  claimed: number
  done: number
  /** Failed, and to be tried again. */
  retried: number
  /** Failed for good, those included whose last claim ran out. */
  failed: number
  /** The result was not recorded: the claim had run out, or the status was changed meanwhile. */
  lost: number
}

export interface Poller {
  /**
   * Claims and handles rows until there is none to claim, and what was claimed has ended; for cron, with `auto: false`.
   * Calls at the same time share one run. Throws what the options or the database have against it.
   */
  once(): Promise<PollResult>
  /** How many rows stand where, counted now: it costs the database a look along an index. */
  counts(): Promise<PollCounts>
  /** Claims nothing more, finishes what runs, returns what has not started and is not locked. Repeatable. */
  stop(options?: StopOptions): Promise<void>
}
