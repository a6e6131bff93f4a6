/**
 * Time: how long an attempt of a call may take, whether the call is attempted again, and after how long. A call that
 * does no harm twice is attempted again whatever went wrong. Any other call is attempted again only after an answer
 * that proves that nothing was done.
 */

import { LONGEST_TIMER_MS, onAbort, pauseMs } from '../shared/backoff'
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
  /** Its reason is a `TimeoutError` once the time is up. */
  readonly signal: AbortSignal
  /** The time that is left from now on, without a limit when left out; `late` says what did not come in this time. */
  clock(ms?: number, late?: string): void
  /** Stops the clock, aborts what is under way, and forgets the caller's signal, which may live long. */
  end(): void
}

export function timeLimit(caller: AbortSignal | undefined, timeMs: number): TimeLimit {
  const ending = new AbortController()
  const { signal } = ending
  let timer: ReturnType<typeof setTimeout> | undefined
  const clock = (ms?: number, late = 'no answer in time') => {
    clearTimeout(timer)
    const expire = () => ending.abort(new DOMException(late, 'TimeoutError'))
    if (Number.isFinite(ms)) timer = setTimeout(expire, Math.min(ms as number, LONGEST_TIMER_MS))
  }
  clock(timeMs)
  const forget = onAbort(caller, () => ending.abort())
  const end = () => {
    clock()
    forget()
    ending.abort()
  }
  return { signal, clock, end }
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const limit = timeLimit(signal, ms)
  await new Promise<void>((resolve) => void onAbort(limit.signal, resolve))
  limit.end()
}
