/**
 * How a worker, a poller or a consumer reports errors, so that none fails silently. Owns which kinds of errors were
 * reported. Each kind of the database's is, once until the database answers again: an outage of an hour is not a thousand
 * lines. Without an `onError` each kind of the handlers' is too, once until a handler succeeds. Browsers load
 * this file too.
 */
import { errorText } from './error-text'
import { known, RecentnError } from './recentn-error'

/** Maximum kinds of a handler's errors that are warned of until one succeeds: texts with ids in them would be endless. */
const MAX_KINDS = 10

interface FaultsOptions<T> {
  /** The name of the reporting mechanism in a warning and its code: `worker`, `poller`. */
  who: string
  /** The work that cannot be done while the database is away: `work on the queue mail`. */
  what: string
  /** When left out, errors are warnings of the process. */
  onError?: (error: unknown, subject?: T) => unknown
}

export class Faults<T> {
  /** Kinds of the database's errors since it last answered. */
  readonly #reported = new Set<string>()
  /** Without an `onError`: texts of the handlers' errors since a handler last succeeded. */
  readonly #warned = new Set<string>()

  readonly #code: string

  constructor(private readonly options: FaultsOptions<T>) {
    this.#code = `RECENTN_${options.who.toUpperCase()}`
  }

  database(error: unknown): void {
    const kind = kindOf(error)
    if (this.#reported.has(kind)) return
    this.#reported.add(kind)
    if (this.options.onError) this.#report(error)
    else warn(`recentn could not ${this.options.what}: ${known.textOf(error)}`, this.#code)
  }

  answered(): void {
    if (this.#reported.size > 0) this.#reported.clear()
  }

  handler(error: unknown, subject?: T): void {
    if (this.options.onError) this.#report(error, subject)
    else this.#warn(errorText(error))
  }

  /** A handler has done its work. */
  handled(): void {
    if (this.#warned.size > 0) this.#warned.clear()
  }

  /** Runs a handler on the subject; resolves to what it threw, which is reported, or to null. */
  async attempt(handler: () => unknown, subject?: T): Promise<{ error: unknown } | null> {
    try {
      await handler()
      this.handled()
      return null
    } catch (error) {
      this.handler(error, subject)
      return { error }
    }
  }

  /** Calls a hook of the user's about the subject; what it throws is reported as a handler's error, and the work continues. */
  hook(hook: () => unknown, subject: T): void {
    caught(hook, (error) => this.handler(error, subject))
  }

  #warn(kind: string): void {
    if (this.#warned.has(kind) || this.#warned.size >= MAX_KINDS) return
    this.#warned.add(kind)
    const { what } = this.options
    warn(`recentn could not ${what}: ${kind} (without onError each kind is reported once)`, this.#code)
  }

  #report(error: unknown, subject?: T): void {
    guarded(`onError of a recentn ${this.options.who}`, () => this.options.onError?.(error, subject))
  }
}

/** Calls a listener of the user's; what it throws is a warning of the process, and the work continues. */
export function guarded(listening: string, listener: () => unknown): void {
  caught(listener, (error) => warn(`${listening} failed: ${errorText(error)}`, 'RECENTN_LISTENER'))
}

function caught(listener: () => unknown, onThrow: (error: unknown) => void): void {
  try {
    const result = listener()
    // A listener may be asynchronous, whatever its type says.
    if (result !== undefined) Promise.resolve(result).catch(onThrow)
  } catch (error) {
    onThrow(error)
  }
}

/** A database that goes away is one kind, also where a statement was under way. */
function kindOf(error: unknown): string {
  if (!(error instanceof RecentnError)) return String(error)
  return error.code === 'outcome_unknown' ? 'database_unavailable' : error.code
}

/** A warning of the process; in a browser one of the console. */
function warn(text: string, code: string): void {
  const { process } = globalThis as { process?: { emitWarning?(warning: string, options: { code: string }): void } }
  if (process?.emitWarning) process.emitWarning(text, { code })
  else console.warn(text)
}
