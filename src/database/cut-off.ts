/** Commits that were cut off, whose outcome has to be found out. */
import { RecentnError } from '../errors'
import { performance, setTimeout } from '../real-time'
import type { AfterCommit } from './after-commit'
import { NoConnection } from './bounded-pool'
import type { Engine } from './engine'

/**
 * The commit failed, for example because the connection was lost. `result` is the transaction's if the commit arrived.
 */
export class CutOff extends Error {
  constructor(
    override readonly cause: unknown,
    readonly result: unknown,
    /** True if the fault came after the database had committed. */
    readonly committed: boolean,
    readonly afterCommit: AfterCommit,
  ) {
    super('The commit has failed')
  }
}

export function unknownOutcome(cause: unknown): RecentnError {
  return new RecentnError('outcome_unknown', undefined, { cause, retryAfterMs: 1000 })
}

/**
 * Whether a COMMIT that failed with this error may have taken effect: the connection is lost, or the database could not
 * do all of it.
 */
export function leavesDoubt(engine: Engine, error: unknown): boolean {
  return engine.losesCommits && ['lost', 'unable'].includes(engine.failure(error))
}

/** How long the database may stay away before a commit that was cut off is reported as `outcome_unknown`. */
export const OUTCOME_MS = 10_000

/** Whether the commit has arrived, by a transaction that asks. Throws `outcome_unknown` if the database stays away. */
export async function learn(cutOff: CutOff, engine: Engine, ask: () => Promise<boolean>): Promise<boolean> {
  if (!engine.losesCommits) return false
  const deadline = performance.now() + OUTCOME_MS
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (error) {
      // The answer was read under a lock: it is true whether or not its own transaction committed.
      if (error instanceof CutOff) return error.result as boolean
      const isPassing = error instanceof NoConnection || engine.failure(error) !== 'other'
      if (!isPassing || performance.now() > deadline) throw unknownOutcome(cutOff.cause)
      await pause(Math.min(100 * tries, 1000))
    }
  }
}

/** A pause of random length, so that callers that collided do not collide again. */
export function pause(maxMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * maxMs))
}
