/**
 * The one error class of recentn, of the library and of its client. Browsers load this file: it depends on nothing, and
 * does not have the table of codes.
 */
import type { ErrorCode, ErrorKind } from './error-codes'

/** Facts that a client's bundle does without: `errors.ts` fills it. */
export const known = {
  /** The title and status of a code, for an error that does not give its own. */
  kinds: {} as Partial<Record<ErrorCode, ErrorKind>>,
  /** The faults that a refusal lists. A hostile input can have millions of faults, but no client makes one of those. */
  listed: (faults: readonly Fault[] | FaultSummary) => faults as readonly Fault[],
  /** The text of an error for a log: those of a database's driver have users' values in them. */
  textOf: (error: unknown) => String(error),
}

/** One fault of an input: where it is (a JSON pointer into the input, or a parameter's name) and what is wrong. */
export interface Fault {
  /** RFC 6901 pointer into the body or the argument, for example `/items/3/payload`; `''` is the whole. */
  pointer?: string | undefined
  /** The name of the path or query parameter, in place of `pointer`. */
  parameter?: string | undefined
  detail: string
}

/** A reference token of RFC 6901. */
export function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Faults of an input that may have millions of them, as `FaultList` counts them. */
export interface FaultSummary {
  readonly listed: readonly Fault[]
  readonly length: number
}

/** The facts of an error in addition to its code and message. */
export interface ErrorFacts {
  faults?: readonly Fault[] | FaultSummary | undefined
  cause?: unknown
  /** Seconds after which a retry makes sense. */
  retryAfterSeconds?: number | undefined
  /** Default: the status of the code. */
  status?: number | undefined
  requestId?: string | undefined
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
  /** Seconds after which a retry makes sense; undefined if it is not known. */
  readonly retryAfterSeconds: number | undefined
  /** For an error that the client throws: the `X-Request-Id` of the answer, which the server's log has too. */
  readonly requestId: string | undefined

  /** An error that a program makes by hand where only the client is loaded needs its `detail` and `status`. */
  constructor(code: ErrorCode, detail?: string, facts: ErrorFacts = {}) {
    const kind = known.kinds[code]
    super(detail ?? kind?.title ?? code, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = code
    this.faults = known.listed(facts.faults ?? [])
    this.status = facts.status ?? kind?.status ?? 500
    this.retryAfterSeconds = facts.retryAfterSeconds
    this.requestId = facts.requestId
  }
}

/** The refusal of an input: `invalid_input` with all of its faults, the first ones in the message. */
export function invalidInput(faults: readonly Fault[] | FaultSummary): RecentnError {
  const listed = 'listed' in faults ? faults.listed : faults
  const said = listed.slice(0, 3).map((fault) => `${fault.parameter ?? (fault.pointer || 'input')}: ${fault.detail}`)
  const more = faults.length > 3 ? ` (and ${faults.length - 3} more)` : ''
  return new RecentnError('invalid_input', said.join('; ') + more, { faults, status: 400 })
}
