/**
 * Whom a worker or a poller tells what went wrong. Owns which kinds of database faults were told: each once, until the
 * database answers again, so that an outage of an hour is not a thousand lines.
 */
import { RecentnError } from '../errors'

export interface FaultsOptions<T> {
  /** Who it is, as a warning says it: `worker`, `poller`. */
  who: string
  /** What can't be done while the database is away: `work on the queue mail`. */
  what: string
  /** Left out, a warning of the process tells of the database; what a handler throws is kept with what it was given. */
  onError?: (error: unknown, subject?: T) => unknown
}

export class Faults<T> {
  readonly #options: FaultsOptions<T>
  readonly #told = new Set<string>()

  constructor(options: FaultsOptions<T>) {
    this.#options = options
  }

  /** The database's. */
  database(error: unknown): void {
    const kind = kindOf(error)
    if (this.#told.has(kind)) return
    this.#told.add(kind)
    if (this.#options.onError) this.handler(error)
    else process.emitWarning(`recentn could not ${this.#options.what}: ${String(error)}`)
  }

  /** The database has answered. */
  answered(): void {
    if (this.#told.size > 0) this.#told.clear()
  }

  /** A handler's, or of one subject. */
  handler(error: unknown, subject?: T): void {
    this.guarded('onError', () => this.#options.onError?.(error, subject))
  }

  /** Whatever a listener does, the work goes on. */
  guarded(name: string, listener: () => unknown): void {
    const warn = (error: unknown) =>
      process.emitWarning(`${name} of a recentn ${this.#options.who} failed: ${errorText(error)}`)
    try {
      const result = listener()
      // An asynchronous one is of the type, too.
      if (result !== undefined) Promise.resolve(result).catch(warn)
    } catch (error) {
      warn(error)
    }
  }
}

/** A database that goes away is one fault, also where a statement was on its way. */
function kindOf(error: unknown): string {
  if (!(error instanceof RecentnError)) return String(error)
  return error.code === 'outcome_unknown' ? 'database_unavailable' : error.code
}

const MAX_ERROR_LENGTH = 1000

/** What is kept of a handler's error with what it was given. */
export function errorText(error: unknown): string {
  try {
    // A message that is no text is one of somebody's making, too.
    const text = String(error instanceof Error ? error.message || error.name : error)
    return text.slice(0, MAX_ERROR_LENGTH).toWellFormed()
  } catch {
    return 'an error that has no text'
  }
}
