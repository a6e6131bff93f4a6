/**
 * What callers have asked and were not answered yet: bounded, so that a database that is slow makes refusals and no
 * heap, and waited for when the store closes. Invariant: what is admitted is settled exactly once.
 */
import { type ErrorCode, isPassing, RecentnError } from '../errors'

export interface PendingOptions {
  /** What the calls are, as an error says it. */
  what: string
  /** What may be unanswered at the most; one call is taken whatever its size when nothing else is. */
  maxItems: number
  maxBytes?: number
  /** Throws when the caller must not call: what is thrown refuses the call. */
  guard?: (() => void) | undefined
  /** Told of each call that is refused with `overloaded`. */
  onOverload?: (() => void) | undefined
}

/** How much a call is. */
export interface Size {
  items: number
  bytes: number
}

/** Beside what passes: causes that lie with the database, or the process, not with one call of those asked together. */
const SHARED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['schema_missing', 'closed'])

/** Whether an error that one statement or transaction gave to many calls is every one's own. */
export function isShared(error: unknown): boolean {
  return isPassing(error) || (error instanceof RecentnError && SHARED.has(error.code))
}

export class Pending {
  readonly #options: PendingOptions
  #items = 0
  #bytes = 0
  #closed = false
  #idle: (() => void) | null = null

  constructor(options: PendingOptions) {
    this.#options = options
  }

  /** Null for a call that is taken; else why it is not: `closed`, or `overloaded`. */
  admit({ items, bytes }: Size): RecentnError | null {
    this.#options.guard?.()
    if (this.#closed) return new RecentnError('closed')
    const { what, maxItems, maxBytes = Number.POSITIVE_INFINITY } = this.#options
    const isRoom = this.#items + items <= maxItems && this.#bytes + bytes <= maxBytes
    if (this.#items > 0 && !isRoom) {
      this.#options.onOverload?.()
      return new RecentnError('overloaded', `${this.#items} ${what} wait for the database`, { retryAfterMs: 1000 })
    }
    this.#items += items
    this.#bytes += bytes
    return null
  }

  /** A call is being answered. */
  settle({ items, bytes }: Size): void {
    this.#items -= items
    this.#bytes -= bytes
    if (this.#items === 0) this.#idle?.()
  }

  /** Admits nothing from now on; resolves when all that was is settled. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#items === 0) return
    await new Promise<void>((resolve) => {
      this.#idle = resolve
    })
  }
}
