/**
 * The one error class of recentn and the one table of its codes.
 *
 * A code is a stable word that a program may compare; the message is for people and may change.
 * Which HTTP status a code gets is the business of `http/problem.ts`.
 */

/** Every code, with the sentence that titles it. */
export const ERROR_TITLES = {
  invalid_input: 'The input is not valid',
  malformed_json: 'The body is not well-formed JSON',
  not_found: 'There is no such resource',
  group_not_found: 'There is no such group',
  item_not_found: 'There is no such item in the window of the group',
  policy_not_found: 'There is no such policy',
  queue_not_found: 'There is no such queue',
  message_not_found: 'The queue has no such message',
  queue_in_use: 'Another queue has this one as its dead-letter queue',
  dead_letter_cycle: 'The dead-letter queues would close a circle',
  feed_not_found: 'There is no such feed',
  entry_not_found: 'The feed has no such entry',
  consumer_not_found: 'The feed has no such consumer',
  cursor_expired: 'Deletions after the cursor have been removed: start over at 0',
  method_not_allowed: 'The resource does not know this method',
  unsupported_media_type: 'The body must be application/json',
  body_too_large: 'The body is over the limit',
  unauthorized: 'Credentials are missing or not valid',
  forbidden: 'This is not allowed',
  overloaded: 'Too much is in flight',
  sequence_exhausted: 'The sequence has given out its last number',
  conflict: 'The transaction met a deadlock or a lock timeout and was rolled back',
  database_unavailable: 'The database cannot be reached',
  database_refused: 'The database cannot be used as it is',
  outcome_unknown: 'The connection was lost while committing; whether the write arrived is not known',
  schema_missing: 'The database has no recentn tables',
  schema_outdated: 'The recentn tables are older than this code',
  schema_too_new: 'The recentn tables are newer than this code',
  closed: 'The store is closed',
  draining: 'The server is about to stop',
  internal: 'Something went wrong inside',
} as const

export type ErrorCode = keyof typeof ERROR_TITLES

/** One fault of an input: where it is (a JSON pointer into the input, or a parameter's name) and what is wrong. */
export interface Fault {
  /** RFC 6901 pointer into the body or the argument, for example `/items/3/payload`; `''` is the whole. */
  pointer?: string
  /** The name of the path or query parameter, in place of `pointer`. */
  parameter?: string
  detail: string
}

/** What every operation of recentn throws. `faults` names every fault of a refused input at once. */
export class RecentnError extends Error {
  override readonly name = 'RecentnError'
  readonly code: ErrorCode
  readonly faults: readonly Fault[]
  /** Seconds after which a retry makes sense, where that can be said. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: ErrorCode,
    detail?: string,
    options: { faults?: readonly Fault[]; cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(detail ?? ERROR_TITLES[code], options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.faults = options.faults ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** The refusal of an input: `invalid_input` with all of its faults, the first ones in the message. */
export function invalidInput(faults: readonly Fault[]): RecentnError {
  const said = faults.slice(0, 3).map((fault) => `${fault.parameter ?? (fault.pointer || 'input')}: ${fault.detail}`)
  const more = faults.length > 3 ? ` (and ${faults.length - 3} more)` : ''
  return new RecentnError('invalid_input', said.join('; ') + more, { faults })
}
