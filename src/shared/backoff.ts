/**
 * How long to wait before a retry: of a failed message by its receive count, of a statement by how often the database has failed in
 * a row. Always with jitter, so that callers that failed together don't come back together. Browsers load this file too: it depends
 * on nothing.
 */

/**
 * Whole seconds until a message that failed is handed out again. It is `minSeconds` at first, doubled with each receive, plus up
 * to a half of that, so that below the maximum no pause is shorter than the one before it. With `minSeconds` 0 there is
 * no first pause, and the second is one second.
 */
export function retrySeconds(
  receiveCount: number,
  bounds: { minSeconds: number; maxSeconds: number },
  random = Math.random,
): number {
  const { minSeconds, maxSeconds } = bounds
  const doubled = (minSeconds || (receiveCount > 1 ? 0.5 : 0)) * 2 ** (receiveCount - 1)
  const longest = Math.min(1.5 * doubled, maxSeconds)
  return Math.max(minSeconds, Math.round(longest * (1 - random() / 3)))
}

/** Doubled with each failure, and different in each process, so that they do not all come back at once: a half of it, or up to all. */
export function pauseMs(failures: number, firstMs: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** failures, longestMs) * (0.5 + Math.random() / 2)
}

/** The pauses of one loop that asks the database: doubled with each fault in a row. */
export class Pauses {
  #faults = 0

  constructor(
    private readonly longestMs: number,
    private readonly firstMs = 100,
  ) {}

  /** Milliseconds to wait after one more fault. */
  next(): number {
    return pauseMs(this.#faults++, this.firstMs, this.longestMs)
  }

  reset(): void {
    this.#faults = 0
  }
}

/** The clock that loops, claims and handlers go by. It is given: in Node it has timers that an app's fake timers do not reach. */
export interface Clock {
  /** Milliseconds, which never go back. */
  now(): number
  /** Runs it after that time; returns what cancels it. */
  after(ms: number, run: () => void): () => void
  endOfTurn(run: () => void): unknown
  /** May end early when the signal is aborted. */
  pause(ms: number, signal?: AbortSignal): Promise<void>
}

/** Runs it when the signal is aborted, which may be so already. Returns what takes it off the signal, which may live long. */
export function onAbort(signal: AbortSignal | undefined, run: () => unknown): () => void {
  if (signal?.aborted) run()
  signal?.addEventListener('abort', run)
  return () => signal?.removeEventListener('abort', run)
}

/** Longer timers fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

export function endsWithin({ after }: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = after(Math.min(ms, LONGEST_TIMER_MS), () => resolve(false))
    work.then(() => resolve(true), reject).finally(cancel)
  })
}

/** A function of which one run at a time serves all who call it until it ends. */
export function sharing<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null
  return () => {
    running ??= run().finally(() => {
      running = null
    })
    return running
  }
}
