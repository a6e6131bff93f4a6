/** The public shapes of handlers and their options that workers and consumers have in the library and in the client. */

import type { Change } from './feed-types'
import type { Message } from './message-types'
import type { Around } from './running'
import type { StandardSchema } from './schema'

/** The second argument of a worker's handler. */
export interface WorkContext {
  /** Aborted when the claim of this message is lost, and when the time limit of a `stop` has passed. */
  signal: AbortSignal
  /**
   * For a 429: no message of the message's group, or of the queue, is handed out for `seconds`. The message goes back, without
   * the receive that brought it, whether the handler then resolves or throws. Throws as `queues.hold`.
   */
  hold(what: 'group' | 'queue', seconds: number): Promise<void>
}

/**
 * Resolving acknowledges the message. Throwing returns it (`nack`), with the error, after a backoff; an `UnrecoverableError`
 * makes it a dead letter at once.
 */
export type Handler<Body = unknown> = (message: Message<Body>, context: WorkContext) => Promise<unknown> | unknown

/** The answer of a handler of many: what failed, each with its error; the others are done. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler may say nothing
type BatchAnswer<Given> = { failed?: readonly (readonly [given: Given, error: unknown])[] } | undefined | void

/**
 * Gets 1 to `batchSize` messages, or rows. Resolving settles all as done, but for those in `failed`; throwing counts as failed for
 * all. An error has the effect that it has when a handler of one throws it.
 */
export type BatchHandler<Given, Context = WorkContext> = (
  given: Given[],
  context: Context,
) => BatchAnswer<Given> | Promise<BatchAnswer<Given>>

/** The second argument of a consumer's handler. */
export interface ConsumeContext {
  /** Aborted when the time limit of a `stop` has passed: the cursor is not stored then. */
  signal: AbortSignal
  /**
   * The cursor that is stored once the handler has resolved. With the library a handler may store it itself, in the
   * transaction of its writes (`tx.feeds.moveCursor(feed, consumer, cursor, { from })`): both happen or neither does.
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

/** `Given` is what an error is about. */
export interface HandlingOptions<Output, Given> {
  /** The pause after a handler has thrown: doubled each time, with jitter; default 1 to 600 seconds. */
  backoff?: { minSeconds?: number | undefined; maxSeconds?: number | undefined } | undefined
  /**
   * The schema of bodies, or values: a Standard Schema (zod, valibot, arktype), synchronous or not. The handler gets its
   * output. A message whose body does not fit becomes a dead letter at once, with what is wrong as its error; `onError`
   * and `onDead` get it as it was sent. An error of the schema itself counts as thrown by the handler. A value that does not
   * fit counts as an error of the handler for all changes of its call. Nothing is skipped: they are given again after
   * the backoff, until the entry is put right or deleted.
   */
  schema?: StandardSchema<Output> | undefined
  /** Stops it when it is aborted, as `stop()`. */
  signal?: AbortSignal | undefined
  /**
   * Runs around each handler, for tracing, logging or a request scope (`AsyncLocalStorage`): gets what was given, as it was
   * sent, and calls `next`, which runs the handler. Its errors count as thrown by the handler.
   */
  around?: Around<Given>
  /**
   * Called with each error: a handler's with what it was given; the database's, or the server's, without it, each kind once
   * until there is an answer again. When left out, each kind of error is a warning of the process, once until a handler
   * succeeds, or there is an answer again.
   */
  onError?: ((error: unknown, given?: Given) => void) | undefined
}

export interface WorkHandlingOptions<Body = unknown> extends HandlingOptions<Body, Message> {
  /** Seconds that a claim and each extension hold, 1 to 43,200; default the message's own, or the queue's. */
  visibilityTimeoutSeconds?: number | undefined
  /** Called when a message is done: its handler has resolved, and the message is acknowledged. */
  onDone?: ((message: Message<Body>) => void) | undefined
  /**
   * Called when a message is dead by the error of its handler: on its last receive, or by an `UnrecoverableError`. A message
   * whose claims ran out, because its process died, is not reported.
   */
  onDead?: ((message: Message, error: unknown) => void) | undefined
}

/** The options of a handler of one, and what a handler of many has besides. */
export type ManyOptions<One, Given> = Omit<One, 'batchSize' | 'around'> & {
  /** Maximum messages, or rows, of one call of the handler, 1 to 1,000; default 100. A claim of a worker brings no more. */
  batchSize?: number | undefined
  /**
   * Seconds that the first message or row of a call waits for more, until there are `batchSize`, 0 to 3,600; default 0, which takes
   * what is there. Its claim is extended until then. `once` does not wait.
   */
  waitSeconds?: number | undefined
  /** Runs around each call of the handler: gets the messages, as they were sent, or the rows. */
  around?: Around<Given[]>
}

export interface ConsumeHandlingOptions<Value = unknown> extends HandlingOptions<Value, Change[]> {
  /** Maximum changes of one call, 1 to 1,000; default 100. */
  limit?: number | undefined
  /**
   * Called when deletions after the cursor are not known any more (`cursor_expired`), to discard what was built from the
   * feed: once it has resolved, the consumer starts over at 0. When left out, the consumer stays where it is and reports
   * the error until the cursor is moved.
   */
  onExpired?: (() => Promise<unknown> | unknown) | undefined
}
