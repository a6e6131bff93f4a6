/** Errors as RFC 9457 problem details, with only what a client may see. */
import { type ServerResponse, STATUS_CODES } from 'node:http'
import { ERRORS, type ErrorCode, RecentnError } from '../../shared/errors'
import { traceOf } from '../metrics/traffic'
import { requestIdOf } from '../request-id'
import { deliver } from './sending'

type Headers = Record<string, string>

/** Anything that was thrown, as an error with a code: `internal` if it has none. */
export function toRecentnError(error: unknown): RecentnError {
  if (error instanceof RecentnError) return error
  // A second copy of this package in the same process throws its own class.
  if (error instanceof Error && error.name === 'RecentnError' && Object.hasOwn(ERRORS, (error as RecentnError).code)) {
    const { code, faults, status, retryAfterSeconds } = error as RecentnError
    return new RecentnError(code, error.message, { faults, status, retryAfterSeconds, cause: error })
  }
  return new RecentnError('internal', undefined, { cause: error })
}

/** Whether the error is reported to the operator: internal errors are, a refusal while the server stops is not. */
export function isFault(error: RecentnError): boolean {
  return error.status >= 500 && error.code !== 'draining'
}

/** Refuses a PUT that only creates. `existing`: JSON text of what is there; null where the caller may not see it. */
export class AlreadyExists extends RecentnError {
  constructor(readonly existing: string | null) {
    super('already_exists')
  }
}

/** A refusal that only repeats its HTTP status: its problem has the type `about:blank` of RFC 9457, and no code. */
export class StatusError extends RecentnError {
  constructor(status: 404 | 405 | 408 | 413 | 414 | 415 | 417 | 431, detail: string) {
    super('invalid_input', detail, { status })
  }
}

/** The page that explains each code, below the mount of the router. */
export const ERRORS_PATH = '/docs/errors'

/** The `type` of a problem: a reference to the entry of its code, for a router that is mounted at `base`. */
export function problemType(code: ErrorCode, base = ''): string {
  return `${base}${ERRORS_PATH}#${code}`
}

/** The JSON text of a problem for a router mounted at `base`. An internal error (5xx) shows its title only. */
export function problemText(error: RecentnError, base = '', requestId?: string): string {
  const { code, status, message } = error
  if (error instanceof StatusError) {
    return JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail: message, requestId })
  }
  const { title } = ERRORS[code]
  const existing = error instanceof AlreadyExists ? error.existing : null
  const text = JSON.stringify({
    type: problemType(code, base),
    title,
    status,
    detail: status >= 500 ? title : message,
    code,
    requestId,
    ...(error.faults.length > 0 && { errors: error.faults }),
  })
  return existing === null ? text : `${text.slice(0, -1)},"existing":${existing}}`
}

/** Answers with a problem. If an answer has begun already, closes the connection instead. */
export function sendProblem(response: ServerResponse, error: RecentnError, headers: Headers = {}): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const trace = traceOf(response)
  if (trace && !(error instanceof StatusError)) trace.problem = error.code
  const { status } = error
  // Express sets it to the mount of the router.
  const { baseUrl = '' } = response.req as { baseUrl?: string }
  const text = problemText(error, baseUrl, requestIdOf(response.req, response))
  response.writeHead(status, {
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    // The rest of this request may still come: it must not be read as the next one.
    ...(status === 408 && { Connection: 'close' }),
    ...((status === 429 || status === 503) && { 'Retry-After': String(retrySeconds(error)) }),
    ...headers,
  })
  deliver(response, text)
}

/** The header takes whole seconds only. */
function retrySeconds({ retryAfterSeconds = 1 }: RecentnError): number {
  return Math.max(1, Math.ceil(retryAfterSeconds))
}
