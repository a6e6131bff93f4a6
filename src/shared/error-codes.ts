/**
 * The one table of error codes. A code is a stable word that a program may compare. The meaning of each code and what to do about
 * it is in `docs/errors.md`.
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
  group_not_found: { status: 404, title: 'There is no such group' },
  item_not_found: { status: 404, title: 'There is no such item in the window of the group' },
  policy_not_found: { status: 404, title: 'There is no such policy' },
  queue_not_found: { status: 404, title: 'There is no such queue' },
  message_not_found: { status: 404, title: 'The queue has no such message' },
  schedule_not_found: { status: 404, title: 'There is no such schedule' },
  settings_changed: { status: 412, title: 'The settings have changed since they were read' },
  already_exists: { status: 412, title: 'There is one of this name already' },
  stale_receipt: { status: 409, title: 'The claim of the message has ended' },
  invalid_receipt: { status: 400, title: 'The text is not a receipt handle of this queue' },
  queue_in_use: { status: 409, title: 'Another queue has this one as its dead-letter queue' },
  queue_full: { status: 429, title: 'The queue has its maximum number of messages' },
  too_many: { status: 409, title: 'The prefix has its maximum number of names of this kind' },
  dead_letter_queue_not_found: { status: 400, title: 'The dead-letter queue does not exist' },
  dead_letter_cycle: { status: 400, title: 'The dead-letter queues would form a cycle' },
  feed_not_found: { status: 404, title: 'There is no such feed' },
  entry_not_found: { status: 404, title: 'The feed has no such entry' },
  version_changed: { status: 412, title: 'The entry has changed since it was read' },
  consumer_not_found: { status: 404, title: 'The feed has no such consumer' },
  cursor_expired: { status: 410, title: 'Changes after the cursor are no longer known: start over at 0' },
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
  misuse: { status: 500, title: 'The program uses the store in a way that cannot work' },
  internal: { status: 500, title: 'Internal error' },
  unreachable: { status: 503, title: 'No answer came from the server' },
  unexpected_answer: { status: 502, title: 'The answer has no code of a recentn server' },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof ERRORS

/** The codes that only the client has. `unexpected_answer` is that of every refusal without a code: its `status` says which. */
export type ClientErrorCode = 'unreachable' | 'unexpected_answer'

/** The codes that only a server answers. */
type ServerErrorCode =
  | 'malformed_json'
  | 'group_not_found'
  | 'item_not_found'
  | 'policy_not_found'
  | 'message_not_found'
  | 'schedule_not_found'
  | 'too_many'
  | 'entry_not_found'
  | 'consumer_not_found'
  | 'unauthorized'
  | 'forbidden'
  | 'draining'
  | 'internal'

/** The codes that the library's own calls throw. */
export type StoreErrorCode = Exclude<ErrorCode, ClientErrorCode | ServerErrorCode>
