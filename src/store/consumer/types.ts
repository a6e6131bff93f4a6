/** The public shapes of the loops of consumers. */
import type { Change, ValueOptions } from '../../repositories/feeds/types'
import type { StopOptions } from '../worker/types'

/** What a handler gets beside its changes. */
export interface ConsumeContext {
  /** Aborted when the loop is stopped without patience: what the handler does then is not counted. */
  signal: AbortSignal
  /**
   * What is stored once the handler has resolved. Stored by the handler itself, in the transaction of what it writes
   * (`tx.feeds.putConsumer(feed, consumer, cursor, { from })`), both happen or neither does.
   */
  cursor: bigint
  /** Where these changes begin. */
  from: bigint
}

/** 1 to `limit` changes, in the order of their sync ids. Resolving stores the cursor; throwing has them given again, after a backoff. */
export type ConsumeHandler = (changes: Change[], context: ConsumeContext) => Promise<unknown> | unknown

export interface ConsumeOptions extends ValueOptions {
  /** Changes of one call at most, 1 to 1,000; 100 when left out. */
  limit?: number | undefined
  /** The pause after a handler has thrown: doubled each time, with jitter; from 1 second and up to 600 when left out. */
  backoff?: { minSeconds?: number | undefined; maxSeconds?: number | undefined } | undefined
  /**
   * Called when deletions after the cursor are known no more (`cursor_expired`), to throw away what was built from the
   * feed: once it has resolved the consumer starts over at 0. Left out, it stays where it is, and `onError` is told, until
   * somebody moves the cursor.
   */
  onExpired?: (() => Promise<unknown> | unknown) | undefined
  /**
   * Told what a handler has thrown, with its changes, and of the database's faults without any, each kind once until it
   * answers again. Left out, each kind of either is a warning of the process, once until it goes well again.
   */
  onError?: ((error: unknown, changes?: Change[]) => void) | undefined
}

/** A loop of a consumer that runs. */
export interface Consuming {
  /**
   * Begins with no further changes, and resolves when the handler that runs has ended; called in that handler, at once.
   * Repeatable.
   */
  stop(options?: StopOptions): Promise<void>
}
