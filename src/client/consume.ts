/**
 * `client.feeds.consume`: the loop of a consumer over REST. Any number of processes may run the loop of one consumer; each
 * change is given to at least one of them.
 *
 * Invariant: a cursor is stored only when the handlers of all changes up to it have resolved, here or elsewhere. One handler
 * runs at a time.
 */

import { Pauses, retrySeconds } from '../kit/backoff'
import { Faults } from '../kit/faults'
import { RecentnError } from '../recentn-error'
import { parseValues } from '../schema'
import * as loops from './loops'
import { pause } from './retry'
import type { NewCursor } from './wire'

const WAIT_SECONDS = 20
const LONGEST_PAUSE_MS = 5000
/** How long a handler has to end after its signal was aborted. */
const LAST_MS = 1000
const RULES = { ...loops.LOOP_RULES, limit: loops.whole(1, 1000), onExpired: loops.aFunction }

/** See `FeedsClient.consume`. Throws `invalid_input`. */
export function startConsumer(
  source: loops.ConsumeSource,
  names: readonly [feed: string, consumer: string],
  handler: loops.ConsumeHandler,
  options: loops.ConsumeOptions,
): loops.Running {
  loops.checkLoop(handler, options, RULES)
  return new RemoteConsumer(source, names, handler, options)
}

interface Unstored {
  cursor: bigint
  options: Omit<NewCursor, 'cursor'>
}

class RemoteConsumer implements loops.Running {
  readonly #source: loops.ConsumeSource
  readonly #names: readonly [feed: string, consumer: string]
  readonly #handler: loops.ConsumeHandler
  readonly #options: loops.ConsumeOptions
  readonly #faults: Faults<loops.Change[]>
  readonly #stopping = new AbortController()
  readonly #aborting = new AbortController()
  readonly #ended: Promise<void>
  /** The consumer's cursor, as far as is known; null when it has to be read. */
  #at: bigint | null = null
  /** The cursor of what was handled, until it is stored: otherwise all of it would be handled once more. */
  #unstored: Unstored | null = null
  /** Handlers in a row that have thrown. */
  #failures = 0

  constructor(
    source: loops.ConsumeSource,
    names: readonly [feed: string, consumer: string],
    handler: loops.ConsumeHandler,
    options: loops.ConsumeOptions,
  ) {
    this.#source = source
    this.#names = names
    this.#handler = handler
    this.#options = options
    const what = `read the feed ${names[0]} as ${names[1]}`
    this.#faults = new Faults({ who: 'consumer', what, onError: options.onError })
    if (options.signal?.aborted) this.#stopping.abort()
    this.#ended = this.#run()
    loops.stopBy(options.signal, () => void this.stop(), this.#ended)
  }

  async stop(options: loops.StopOptions = {}): Promise<void> {
    const patienceMs = loops.checkedPatience(options)
    this.#stopping.abort()
    if (patienceMs === null || (await loops.endsWithin(patienceMs, this.#ended))) return this.#ended
    this.#aborting.abort()
    await loops.endsWithin(LAST_MS, this.#ended)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const pauses = new Pauses(LONGEST_PAUSE_MS)
    while (!signal.aborted) {
      try {
        const pauseMs = await this.#step()
        pauses.reset()
        if (pauseMs > 0) await pause(pauseMs, signal)
      } catch (error) {
        this.#at = null
        if (signal.aborted) return
        this.#faults.database(error)
        await pause(Math.max(pauses.next(), (error as RecentnError).retryAfterMs ?? 0), signal)
      }
    }
  }

  /** Resolves to the milliseconds until the next step. */
  async #step(): Promise<number> {
    if (this.#unstored) await this.#store(this.#unstored)
    const page = await this.#read()
    if (page === null) return this.#startOver()
    const { changes, cursor, from } = page
    if (changes.length === 0) return 0
    const handle = async () => {
      await parseValues(this.#options.schema, changes)
      await this.#handler(changes, { signal: this.#aborting.signal, cursor, from })
    }
    if (!(await this.#handled(handle, changes))) return this.#backoffMs()
    await this.#store({ cursor, options: { from } })
    return 0
  }

  async #startOver(): Promise<number> {
    if (!(await this.#handled(() => this.#options.onExpired?.()))) return this.#backoffMs()
    await this.#store({ cursor: 0n, options: { force: true } })
    return 0
  }

  /** Null when the cursor has expired and the consumer is to start over. */
  async #read(): Promise<(loops.Changes & { from: bigint }) | null> {
    const { limit, onExpired } = this.#options
    const { signal } = this.#stopping
    try {
      this.#at ??= (await this.#source.getConsumer(...this.#names, { signal })).cursor
      const from = this.#at
      const page = await this.#source.changes(this.#names[0], { limit, waitSeconds: WAIT_SECONDS, signal, after: from })
      // Another process may have gone on meanwhile, or have started over.
      if (page.changes.length === 0) this.#at = null
      this.#faults.answered()
      return { ...page, from }
    } catch (error) {
      if (onExpired && error instanceof RecentnError && error.code === 'cursor_expired') return null
      throw error
    }
  }

  /** Whether the work has resolved, and in time. */
  async #handled(work: () => unknown, changes?: loops.Change[]): Promise<boolean> {
    const failure = await this.#faults.attempt(work, changes)
    if (failure) this.#at = null
    this.#failures = failure ? this.#failures + 1 : 0
    return !failure && !this.#aborting.signal.aborted
  }

  #backoffMs(): number {
    return this.#failures === 0 ? 0 : retrySeconds(this.#failures, loops.pausesOf(this.#options.backoff)) * 1000
  }

  /** What could not be stored is stored by the next step. */
  async #store(unstored: Unstored): Promise<void> {
    this.#at = null
    this.#unstored = unstored
    try {
      this.#at = (await this.#source.putConsumer(...this.#names, unstored.cursor, unstored.options)).cursor
      this.#unstored = null
      this.#faults.answered()
    } catch (error) {
      // Such a cursor will always be refused: the feed is another one by now.
      if (error instanceof RecentnError && error.code === 'invalid_input') this.#unstored = null
      throw error
    }
  }
}
