/** Ends of waiting: a caller's signal and a time limit as one, and pauses that a signal cuts short. */

export interface Limit {
  readonly signal: AbortSignal
  /** The time was up. */
  readonly isOver: boolean
  /** No longer limits the time; the caller's signal still counts. */
  stopClock(): void
  /** Forgets the caller's signal, which may live for long. */
  release(): void
  abort(): void
}

/** Aborted with the signal, or after `ms`. */
export function limitOf(signal: AbortSignal | undefined, ms: number): Limit {
  const ending = new AbortController()
  let isOver = false
  const abort = () => ending.abort()
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  const timer = Number.isFinite(ms) ? setTimeout(expire, ms) : undefined
  function expire(): void {
    isOver = true
    abort()
  }
  return {
    signal: ending.signal,
    get isOver() {
      return isOver
    },
    stopClock: () => clearTimeout(timer),
    release() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
    abort,
  }
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done)
  })
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason
}
