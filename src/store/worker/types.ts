/** The public shapes of workers. */
import type { Message } from '../../repositories/queues/types'

/** What a handler gets beside its message. */
export interface WorkContext {
  /** Aborted when the claim of this message is lost, and when the worker is stopped without patience. */
  signal: AbortSignal
}

/**
 * Resolving deletes the message; throwing releases it, with the error, after a backoff, or makes it a dead letter at once
 * where it is an `UnrecoverableError`.
 */
export type Handler = (message: Message, context: WorkContext) => Promise<unknown> | unknown

export interface WorkOptions {
  /** Handlers at once, 1 to 10,000; 1 when left out. */
  concurrency?: number | undefined
  /** Messages of one claim, 1 to 1,000; five times as many as handlers, at least 10 and at most 1,000, when left out. */
  batchSize?: number | undefined
  /** How long a claim holds before it is extended; 1 to 43,200; the messages' own, or the queue's, when left out. */
  visibilityTimeoutSeconds?: number | undefined
  /** The pause after a failure: doubled with each receive, with jitter. */
  backoff?: { minSeconds?: number | undefined; maxSeconds?: number | undefined } | undefined
  /**
   * Told of what went wrong: a handler's error with its message, and the database's without one, each kind once until the
   * database answers again. Left out, each kind of either is a warning of the process, once until it goes well again.
   */
  onError?: ((error: unknown, message?: Message) => void) | undefined
}

export interface StopOptions {
  /** How long to wait for running handlers before their signals are aborted and their messages released; for ever when left out. */
  timeoutSeconds?: number | undefined
}

export interface Worker {
  /** Claims nothing more, finishes what runs, returns what has not started. Repeatable. */
  stop(options?: StopOptions): Promise<void>
}
