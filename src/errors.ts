/**
 * The one error class of recentn, of the library and of its client, and the one table of its codes. Browsers load this
 * file too: it depends on nothing.
 *
 * A code is a stable word that a program may compare; the message is for people and may change. What each code means
 * and what to do about it is in `error-reference.ts`.
 */

/** The title of a code, and its HTTP status. */
export interface ErrorKind {
  readonly title: string
  readonly status: number
}

/** Every code. `unreachable` and `unexpected_answer` are the client's own; a server never answers them. */
export const ERRORS = {
  invalid_input: { status: 400, title: 'The input is not valid' },
  malformed_json: { status: 400, title: 'The body is not well-formed JSON' },
  not_found: { status: 404, title: 'There is no such resource' },
  group_not_found: { status: 404, title: 'There is no such group' },
  item_not_found: { status: 404, title: 'There is no such item in the window of the group' },
  policy_not_found: { status: 404, title: 'There is no such policy' },
  queue_not_found: { status: 404, title: 'There is no such queue' },
  message_not_found: { status: 404, title: 'The queue has no such message' },
  schedule_not_found: { status: 404, title: 'There is no such schedule' },
  settings_changed: { status: 409, title: 'The settings have changed since they were read' },
  queue_in_use: { status: 409, title: 'Another queue has this one as its dead-letter queue' },
  dead_letter_cycle: { status: 400, title: 'The dead-letter queues would form a cycle' },
  feed_not_found: { status: 404, title: 'There is no such feed' },
  entry_not_found: { status: 404, title: 'The feed has no such entry' },
  consumer_not_found: { status: 404, title: 'The feed has no such consumer' },
  cursor_expired: { status: 410, title: 'Deletions after the cursor have been removed: start over at 0' },
  method_not_allowed: { status: 405, title: 'The resource does not know this method' },
  unsupported_media_type: { status: 415, title: 'The body must be application/json' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  target_too_long: { status: 414, title: 'The path and the query are too long' },
  expectation_failed: { status: 417, title: 'The server does not do what the Expect header asks for' },
  headers_too_large: { status: 431, title: 'The headers are too long, or too many' },
  body_too_large: { status: 413, title: 'The body is over the limit' },
  unauthorized: { status: 401, title: 'Credentials are missing or not valid' },
  forbidden: { status: 403, title: 'This is not allowed' },
  overloaded: { status: 429, title: 'Too many pending requests: retry later' },
  sequence_exhausted: { status: 409, title: 'The sequence has given out its last number' },
  conflict: { status: 503, title: 'The transaction met a deadlock or a lock timeout and was rolled back' },
  database_unavailable: { status: 503, title: 'The database is not available at present' },
  database_refused: { status: 503, title: 'The database cannot be used as it is' },
  outcome_unknown: {
    status: 503,
    title: 'The connection was lost while committing; whether the write arrived is not known',
  },
  schema_missing: { status: 503, title: 'The database has no recentn tables' },
  schema_outdated: { status: 503, title: 'The recentn tables are older than this code' },
  schema_too_new: { status: 503, title: 'The recentn tables are newer than this code' },
  closed: { status: 503, title: 'The store is closed' },
  draining: { status: 503, title: 'The server is about to stop' },
  internal: { status: 500, title: 'Internal error' },
  unreachable: { status: 503, title: 'No answer came from the server' },
  unexpected_answer: { status: 502, title: 'The answer is not one of a recentn server' },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof ERRORS

/** The codes that only the client has. */
export type ClientErrorCode = 'unreachable' | 'unexpected_answer'

/** Codes of errors that pass by themselves: the call is worth another try. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'conflict',
  'database_unavailable',
  'outcome_unknown',
  'overloaded',
])

export function isPassing(error: unknown): boolean {
  return error instanceof RecentnError && PASSING.has(error.code)
}

/** One fault of an input: where it is (a JSON pointer into the input, or a parameter's name) and what is wrong. */
export interface Fault {
  /** RFC 6901 pointer into the body or the argument, for example `/items/3/payload`; `''` is the whole. */
  pointer?: string | undefined
  /** The name of the path or query parameter, in place of `pointer`. */
  parameter?: string | undefined
  detail: string
}

/** The facts of an error in addition to its code and message. */
export interface ErrorFacts {
  faults?: readonly Fault[] | FaultList | undefined
  cause?: unknown
  /** Milliseconds after which a retry makes sense. */
  retryAfterMs?: number | undefined
  /** The status of the client's answer. Default: the status of the code. */
  status?: number | undefined
  requestId?: string | undefined
}

/** The most faults that a refusal lists; it counts the others. A hostile input can have millions of faults. */
export const MAX_LISTED_FAULTS = 100

/** Collects faults as they are found: an array, or a list that stays short. */
export interface FaultSink {
  push(fault: Fault): unknown
  readonly length: number
}

/** The faults of one input. It counts all of them, and keeps those that a refusal lists. */
export class FaultList implements FaultSink {
  readonly #kept: Fault[] = []
  #count = 0

  push(fault: Fault): void {
    if (this.#count++ <= MAX_LISTED_FAULTS) this.#kept.push(fault)
  }

  get length(): number {
    return this.#count
  }

  /** The faults that a refusal lists: all of them, or the first ones and the number of the others. */
  get listed(): readonly Fault[] {
    return listedOf(this.#kept, this.#count)
  }
}

function listedOf(faults: readonly Fault[], count: number): readonly Fault[] {
  // A single further fault is listed: it takes as much space as the line that would count it.
  if (count <= MAX_LISTED_FAULTS + 1) return faults
  const more = { pointer: '', detail: `has ${count - MAX_LISTED_FAULTS} more faults` }
  return [...faults.slice(0, MAX_LISTED_FAULTS), more]
}

/**
 * The error that every operation of the library and of the client throws. `faults` lists all faults of a refused input
 * at once: up to 100, and the number of the others.
 */
export class RecentnError extends Error {
  override readonly name = 'RecentnError'
  readonly code: ErrorCode
  /** The HTTP status that REST answers it with. In the client the status of the answer; 503 where no answer came. */
  readonly status: number
  readonly faults: readonly Fault[]
  /** Milliseconds after which a retry makes sense; undefined if it is not known. */
  readonly retryAfterMs: number | undefined
  /** For an error that the client throws: the `X-Request-Id` of the answer, which the server's log has too. */
  readonly requestId: string | undefined

  constructor(code: ErrorCode, detail?: string, facts: ErrorFacts = {}) {
    super(detail ?? ERRORS[code].title, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = code
    const { faults = [] } = facts
    this.faults = faults instanceof FaultList ? faults.listed : listedOf(faults, faults.length)
    this.status = facts.status ?? statusOf(code, this.faults)
    this.retryAfterMs = facts.retryAfterMs
    this.requestId = facts.requestId
  }
}

function statusOf(code: ErrorCode, faults: readonly Fault[]): number {
  // An unknown dead-letter queue in the settings is a fault of the input.
  return code === 'queue_not_found' && faults.length > 0 ? 400 : ERRORS[code].status
}

/** The refusal of an input: `invalid_input` with all of its faults, the first ones in the message. */
export function invalidInput(faults: readonly Fault[] | FaultList): RecentnError {
  const listed = faults instanceof FaultList ? faults.listed : faults
  const said = listed.slice(0, 3).map((fault) => `${fault.parameter ?? (fault.pointer || 'input')}: ${fault.detail}`)
  const more = faults.length > 3 ? ` (and ${faults.length - 3} more)` : ''
  return new RecentnError('invalid_input', said.join('; ') + more, { faults })
}
