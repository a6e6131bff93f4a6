/**
 * The errors of the library: the class, which knows every code here, and lists of faults. A client alone has the class without
 * the table of codes: it takes titles and statuses from answers.
 */
import { ERRORS, type ErrorCode } from './error-codes'
import { type Fault, type FaultSummary, known, RecentnError } from './recentn-error'
import { safeText } from './safe-text'

/** The most faults that a refusal lists; it counts the others. */
export const MAX_LISTED_FAULTS = 100

known.kinds = ERRORS
known.textOf = safeText
known.listed = (faults) => ('listed' in faults ? faults.listed : listedOf(faults, faults.length))

function listedOf(faults: readonly Fault[], count: number): readonly Fault[] {
  // A single further fault is listed: it takes as much space as the line that would count it.
  if (count <= MAX_LISTED_FAULTS + 1) return faults
  const more = { pointer: '', detail: `has ${count - MAX_LISTED_FAULTS} more faults` }
  return [...faults.slice(0, MAX_LISTED_FAULTS), more]
}

export { type ClientErrorCode, ERRORS, type ErrorCode, type ErrorKind, type StoreErrorCode } from './error-codes'
export { type ErrorFacts, type Fault, invalidInput, RecentnError } from './recentn-error'

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

/** Collects faults as they are found: an array, or a list that stays short. */
export interface FaultSink {
  push(fault: Fault): unknown
  readonly length: number
}

/** The faults of one input. It counts all of them, and keeps those that a refusal lists. */
export class FaultList implements FaultSink, FaultSummary {
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
