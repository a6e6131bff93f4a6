/**
 * Counts the calls of a mechanism that are not answered yet. They are bounded, so that a slow database leads to refusals
 * and not to a growing heap; and closing the mechanism waits for them.
 *
 * Invariant: every call that is admitted is settled exactly once.
 */
import { type ErrorCode, isPassing, RecentnError } from '../shared/errors'
import type { Requester } from '../shared/requests'
import { InFlight } from '../shared/settle-batch'

/** How a mechanism admits calls. */
export interface Admission {
  /** The calls, as an error names them. */
  what: string
  /** Throws when the caller must not call. */
  guard?: (() => void) | undefined
  /** Called for each call that is refused with `overloaded`. */
  onOverload?: (() => void) | undefined
}

interface PendingOptions extends Admission {
  /** The most that may be unanswered; when nothing else is, one call is admitted whatever its size. */
  maxItems: number
  maxBytes?: number
}

export interface Size {
  items: number
  bytes: number
}

export function answer<Result>(caller: Requester<Result>, result: Result | RecentnError): void {
  try {
    if (result instanceof RecentnError) throw result
    caller.resolve(result)
  } catch (error) {
    caller.reject(error)
  }
}

/** Beside passing errors: those whose cause is the database or the process, and not one of the calls. */
const SHARED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['schema_missing', 'closed'])

/** Whether an error of one statement or transaction for many calls is the error of each of them. */
export function isShared(error: unknown): boolean {
  return isPassing(error) || (error instanceof RecentnError && SHARED.has(error.code))
}

export class PendingCalls {
  readonly #items = new InFlight()
  #bytes = 0
  #isClosed = false

  constructor(private readonly options: PendingOptions) {}

  /** How much is unanswered. */
  get items(): number {
    return this.#items.count
  }

  /** Admits a call, or throws `overloaded`, `closed`, or what the guard throws. */
  admit({ items, bytes }: Size): void {
    this.options.guard?.()
    const { what, maxItems, maxBytes = Number.POSITIVE_INFINITY } = this.options
    if (this.#isClosed) throw new RecentnError('closed')
    const { count } = this.#items
    const isRoom = count === 0 || (count + items <= maxItems && this.#bytes + bytes <= maxBytes)
    if (!isRoom) {
      this.options.onOverload?.()
      throw new RecentnError('overloaded', `${count} ${what} are not answered yet`, { retryAfterSeconds: 1 })
    }
    this.#items.begin(items)
    this.#bytes += bytes
  }

  /** An admitted call is about to be answered. */
  settle({ items, bytes }: Size): void {
    this.#bytes -= bytes
    this.#items.end(items)
  }

  /** Admits no later call; resolves when all admitted calls are settled. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#items.none()
  }
}
