/**
 * Work that failed, and what is known of it: that it was not run, or that its commit was cut off and has to be looked up. Owns the
 * set of the errors of statements that others were to follow.
 */
import { RecentnError } from '../../shared/errors'
import { delay, performance } from '../../shared/platform'
import type { Engine } from '../engine'
import { USE_WITHIN } from '../inside'
import type { AfterCommit } from '../transaction-guard'

const earlier = new WeakSet<object>()

/** Notes that a statement failed which others were to follow. Returns the error. */
export function failedEarlier<Failure>(error: Failure): Failure {
  if (typeof error === 'object' && error !== null) earlier.add(error)
  return error
}

/** True if its statement was not run: one before it failed, or the connection was closed before. */
export function hasFailedEarlier(error: unknown): boolean {
  return typeof error === 'object' && error !== null && earlier.has(error)
}

/** No connection became free in time; nothing was sent. */
export class NoConnection extends RecentnError {}

export function noneFree(what: string, timeoutMs: number): NoConnection {
  const detail = `${what} within ${timeoutMs / 1000} s (connectionTimeoutSeconds). If your own transaction is open, the call may wait for it to end: ${USE_WITHIN}`
  return new NoConnection('overloaded', detail, { retryAfterSeconds: 1 })
}

/** The commit failed, for example because the connection was lost. `result` is the transaction's if the commit arrived. */
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

export interface LostCommit {
  startedAt: number
  ask: ((until: number) => Promise<boolean>) | undefined
}

export function unknownOutcome(cause: unknown): RecentnError {
  return new RecentnError('outcome_unknown', undefined, { cause, retryAfterSeconds: 1 })
}

/** Whether the database has said that it refused a COMMIT: nothing of the transaction is stored. */
export function isRefusedCommit(engine: Engine, error: unknown): boolean {
  return ['lost', 'conflict'].includes(engine.failure(error)) && !engine.leavesDoubt(error)
}

/** How long a call continues while its database is away, from the beginning of the call. */
export const AWAY_MS = 5000
/** Also a call whose statement has used up that time looks for its outcome. */
const LEAST_LOOK_MS = 500

/** When a call that began then gives up finding out its outcome. */
export function lookUntil(startedAt: number): number {
  return Math.max(startedAt + AWAY_MS, performance.now() + LEAST_LOOK_MS)
}

/** Whether the commit has arrived, by a transaction that asks until then. Throws `outcome_unknown` if the database stays away. */
async function learn(
  cutOff: CutOff,
  engine: Engine,
  startedAt: number,
  ask: (until: number) => Promise<boolean>,
): Promise<boolean> {
  if (!engine.losesCommits) return false
  const deadline = lookUntil(startedAt)
  for (let tries = 1; ; tries++) {
    try {
      return await ask(deadline)
    } catch (error) {
      // The answer was read under a lock: it is true whether or not its own transaction committed.
      if (error instanceof CutOff) return error.result as boolean
      const isPassing = error instanceof NoConnection || engine.failure(error) !== 'other'
      if (!isPassing || performance.now() > deadline) throw unknownOutcome(cutOff.cause)
      await pause(Math.min(100 * tries, 1000, deadline - performance.now() + 1))
    }
  }
}

/** The result of a write whose commit was cut off, if `ask` says that it has arrived. Otherwise throws. */
export async function settledCommit<T>(cutOff: CutOff, engine: Engine, { startedAt, ask }: LostCommit): Promise<T> {
  const { cause } = cutOff
  const hasArrived = cutOff.committed || (ask !== undefined && (await learn(cutOff, engine, startedAt, ask)))
  if (hasArrived) cutOff.afterCommit.run()
  if (ask && hasArrived) return cutOff.result as T
  // If the commit has not arrived, nothing has changed, and the lost connection is a reason to try again.
  // Otherwise the COMMIT may have taken effect: the connection is lost, or the database could not do all of it.
  const isDoubtful = engine.losesCommits && ['lost', 'unable'].includes(engine.failure(cause))
  throw ask || !isDoubtful ? cause : unknownOutcome(cause)
}

/** A pause of random length, so that callers that collided do not collide again. */
export function pause(maxMs: number): Promise<void> {
  return delay(Math.random() * maxMs)
}
