/**
 * The steps of a consumer: what comes after its cursor is given to a handler, and the cursor is stored when the handler has
 * resolved. Owns the cursor, as far as it is known; another process may move it. No SQL, no timers. Browsers load this file
 * too.
 *
 * Invariant: a cursor is stored only when the handlers of all changes up to it have resolved, here or elsewhere. One
 * handler runs at a time.
 */

import { retrySeconds } from './backoff'
import type { Faults } from './faults'
import { RecentnError } from './recentn-error'
import { type Around, surrounded } from './running'
import { parseValues, type StandardSchema } from './schema'

/** How a cursor is moved: from where the page was read that is finished, or wherever it is. */
export type CursorMove = { from: bigint } | { force: true }

interface Unstored {
  cursor: bigint
  move: CursorMove
}

export interface CursorStepsOptions<Change> {
  cursor(signal: AbortSignal): Promise<bigint>
  read(after: bigint, signal: AbortSignal): Promise<{ changes: Change[]; cursor: bigint }>
  /** Resolves to the cursor that is stored then. */
  store(cursor: bigint, move: CursorMove): Promise<bigint>
  schema?: StandardSchema | undefined
  around?: Around<Change[]>
  handle(changes: Change[], context: { signal: AbortSignal; cursor: bigint; from: bigint }): unknown
  /** When left out, the steps fail while the cursor has expired. */
  onExpired?: (() => unknown) | undefined
  backoff: { minSeconds: number; maxSeconds: number }
  faults: Faults<Change[]>
}

export class CursorSteps<Change extends { key: string; value: unknown; deleted: boolean }> {
  readonly #aborting = new AbortController()
  /** Null when the cursor has to be read. */
  #at: bigint | null = null
  /** The cursor of what was handled, until it is stored: otherwise all of it would be handled once more. */
  #unstored: Unstored | null = null
  /** Handlers in a row that have thrown. */
  #failures = 0

  constructor(private readonly options: CursorStepsOptions<Change>) {}

  /** Resolves to the milliseconds until the next step. What it throws is the source's error. */
  async step(stopping: AbortSignal): Promise<number> {
    try {
      if (this.#unstored) await this.#store(this.#unstored)
      const { schema, around, handle, onExpired } = this.options
      const page = await this.#read(stopping)
      if (page === null) return await this.#handled(() => onExpired?.(), { cursor: 0n, move: { force: true } })
      const { changes, ...range } = page
      if (stopping.aborted || changes.length === 0) return 0
      const handled = surrounded(around, async () => {
        await parseValues(schema, changes)
        await handle(changes, { signal: this.#aborting.signal, ...range })
      })
      const unstored = { cursor: range.cursor, move: { from: range.from } }
      return await this.#handled(() => handled(changes, null), unstored, changes)
    } catch (error) {
      this.#at = null
      throw error
    }
  }

  /** Aborts the signal of the handler that runs: the cursor of its changes is not stored. */
  abort(): void {
    this.#aborting.abort()
  }

  /** Null when the cursor has expired and the consumer is to start over. */
  async #read(signal: AbortSignal): Promise<{ changes: Change[]; cursor: bigint; from: bigint } | null> {
    const { cursor, read, onExpired, faults } = this.options
    try {
      this.#at ??= await cursor(signal)
      const from = this.#at
      const page = await read(from, signal)
      // Another process may have gone on meanwhile, or have started over.
      if (page.changes.length === 0) this.#at = null
      faults.answered()
      return { ...page, from }
    } catch (error) {
      if (onExpired && isExpired(error)) return null
      throw error
    }
  }

  /** Stores the cursor when the work has resolved, and in time. Resolves to the milliseconds until the next step. */
  async #handled(work: () => unknown, unstored: Unstored, changes?: Change[]): Promise<number> {
    const { faults, backoff } = this.options
    const failure = await faults.attempt(work, changes)
    this.#failures = failure ? this.#failures + 1 : 0
    if (!failure && !this.#aborting.signal.aborted) await this.#store(unstored)
    else this.#at = null
    return failure ? retrySeconds(this.#failures, backoff) * 1000 : 0
  }

  /** What could not be stored is stored by the next step. */
  async #store(unstored: Unstored): Promise<void> {
    this.#at = null
    this.#unstored = unstored
    try {
      this.#at = await this.options.store(unstored.cursor, unstored.move)
      this.#unstored = null
      this.options.faults.answered()
    } catch (error) {
      // Such a cursor will always be refused: the feed is another one by now.
      if (error instanceof RecentnError && error.code === 'invalid_input') this.#unstored = null
      throw error
    }
  }
}

/** The consumer's cursor; 0 of a feed that has not begun. */
export async function storedCursor(consumer: Promise<{ cursor: bigint }>): Promise<bigint> {
  try {
    return (await consumer).cursor
  } catch (error) {
    if (error instanceof RecentnError && error.code === 'feed_not_found') return 0n
    throw error
  }
}

export function isExpired(error: unknown): boolean {
  return error instanceof RecentnError && error.code === 'cursor_expired'
}
