/** Errors which say that something has not been run. Owns the set of those of statements that others were to follow. */
import { RecentnError } from '../../shared/errors'
import { USE_WITHIN } from '../inside'

const earlier = new WeakSet<object>()

/** Notes that a statement failed which others were to follow. Returns the error. */
export function failedEarlier<Failure>(error: Failure): Failure {
  if (typeof error === 'object' && error !== null) earlier.add(error)
  return error
}

/**
 * True if the statement whose promise rejected with this error was not run, because one before it failed, or because the
 * connection was closed before.
 */
export function hasFailedEarlier(error: unknown): boolean {
  return typeof error === 'object' && error !== null && earlier.has(error)
}

/** No connection became free in time; nothing was sent. */
export class NoConnection extends RecentnError {}

/** The error for `what` not becoming free within `timeoutMs`. */
export function noneFree(what: string, timeoutMs: number): NoConnection {
  const detail = `${what} within ${timeoutMs / 1000} s (connectionTimeoutSeconds). If your own transaction is open, the call may wait for it to end: ${USE_WITHIN}`
  return new NoConnection('overloaded', detail, { retryAfterSeconds: 1 })
}
