/** Errors as RFC 9457 problem details: which code gets which status, and what of an error a client may see. */
import type { ServerResponse } from 'node:http'
import { ERROR_TITLES, type ErrorCode, RecentnError } from '../../errors'
import { traceOf } from '../metrics/traffic'

export const STATUS_OF: Readonly<Record<ErrorCode, number>> = {
  invalid_input: 400,
  malformed_json: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  group_not_found: 404,
  item_not_found: 404,
  policy_not_found: 404,
  queue_not_found: 404,
  message_not_found: 404,
  feed_not_found: 404,
  entry_not_found: 404,
  consumer_not_found: 404,
  dead_letter_cycle: 400,
  method_not_allowed: 405,
  queue_in_use: 409,
  sequence_exhausted: 409,
  cursor_expired: 410,
  body_too_large: 413,
  unsupported_media_type: 415,
  overloaded: 429,
  internal: 500,
  conflict: 503,
  database_unavailable: 503,
  database_refused: 503,
  outcome_unknown: 503,
  schema_missing: 503,
  schema_outdated: 503,
  schema_too_new: 503,
  closed: 503,
  draining: 503,
}

/** More faults than this are counted instead of listed, so that a hostile body can't make an answer many times its size. */
export const MAX_LISTED_FAULTS = 1000

type Headers = Record<string, string>

/** Whatever was thrown, as an error with a code; what has none becomes `internal`. */
export function toRecentnError(error: unknown): RecentnError {
  if (error instanceof RecentnError) return error
  // A second copy of this package in the same process throws a class of its own.
  if (error instanceof Error && error.name === 'RecentnError' && (error as { code?: string }).code !== undefined) {
    const { code, faults, retryAfterSeconds } = error as RecentnError
    if (code in STATUS_OF) return new RecentnError(code, error.message, { faults, retryAfterSeconds, cause: error })
  }
  return new RecentnError('internal', undefined, { cause: error })
}

export function statusOf({ code, faults }: RecentnError): number {
  // A queue that the input names, as a dead-letter queue, is a fault of the input.
  if (code === 'queue_not_found' && faults.length > 0) return 400
  return STATUS_OF[code]
}

/** Whether whoever runs the server should hear of it: what went wrong inside, not that it was told to stop. */
export function isFault(error: RecentnError): boolean {
  return statusOf(error) >= 500 && error.code !== 'draining'
}

/** The JSON text of a problem. What went wrong inside (5xx) is told by its title only. */
export function problemText(error: RecentnError): string {
  const status = statusOf(error)
  const title = ERROR_TITLES[error.code]
  const listed = error.faults.slice(0, MAX_LISTED_FAULTS)
  const left = error.faults.length - listed.length
  if (left > 0) listed.push({ pointer: '', detail: `has ${left} more faults` })
  return JSON.stringify({
    type: `urn:recentn:problem:${error.code}`,
    title,
    status,
    detail: status >= 500 ? title : error.message,
    code: error.code,
    ...(listed.length > 0 && { errors: listed }),
  })
}

/** Answers with a problem, unless an answer is under way already; then the connection is cut. */
export function sendProblem(response: ServerResponse, error: RecentnError, headers: Headers = {}): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const trace = traceOf(response)
  if (trace) trace.problem = error.code
  const status = statusOf(error)
  const text = problemText(error)
  response.writeHead(status, {
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...((status === 429 || status === 503) && { 'Retry-After': String(error.retryAfterSeconds ?? 1) }),
    ...headers,
  })
  response.end(text)
}
