/**
 * When a call is made again, and after how long. What may be repeated without harm is repeated whatever went wrong in
 * between. What may not is repeated only after an answer that proves that nothing was done.
 */
import type { ErrorCode, RecentnError } from '../errors'

/**
 * `safe`: doing it twice is as doing it once. `once`: only when nothing was stored. `parts`: done in several transactions
 * or statements, so that a refusal by the database does not prove that nothing was done.
 */
export type Repeat = 'safe' | 'once' | 'parts'

/** With these a 503 of the server's says that nothing was stored; with `outcome_unknown` it does not. */
const NOTHING_STORED: readonly ErrorCode[] = [
  'database_unavailable',
  'conflict',
  'closed',
  'draining',
  'schema_outdated',
]
const PASSING: readonly number[] = [429, 502, 503, 504]

const FIRST_MS = 100
const LONGEST_MS = 5000
/** Who is told to come back later than this is told so by the error. */
const MOST_PATIENT_MS = 30_000

/** Milliseconds to wait before the next attempt; null where there is to be none. */
export function retryDelay(error: RecentnError, repeat: Repeat, attempt: number): number | null {
  if (!mayRepeat(error, repeat)) return null
  const { retryAfterMs = 0 } = error
  return retryAfterMs > MOST_PATIENT_MS ? null : retryAfterMs + backoff(attempt, FIRST_MS, LONGEST_MS)
}

function mayRepeat({ code, status }: RecentnError, repeat: Repeat): boolean {
  if (status === 429) return true
  if (repeat === 'safe') return code === 'unreachable' || PASSING.includes(status)
  return repeat === 'once' && status === 503 && NOTHING_STORED.includes(code)
}

/** Whether it may work later: of a stream, which is begun anew as often as it takes. */
export function mayPass({ code, status }: RecentnError): boolean {
  return code === 'unreachable' || status === 500 || PASSING.includes(status)
}

/** Grows by the attempt, and differs from client to client, so that not all come back at once. */
export function backoff(attempt: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** attempt) * (0.5 + Math.random() / 2)
}
