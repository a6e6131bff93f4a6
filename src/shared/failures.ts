/** How the handlers of messages and rows fail. Browsers load this file too. */
import { invalidInput } from './recentn-error'

/** The error of a handler where another try is of no use. */
const NAME = 'UnrecoverableError'

/**
 * Thrown by the handler of a worker or a poller: this will never work, whatever is tried. A worker's message becomes a
 * dead letter at once, a poller's row is marked as failed with no further attempt; the text is kept as the error of either.
 */
export class UnrecoverableError extends Error {
  override readonly name: string = NAME
}

/** By name too: a handler may have the class of another copy of recentn. */
export function isUnrecoverable(error: unknown): error is Error {
  return error instanceof UnrecoverableError || (error instanceof Error && error.name === NAME)
}

/** The error of a message whose claims ran out begins with this, if no `nack` gave one. */
export const RAN_OUT = 'The visibility timeout ran out after '

/**
 * It was handed out before and no call said that it failed, as when the process that had it was killed. A message that was
 * nacked with an error did not kill its process then. That its claims ran out once before, until it was dead, is no
 * such error.
 */
export function mayHaveKilled({
  receiveCount,
  lastError,
}: {
  receiveCount: number
  lastError: string | null
}): boolean {
  return receiveCount > 1 && (lastError === null || lastError.startsWith(RAN_OUT))
}

/**
 * The error of each that failed, by the answer of a handler of many: `{ failed: [[one, error], …] }`, or something without `failed` if
 * all are done. Throws `invalid_input` for another `failed`.
 */
export function failedOf<Given>(answer: unknown, given: readonly Given[]): ReadonlyMap<Given, unknown> {
  const { failed = [] } = Object(answer)
  if (Array.isArray(failed) && failed.every((pair) => given.includes(pair?.[0]))) return new Map(failed)
  throw invalidInput([{ pointer: '/failed', detail: 'must be a list of what was given, each with its error' }])
}
