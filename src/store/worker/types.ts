/** The public shapes of workers. */
import type { ManyOptions, WorkHandlingOptions } from '../../shared/handler-types'
import type { Message } from '../../shared/queue-types'
import type { Running } from '../../shared/running'

export interface WorkOptions<Body = unknown> extends WorkHandlingOptions<Body> {
  /** Maximum handlers at the same time, 1 to 10,000; default 1. */
  concurrency?: number | undefined
  /** Maximum messages of one claim, 1 to 1,000; default five times `concurrency`, at least 10 and at most 1,000. */
  batchSize?: number | undefined
  /** Whether the worker receives by itself; default true. With false, only `once` receives. */
  auto?: boolean | undefined
}

export type WorkManyOptions<Body = unknown> = ManyOptions<WorkOptions<Body>, Message>

/** The fate of the messages that were handled. */
export interface WorkResult {
  done: number
  /** The handler has thrown: nacked with a backoff, or dead. */
  failed: number
}

export interface Worker extends Running {
  /**
   * Receives and handles messages until none is ready and all handlers have ended; for cron and for tests, with `auto: false`.
   * Concurrent calls share one run. Throws `invalid_input` for a worker that receives by itself, and errors of the database.
   */
  once(): Promise<WorkResult>
}
