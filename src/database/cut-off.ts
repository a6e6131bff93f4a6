/** A commit of which nobody can say at once whether it arrived. */
import { RecentnError } from '../errors'

/** The commit failed, as when the connection is lost: what the transaction would have given, if it arrived. */
export class CutOff extends Error {
  constructor(
    override readonly cause: unknown,
    readonly result: unknown,
    /** True when the fault came after the database had committed. */
    readonly committed: boolean,
  ) {
    super('The commit has failed')
  }
}

/** `cause` is what went wrong. */
export function unknownOutcome(cause: unknown): RecentnError {
  return new RecentnError('outcome_unknown', undefined, { cause, retryAfterMs: 1000 })
}
