/** The public shapes of workers. */
import type { Message } from '../../repositories/queues/types'
import type { StandardSchema } from '../../schema'

/** What a handler gets beside its message. */
export interface WorkContext {
  /** Aborted when the claim of this message is lost, and when the worker is stopped without patience. */
  signal: AbortSignal
}

/**
 * Resolving deletes the message. Throwing releases it, with the error, after a backoff; an `UnrecoverableError` makes it a
 * dead letter at once.
 */
export type Handler<Body = unknown> = (message: Message<Body>, context: WorkContext) => Promise<unknown> | unknown

export interface WorkOptions<Body = unknown> {
  /** Maximum handlers at the same time, 1 to 10,000; default 1. */
  concurrency?: number | undefined
  /** Maximum messages of one claim, 1 to 1,000; default five times `concurrency`, at least 10 and at most 1,000. */
  batchSize?: number | undefined
  /** Seconds that a claim and each extension hold, 1 to 43,200; default the message's own, or the queue's. */
  visibilityTimeoutSeconds?: number | undefined
  /** Whether the worker receives by itself; default true. With false, only `once` receives. */
  auto?: boolean | undefined
  /** The pause after a failure: doubled with each receive, with jitter. */
  backoff?: { minSeconds?: number | undefined; maxSeconds?: number | undefined } | undefined
  /**
   * What bodies must be: a Standard Schema (zod, valibot, arktype), synchronous or not. The handler gets its output as the
   * body. A message whose body does not fit becomes a dead letter at once, with what is wrong as its error, and `onError`
   * and `onDead` get it as it was sent. What the schema itself throws counts as thrown by the handler.
   */
  schema?: StandardSchema<Body> | undefined
  /**
   * Called with each error: a handler's with its message; the database's without one, each kind once until the database
   * answers again. When left out, each kind of error is a warning of the process, once until a handler succeeds, or the
   * database answers again.
   */
  onError?: ((error: unknown, message?: Message) => void) | undefined
  /** Called when a message is done: its handler has resolved, and the message is deleted, or archived. */
  onDone?: ((message: Message<Body>) => void) | undefined
  /**
   * Called when a message is dead by the error of its handler: on its last receive, or by an `UnrecoverableError`. A message
   * whose claims ran out, because its process died, is not reported.
   */
  onDead?: ((message: Message, error: unknown) => void) | undefined
}

export interface StopOptions {
  /** Seconds to wait for running handlers before their signals are aborted and their messages released; no limit when left out. */
  timeoutSeconds?: number | undefined
}

/** What became of the messages that were handled. */
export interface WorkResult {
  done: number
  /** The handler has thrown: released after a backoff, or dead. */
  failed: number
}

export interface Worker {
  /**
   * Receives and handles messages until none is ready and all handlers have ended; for cron and for tests, with `auto: false`.
   * Concurrent calls share one run. Throws `invalid_input` for a worker that receives by itself, and errors of the database.
   */
  once(): Promise<WorkResult>
  /** Claims nothing more, waits for running handlers, and gives back messages whose handlers have not begun. Repeatable. */
  stop(options?: StopOptions): Promise<void>
}
