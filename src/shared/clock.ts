/**
 * The clock that loops, claims and handlers go by. It is given: in Node it has timers that an app's fake timers do not reach.
 * Browsers load this file too: it depends on nothing.
 */

export interface Clock {
  /** Milliseconds, which never go back. */
  now(): number
  /** Runs it after that time; returns what cancels it. */
  after(ms: number, run: () => void): () => void
  endOfTurn(run: () => void): unknown
  /** May end early when the signal is aborted. */
  pause(ms: number, signal?: AbortSignal): Promise<void>
}

/** Longer timers fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** How long handlers have to end after their signals were aborted. */
export const LAST_MS = 1000

/** Whether the work ends in this time. */
export function endsWithin({ after }: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = after(Math.min(ms, LONGEST_TIMER_MS), () => resolve(false))
    work.then(() => resolve(true), reject).finally(cancel)
  })
}
