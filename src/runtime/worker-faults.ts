/**
 * Whom a worker tells what went wrong. Owns which kinds of database faults were told: each once, until the database
 * answers again, so that an outage of an hour is not a thousand lines.
 */
import { RecentnError } from '../errors'
import type { Message } from '../repositories/queues/types'
import type { WorkOptions } from './worker-types'

export class WorkerFaults {
  readonly #onError: WorkOptions['onError']
  readonly #queue: string
  readonly #told = new Set<string>()

  constructor(queue: string, onError: WorkOptions['onError']) {
    this.#queue = queue
    this.#onError = onError
  }

  /** The database's. Without `onError`: a warning of the process. */
  database(error: unknown): void {
    const kind = error instanceof RecentnError ? error.code : String(error)
    if (this.#told.has(kind)) return
    this.#told.add(kind)
    if (this.#onError) this.#tell(error)
    else process.emitWarning(`recentn could not work on the queue ${this.#queue}: ${String(error)}`)
  }

  /** The database has answered. */
  answered(): void {
    if (this.#told.size > 0) this.#told.clear()
  }

  /** A handler's: without `onError` it is silent, for the message has it as `lastError`. */
  handler(error: unknown, message: Message): void {
    this.#tell(error, message)
  }

  /** Whatever `onError` does, the worker goes on. */
  #tell(error: unknown, message?: Message): void {
    try {
      const result: unknown = this.#onError?.(error, message)
      // An asynchronous one is of the type, too.
      if (result !== undefined) Promise.resolve(result).catch(warnOfListener)
    } catch (thrown) {
      warnOfListener(thrown)
    }
  }
}

function warnOfListener(error: unknown): void {
  process.emitWarning(`onError of a recentn worker failed: ${errorText(error)}`)
}

const MAX_ERROR_LENGTH = 1000

/** What is kept of a handler's error with its message. */
export function errorText(error: unknown): string {
  try {
    // A message that is no text is one of somebody's making, too.
    const text = String(error instanceof Error ? error.message || error.name : error)
    return text.slice(0, MAX_ERROR_LENGTH).toWellFormed()
  } catch {
    return 'an error that has no text'
  }
}
