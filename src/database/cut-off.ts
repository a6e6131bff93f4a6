/** A commit of which nobody can say at once whether it arrived. */
import { RecentnError } from '../errors'
import type { AfterCommit } from './after-commit'
import { NoConnection } from './connections'
import type { Engine } from './engine'

/** The commit failed, as when the connection is lost: what the transaction would have given, if it arrived. */
export class CutOff extends Error {
  constructor(
    override readonly cause: unknown,
    readonly result: unknown,
    /** True when the fault came after the database had committed. */
    readonly committed: boolean,
    readonly afterCommit: AfterCommit,
  ) {
    super('The commit has failed')
  }
}

/** `cause` is what went wrong. */
export function unknownOutcome(cause: unknown): RecentnError {
  return new RecentnError('outcome_unknown', undefined, { cause, retryAfterMs: 1000 })
}

/** How long the database may stay away before a commit that was cut off is reported as `outcome_unknown`. */
export const OUTCOME_MS = 10_000

/**
 * Whether the commit has arrived, by what `ask` finds in a transaction of its own. Throws `outcome_unknown` when the
 * database stays away.
 */
export async function learn(cutOff: CutOff, engine: Engine, ask: () => Promise<boolean>): Promise<boolean> {
  if (!engine.losesCommits) return false
  const deadline = Date.now() + OUTCOME_MS
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      // What the question has read with a lock is true, whatever became of its own commit.
      if (error instanceof CutOff) return error.result as boolean
      const isPassing = error instanceof NoConnection || engine.failure(error) !== 'other'
      if (!isPassing || Date.now() > deadline) throw unknownOutcome(cutOff.cause)
      await pause(Math.min(100 * tries, 1000))
    }
  }
}

/** A pause of random length: callers that met must not meet again at the same moment. */
export function pause(maxMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * maxMs))
}
