/** What a handler throws where trying again is of no use. */
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
