/**
 * Counts the calls of a mechanism that are not answered yet. They are bounded, so that a slow database leads to refusals
 * and not to a growing heap; and closing the mechanism waits for them.
 *
 * Invariant: every call that is admitted is settled exactly once.
 */
import { type ErrorCode, isPassing, RecentnError } from '../errors'

/** How a mechanism admits calls. */
export interface Admission {
  /** What the calls are, as an error names it. */
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

/** Beside passing errors: those whose cause is the database or the process, and not one of the calls. */
const SHARED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['schema_missing', 'closed'])

/** Whether an error of one statement or transaction for many calls is the error of each of them. */
export function isShared(error: unknown): boolean {
  return isPassing(error) || (error instanceof RecentnError && SHARED.has(error.code))
}

export class Pending {
  #items = 0
  #bytes = 0
  #closed = false
  #onIdle: (() => void)[] = []

  constructor(private readonly options: PendingOptions) {}

  /** How much is unanswered. */
  get items(): number {
    return this.#items
  }

  /** Admits a call, or throws `overloaded`, `closed`, or what the guard throws. */
  admit({ items, bytes }: Size): void {
    this.options.guard?.()
    if (this.#closed) throw new RecentnError('closed')
    const { what, maxItems, maxBytes = Number.POSITIVE_INFINITY } = this.options
    const isRoom = this.#items + items <= maxItems && this.#bytes + bytes <= maxBytes
    if (this.#items > 0 && !isRoom) {
      this.options.onOverload?.()
      throw new RecentnError('overloaded', `${this.#items} ${what} are not answered yet`, { retryAfterMs: 1000 })
    }
    this.#items += items
    this.#bytes += bytes
  }

  /** An admitted call is about to be answered. */
  settle({ items, bytes }: Size): void {
    this.#items -= items
    this.#bytes -= bytes
    if (this.#items === 0) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  /** Admits no later call; resolves when all admitted calls are settled. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#items === 0) return
    await new Promise<void>((resolve) => {
      this.#onIdle.push(resolve)
    })
  }
}
