/** What the client throws: one class, with the same words as the server's. */
import type { Problem } from './wire/answers'

/**
 * The server's codes, and two of the client's own: `unreachable`, no answer came (a write may be done or not), and
 * `unexpected_answer`, one came that is not recentn's, of a proxy in between for example.
 */
export type ErrorCode = Problem['code'] | 'unreachable' | 'unexpected_answer'

/** One fault of an input: `pointer` (RFC 6901) into the body, or the name of a `parameter`; and what is wrong. */
export type Fault = NonNullable<Problem['errors']>[number]

export interface ErrorFacts {
  status?: number
  faults?: readonly Fault[]
  requestId?: string
  retryAfterMs?: number
  cause?: unknown
}

/** `faults` names every fault of a refused input at once. */
export class RecentnError extends Error {
  override readonly name = 'RecentnError'
  readonly code: ErrorCode
  /** The HTTP status; undefined where there was no answer. */
  readonly status: number | undefined
  readonly faults: readonly Fault[]
  /** The `X-Request-Id` of the answer, which the server's log has too. */
  readonly requestId: string | undefined
  /** After so long a retry makes sense, where the server says so. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: ErrorCode,
    detail: string,
    { status, faults = [], requestId, retryAfterMs, cause }: ErrorFacts = {},
  ) {
    super(detail, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.faults = faults
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
  }
}

/** The refusal of an argument before anything is sent. */
export function invalidInput(...faults: Fault[]): RecentnError {
  const said = faults.map(({ parameter, pointer, detail }) => `${parameter ?? pointer}: ${detail}`)
  return new RecentnError('invalid_input', said.join('; '), { faults })
}

/** The error of an answer that is none of the good ones. */
export function errorOf(status: number, headers: Headers, text: string): RecentnError {
  const problem = problemOf(headers, text)
  const facts = { status, requestId: headers.get('X-Request-Id') ?? undefined, retryAfterMs: retryAfterOf(headers) }
  if (problem === null) {
    return new RecentnError(
      'unexpected_answer',
      `The answer (${status}) is not recentn's: ${text.slice(0, 200)}`,
      facts,
    )
  }
  return new RecentnError(problem.code, problem.detail, { ...facts, faults: problem.errors })
}

function problemOf(headers: Headers, text: string): Problem | null {
  if (!headers.get('Content-Type')?.startsWith('application/problem+json')) return null
  try {
    const problem = JSON.parse(text)
    return typeof problem?.code === 'string' && typeof problem.detail === 'string' ? problem : null
  } catch {
    return null
  }
}

/** Seconds, or a date. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')
  if (text === null) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
