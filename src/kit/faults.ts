/**
 * How a worker, a poller or a consumer reports what went wrong, so that nothing fails in silence for ever. Owns which kinds
 * of faults were reported: each kind of the database's once until it answers again, so that an outage of an hour is not a
 * thousand lines; without an `onError` also each kind of the handlers' once, until a handler succeeds.
 */
import { safeText } from '../error-text'
import { RecentnError } from '../errors'

/** Most kinds of a handler's errors that are warned of until one succeeds: texts with ids in them would be endless. */
const MAX_KINDS = 10

export interface FaultsOptions<T> {
  /** Who it is, as a warning says it: `worker`, `poller`. */
  who: string
  /** What can't be done while the database is away: `work on the queue mail`. */
  what: string
  /** Left out, warnings of the process tell of it. */
  onError?: (error: unknown, subject?: T) => unknown
}

export class Faults<T> {
  readonly #options: FaultsOptions<T>
  readonly #told = new Set<string>()
  /** Without an `onError`, the errors that were warned of since a handler succeeded. */
  readonly #warned = new Set<string>()

  constructor(options: FaultsOptions<T>) {
    this.#options = options
  }

  /** The database's. */
  database(error: unknown): void {
    const kind = kindOf(error)
    if (this.#told.has(kind)) return
    this.#told.add(kind)
    if (this.#options.onError) this.#tell(error)
    else process.emitWarning(`recentn could not ${this.#options.what}: ${safeText(error)}`)
  }

  /** The database has answered. */
  answered(): void {
    if (this.#told.size > 0) this.#told.clear()
  }

  /** A handler's, or of one subject. */
  handler(error: unknown, subject?: T): void {
    if (this.#options.onError) this.#tell(error, subject)
    else this.#warn(errorText(error))
  }

  /** A handler has done its work. */
  handled(): void {
    if (this.#warned.size > 0) this.#warned.clear()
  }

  #warn(kind: string): void {
    if (this.#warned.has(kind) || this.#warned.size >= MAX_KINDS) return
    this.#warned.add(kind)
    const { who, what } = this.#options
    const more = `without onError a ${who} warns of each kind of error once, until a handler succeeds`
    process.emitWarning(`recentn could not ${what}: ${kind} (${more})`)
  }

  #tell(error: unknown, subject?: T): void {
    guarded(`onError of a recentn ${this.#options.who}`, () => this.#options.onError?.(error, subject))
  }
}

/** Calls a listener of the user's; what it throws is a warning of the process, and the work goes on. */
export function guarded(listening: string, listener: () => unknown): void {
  const warn = (error: unknown) => process.emitWarning(`${listening} failed: ${errorText(error)}`)
  try {
    const result = listener()
    // A listener may be asynchronous, whatever its type says.
    if (result !== undefined) Promise.resolve(result).catch(warn)
  } catch (error) {
    warn(error)
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
