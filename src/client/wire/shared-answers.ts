// Made from the OpenAPI document by scripts/client-wire.cjs: not to be edited.
/** The bodies of answers. */

export interface Deleted {
  deleted: number
}

export interface GroupRemoved {
  id: bigint
}

export interface GroupReset {
  group: string
  /** 1 to 10000. */
  capacity: number
  mode: 'history' | 'distinct'
  total: bigint
}

/** Problem details, RFC 9457. */
export interface Problem {
  /** The address of what the reference says of the code, relative to the request. */
  type: string
  title: string
  /** 400 to 599. */
  status: number
  detail: string
  /** A stable word for programs. */
  code:
    | 'invalid_input'
    | 'malformed_json'
    | 'not_found'
    | 'group_not_found'
    | 'item_not_found'
    | 'policy_not_found'
    | 'queue_not_found'
    | 'message_not_found'
    | 'settings_changed'
    | 'queue_in_use'
    | 'dead_letter_cycle'
    | 'feed_not_found'
    | 'entry_not_found'
    | 'consumer_not_found'
    | 'cursor_expired'
    | 'method_not_allowed'
    | 'unsupported_media_type'
    | 'request_timeout'
    | 'target_too_long'
    | 'expectation_failed'
    | 'headers_too_large'
    | 'body_too_large'
    | 'unauthorized'
    | 'forbidden'
    | 'overloaded'
    | 'sequence_exhausted'
    | 'conflict'
    | 'database_unavailable'
    | 'database_refused'
    | 'outcome_unknown'
    | 'schema_missing'
    | 'schema_outdated'
    | 'schema_too_new'
    | 'closed'
    | 'draining'
    | 'internal'
  /** Every fault of a refused input. */
  errors?: { pointer?: string | undefined; parameter?: string | undefined; detail: string }[] | undefined
}
