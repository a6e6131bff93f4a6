/**
 * The loop of a consumer, in a store and over REST. A handler gets the changes after its cursor, and the cursor is stored
 * when the handler has resolved. Any number of processes may run the loop of one consumer; each change is given to at least
 * one of them, and when one starts over they all do. Owns the cursor, as far as it is known. Browsers load this file too.
 *
 * Invariant: a cursor is stored only when the handlers of all changes up to it have resolved, here or elsewhere. One
 * handler runs at a time.
 */

import { retrySeconds } from './backoff'
import { Faults } from './faults'
import type { Change } from './feed-types'
import type { ConsumeHandler, ConsumeHandlingOptions } from './handler-types'
import { RecentnError } from './recentn-error'
import { Stepping, type Surroundings } from './running'
import { parseValues } from './schema'

/** How a cursor is moved: from where the page was read that is finished, or wherever it is. */
type CursorMove = { from: bigint } | { force: true }

interface Unstored {
  cursor: bigint
  move: CursorMove
}

/** Where changes come from, and where the cursor is kept. */
export interface ConsumeSource {
  cursor(signal: AbortSignal): Promise<bigint>
  read(after: bigint, signal: AbortSignal): Promise<{ changes: Change[]; cursor: bigint }>
  /** Resolves to the cursor that is stored then. */
  store(cursor: bigint, move: CursorMove): Promise<bigint>
}

export interface ConsumeSurroundings extends Surroundings {
  backoff: { minSeconds: number; maxSeconds: number }
}

export class ConsumerLoop extends Stepping {
  declare protected readonly surroundings: ConsumeSurroundings
  readonly #faults: Faults<Change[]>
  readonly #loop: Promise<void>
  readonly #aborting = new AbortController()
  /** Null when the cursor has to be read. */
  #at: bigint | null = null
  /** The cursor of what was handled, until it is stored: otherwise all of it would be handled once more. */
  #unstored: Unstored | null = null
  /** Handlers in a row that have thrown. */
  #failures = 0

  constructor(
    private readonly source: ConsumeSource,
    [feed, consumer]: readonly [feed: string, consumer: string],
    private readonly handle: ConsumeHandler,
    private readonly options: ConsumeHandlingOptions,
    surroundings: ConsumeSurroundings,
  ) {
    super(surroundings)
    const faults = new Faults<Change[]>({ ...options, who: 'consumer', what: `read the feed ${feed} as ${consumer}` })
    this.#faults = faults
    this.#loop = this.repeat(faults, (stopping) => this.#step(stopping))
    this.stopBy(options.signal)
  }

  protected end(): Promise<void> {
    return this.#loop
  }

  /** The cursor of the changes of the handler that runs is not stored. */
  protected hurry(): Promise<unknown> {
    this.#aborting.abort()
    return this.within(this.#loop)
  }

  /** Resolves to the milliseconds until the next step. It throws the errors of the source. */
  async #step(stopping: AbortSignal): Promise<number> {
    try {
      if (this.#unstored) await this.#store(this.#unstored)
      const { schema, around, onExpired } = this.options
      const page = await this.#read(stopping)
      if (page === null) return await this.#handled(() => onExpired?.(), { cursor: 0n, move: { force: true } })
      const { changes, ...range } = page
      if (stopping.aborted || changes.length === 0) return 0
      const handle = async () => {
        await parseValues(schema, changes)
        await this.handle(changes, { signal: this.#aborting.signal, ...range })
      }
      const unstored = { cursor: range.cursor, move: { from: range.from } }
      return await this.#handled(() => (around ? around(changes, handle) : handle()), unstored, changes)
    } catch (error) {
      this.#at = null
      throw error
    }
  }

  /** Null when the cursor has expired and the consumer is to start over. */
  async #read(signal: AbortSignal): Promise<{ changes: Change[]; cursor: bigint; from: bigint } | null> {
    const { source } = this
    try {
      this.#at ??= await source.cursor(signal)
      const from = this.#at
      const page = await source.read(from, signal)
      // Another process may have moved the cursor, or have started over.
      if (page.changes.length === 0) this.#at = null
      this.#faults.answered()
      return { ...page, from }
    } catch (error) {
      if (this.options.onExpired && isExpired(error)) return null
      throw error
    }
  }

  /** Stores the cursor when the work has resolved, and in time. Resolves to the milliseconds until the next step. */
  async #handled(work: () => unknown, unstored: Unstored, changes?: Change[]): Promise<number> {
    const failure = await this.#faults.attempt(work, changes)
    this.#at = null
    if (failure) return retrySeconds(++this.#failures, this.surroundings.backoff) * 1000
    this.#failures = 0
    if (!this.#aborting.signal.aborted) await this.#store(unstored)
    return 0
  }

  /** The next step stores what could not be stored. */
  async #store(unstored: Unstored): Promise<void> {
    this.#at = null
    this.#unstored = unstored
    try {
      this.#at = await this.source.store(unstored.cursor, unstored.move)
      this.#unstored = null
      this.#faults.answered()
    } catch (error) {
      // Such a cursor will always be refused: the feed is now another one.
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
