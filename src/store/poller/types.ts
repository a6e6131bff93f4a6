/** The public shapes of pollers. */
import type { ManyOptions } from '../../shared/handler-types'
import type { PollCounts, PollShape } from '../../shared/poll-types'
import type { Around, Running } from '../../shared/running'

/** The second argument of a poller's handler. */
export interface PollContext {
  /** Aborted when the claim of this row is lost, and when the time limit of a `stop` has passed. */
  signal: AbortSignal
  /** Attempt number, starting at 1. */
  attempt: number
}

/**
 * The row comes without its status and the columns for claims. Resolving marks it as done. Throwing has it tried again
 * after a backoff, up to `maxAttempts` times; an `UnrecoverableError` marks it as failed at once.
 */
export type PollHandler<T, Result = unknown> = (row: T, context: PollContext) => Promise<Result> | Result

export interface PollOptions<T = unknown> extends PollShape {
  /** Maximum handlers at the same time, 1 to 1,000; default 1. */
  concurrency?: number | undefined
  /** Bounds of the rows of one claim, which follow the pace of the handlers; default 1 to 1,000. `concurrency` at first. */
  batch?: { min?: number | undefined; max?: number | undefined } | undefined
  /** The pause after a failure: doubled with each attempt, with jitter; default 1 to 600 seconds. */
  backoff?: { minSeconds?: number | undefined; maxSeconds?: number | undefined } | undefined
  /** Seconds to wait after there was nothing to claim, 0.001 to 86,400; default 1. */
  intervalSeconds?: number | undefined
  /** Whether the poller claims by itself; default true. With false, only `once` claims. */
  auto?: boolean | undefined
  /** Stops the poller when it is aborted, as `stop()`. */
  signal?: AbortSignal | undefined
  /** Runs around each handler, as that of a worker: gets the row, and calls `next`, which runs the handler. */
  around?: Around<T>
  /**
   * Called with each error: a handler's with its row, the database's without one. That of a row that can't be read or
   * claimed comes with an object of the columns of its key. When left out, each kind of error is a warning of the process, once
   * until a handler succeeds, or the database answers again.
   */
  onError?: ((error: unknown, row?: T) => void) | undefined
  /** Called at the start with advice: a missing index, a changed `where`, a small pool. When left out, a warning of the process. */
  onWarning?: ((warning: string) => void) | undefined
}

export type PollManyOptions<T = unknown> = ManyOptions<PollOptions<T>, T>

/** The second argument of a handler of many rows. */
export interface PollManyContext extends Pick<PollContext, 'signal'> {
  /** The attempt number of each row, in their order. */
  attempts: readonly number[]
}

/** The columns that a poll writes, by its options: the row of a handler comes without them. */
type Written<O> =
  | (O extends { status: infer Column extends string } ? Column : never)
  | (O extends { status: { column: infer Column extends string } } ? Column : never)
  | (O extends { claim: Readonly<Record<'claim' | 'attempts' | 'nextTime', infer Column extends string>> }
      ? Column
      : never)

/** The answer of a handler: one of the words that the status names, where it names some. */
export type NamedResult<O> = [O] extends [{ status: { results: readonly (infer Word)[] } }]
  ? [Word] extends [never]
    ? unknown
    : Word
  : unknown

/** The row that a handler gets. A column by another name than its property is left out at run time only. */
export type PolledRow<T, O> = [Written<O>] extends [never] ? T : Omit<T, Written<O>>

/** The fate of the rows that were claimed. */
export interface PollResult {
  claimed: number
  done: number
  /** Failed, and to be tried again. */
  retried: number
  /** Failed for good, including rows whose last claim ran out. */
  failed: number
  /** The result was not recorded: the claim had run out, or the status has changed since. */
  lost: number
}

export interface Poller extends Running {
  /**
   * Claims and handles rows until there is none to claim and all handlers have ended; for cron, with `auto: false`.
   * Concurrent calls share one run. Throws `invalid_input` for options that don't fit the table, and errors of the database.
   */
  once(): Promise<PollResult>
  /** How many rows are in each state, counted now by queries along an index. */
  counts(): Promise<PollCounts>
}
