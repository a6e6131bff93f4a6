/**
 * Time: how long an attempt of a call may take, whether the call is attempted again, and after how long. A call that
 * does no harm twice is attempted again whatever went wrong. Any other call is attempted again only after an answer
 * that proves that nothing was done.
 */

import { LONGEST_TIMER_MS, pauseMs } from '../shared/backoff'
import type { ErrorCode } from '../shared/error-codes'
import type { RecentnError } from '../shared/recentn-error'

/**
 * `safe`: doing it twice has the effect of doing it once. `once`: repeated only if nothing was stored. `parts`: the server
 * does it in several transactions or statements, so that a refusal by the database does not prove that nothing was done.
 */
export type Repeat = 'safe' | 'once' | 'parts'

/** A 503 with one of these codes says that nothing was stored. One with `outcome_unknown` does not. */
const NOTHING_STORED: readonly ErrorCode[] = [
  'database_unavailable',
  'conflict',
  'closed',
  'draining',
  'schema_outdated',
]
const PASSING_STATUSES: readonly number[] = [429, 502, 503, 504]

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000
/** If the server asks for a longer wait, the caller gets the error. */
const LONGEST_RETRY_AFTER_SECONDS = 30

/** Milliseconds to wait before the next attempt; null if the call is not to be attempted again. */
export function retryDelay(error: RecentnError, repeat: Repeat, attempt: number): number | null {
  const { retryAfterSeconds = 0 } = error
  if (!mayRepeat(error, repeat) || retryAfterSeconds > LONGEST_RETRY_AFTER_SECONDS) return null
  return retryAfterSeconds * 1000 + pauseMs(attempt, FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
}

function mayRepeat({ code, status }: RecentnError, repeat: Repeat): boolean {
  if (status === 429) return true
  if (repeat === 'safe') return code === 'unreachable' || PASSING_STATUSES.includes(status)
  return repeat === 'once' && status === 503 && NOTHING_STORED.includes(code)
}

/** Whether a stream that ended with this error may work later. */
export function mayPass({ code, status }: RecentnError): boolean {
  return code === 'unreachable' || status === 500 || PASSING_STATUSES.includes(status)
}

/** The caller's signal and a time limit as one signal. */
export interface TimeLimit {
  readonly signal: AbortSignal
  /** Set once the time is up. */
  readonly timeout: Error | undefined
  /** No longer limits the time; the caller's signal still counts. */
  stopClock(): void
  /** Stops the clock and forgets the caller's signal, which may live long. */
  release(): void
  abort(): void
}

export function timeLimit(signal: AbortSignal | undefined, ms: number): TimeLimit {
  const ending = new AbortController()
  let timeout: Error | undefined
  const abort = () => ending.abort()
  const expire = () => {
    timeout = new DOMException('no answer in time', 'TimeoutError')
    abort()
  }
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  const timer = Number.isFinite(ms) ? setTimeout(expire, Math.min(ms, LONGEST_TIMER_MS)) : undefined
  return {
    signal: ending.signal,
    get timeout() {
      return timeout
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
