/** Whom a poller tells what went wrong. Each kind of database fault once, until the database answers again. */
import { RecentnError } from '../errors'
import type { PollOptions } from './poller-types'
import { errorText } from './worker-faults'

type Listeners<T> = Pick<PollOptions<T>, 'onError' | 'onWarning'>

export class PollerFaults<T> {
  readonly #listeners: Listeners<T>
  readonly #name: string
  readonly #told = new Set<string>()

  constructor(name: string, listeners: Listeners<T>) {
    this.#name = name
    this.#listeners = listeners
  }

  /** Without `onError`: a warning of the process. */
  database(error: unknown): void {
    const kind = error instanceof RecentnError ? error.code : String(error)
    if (this.#told.has(kind)) return
    this.#told.add(kind)
    if (this.#listeners.onError) this.row(error)
    else process.emitWarning(`recentn could not poll ${this.#name}: ${String(error)}`)
  }

  answered(): void {
    this.#told.clear()
  }

  /** A handler's error, or a result that was not recorded. Whatever `onError` does, the poller goes on. */
  row(error: unknown, row?: T): void {
    guarded('onError', () => this.#listeners.onError?.(error, row))
  }

  advise(warning: string): void {
    const { onWarning } = this.#listeners
    if (onWarning) guarded('onWarning', () => onWarning(warning))
    else process.emitWarning(warning, { code: 'RECENTN_POLL_INDEX' })
  }
}

function guarded(name: string, listener: () => unknown): void {
  const warn = (error: unknown) => process.emitWarning(`${name} of a recentn poller failed: ${errorText(error)}`)
  try {
    const result = listener()
    // An asynchronous one is of the type, too.
    if (result !== undefined) Promise.resolve(result).catch(warn)
  } catch (error) {
    warn(error)
  }
}
