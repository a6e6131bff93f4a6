/** The public shapes of the loops of consumers. */
import type { Change, ValueOptions } from '../../repositories/feeds/types'
import type { StandardSchema } from '../../schema'
import type { StopOptions } from '../worker/types'

/** What a handler gets beside its changes. */
export interface ConsumeContext {
  /** Aborted when the patience of a `stop` is over: the cursor is not stored then. */
  signal: AbortSignal
  /**
   * The cursor that is stored once the handler has resolved. If the handler itself stores it in the transaction of its writes
   * (`tx.feeds.putConsumer(feed, consumer, cursor, { from })`), both happen or neither does.
   */
  cursor: bigint
  /** The cursor before these changes. */
  from: bigint
}

/** Gets 1 to `limit` changes, in the order of their sync ids. Resolving stores the cursor; throwing repeats the call after a backoff. */
export type ConsumeHandler<Value = unknown> = (
  changes: Change<Value>[],
  context: ConsumeContext,
) => Promise<unknown> | unknown

export interface ConsumeOptions<Value = unknown> extends ValueOptions {
  /**
   * Where the cursor is kept; default `stored`. With `memory` each start reads the feed from its beginning and then goes on,
   * and the database keeps no consumer: for an index in memory, which each process builds for itself.
   */
  cursor?: 'stored' | 'memory' | undefined
  /** Maximum changes of one call, 1 to 1,000; default 100. */
  limit?: number | undefined
  /** The pause after a handler has thrown: doubled each time, with jitter; default 1 to 600 seconds. */
  backoff?: { minSeconds?: number | undefined; maxSeconds?: number | undefined } | undefined
  /**
   * What values must be: a Standard Schema (zod, valibot, arktype), synchronous or not. The handler gets its output as the
   * value; deletions have none. Nothing is skipped: a value that does not fit counts as an error of the handler for all
   * changes of its call. They are given again after the backoff, until the entry is put right or deleted.
   */
  schema?: StandardSchema<Value> | undefined
  /**
   * Called when deletions after the cursor are not known any more (`cursor_expired`), to discard what was built from the
   * feed: once it has resolved, the consumer starts over at 0. When left out, the consumer stays where it is and reports
   * the error until somebody moves the cursor.
   */
  onExpired?: (() => Promise<unknown> | unknown) | undefined
  /**
   * Called with each error: a handler's with its changes; the database's without any, each kind once until the database
   * answers again. When left out, each kind of error is a warning of the process, once until a handler succeeds, or the
   * database answers again.
   */
  onError?: ((error: unknown, changes?: Change[]) => void) | undefined
}

/** A running loop of a consumer. */
export interface Consuming {
  /**
   * Reads no further changes, and resolves when the running handler has ended; at once when called in that handler.
   * Repeatable.
   */
  stop(options?: StopOptions): Promise<void>
}
