/**
 * The loop of a consumer: the changes after its stored cursor are given to a handler, and the cursor is stored when the
 * handler has resolved. Any number of processes may run the loop of one consumer; each change is given to at least one of
 * them, and when one starts over they all do. A loop with its cursor in memory is a consumer of its own. No SQL.
 *
 * Invariant: a cursor is stored only when the handlers of all changes up to it have resolved, here or elsewhere. One
 * handler runs at a time.
 */
import { RecentnError } from '../../errors'
import { argumentFaults, faultsOf, optionRules, refuse } from '../../fields/field'
import { aFunction, anObject, backoffFaults, boundsOf, checkedStop, option } from '../../fields/options'
import { FORM, NAME, oneOf, PAGE_LIMIT } from '../../fields/rules'
import { retrySeconds } from '../../kit/backoff'
import { Faults } from '../../kit/faults'
import { handling, isHandling } from '../../kit/handling'
import { Loop } from '../../kit/loop'
import { within } from '../../kit/patience'
import type { Change, Changes, Feeds, PutConsumerOptions } from '../../repositories/feeds/types'
import { parseValues, schemaFault } from '../../schema'
import type { StopOptions } from '../worker/types'
import type { ConsumeHandler, ConsumeOptions, Consuming } from './types'

const WAIT_SECONDS = 20
const LONGEST_PAUSE_MS = 5000
/** How long a handler has to end after its signal was aborted. */
const GRACE_MS = 1000

const OPTIONS = optionRules<ConsumeOptions>({
  cursor: oneOf(['stored', 'memory']),
  limit: PAGE_LIMIT,
  values: FORM,
  backoff: anObject,
  schema: option(schemaFault),
  onExpired: aFunction,
  onError: aFunction,
})

type Source = Pick<Feeds, 'changes' | 'getConsumer' | 'putConsumer'>

interface ReadPage extends Changes {
  from: bigint
}

interface Unstored {
  cursor: bigint
  options: PutConsumerOptions
}

/** Throws `invalid_input`, with every fault. */
export function consume(
  source: Source,
  [feed, consumer]: readonly [feed: string, consumer: string],
  handler: ConsumeHandler,
  options: ConsumeOptions,
): ConsumerLoop {
  refuse([
    ...argumentFaults('feed', feed, NAME),
    ...argumentFaults('consumer', consumer, NAME),
    ...argumentFaults('handler', handler, aFunction),
    ...faultsOf(options, OPTIONS),
    ...backoffFaults(options?.backoff),
    ...(options?.schema && options.values === 'text'
      ? [{ pointer: '/schema', detail: 'needs values, not texts' }]
      : []),
  ])
  return new ConsumerLoop(source, feed, consumer, handler, options)
}

export class ConsumerLoop implements Consuming {
  readonly #source: Source
  readonly feed: string
  readonly #consumer: string
  readonly #handler: ConsumeHandler
  readonly #options: ConsumeOptions
  readonly #faults: Faults<Change[]>
  readonly #loop: Loop
  readonly #aborting = new AbortController()
  #end: () => void = () => {}
  /** Resolves when no handler runs any more. */
  readonly ended = new Promise<void>((resolve) => {
    this.#end = resolve
  })
  /** The consumer's cursor, as far as is known; null when it has to be read. */
  #at: bigint | null = null
  /** The cursor of what was handled, until it is stored: otherwise all of it would be handled once more. */
  #unstored: Unstored | null = null
  /** The cursor of a consumer that keeps it in memory, otherwise null. */
  #kept: bigint | null
  /** Handlers in a row that have thrown. */
  #failures = 0

  constructor(source: Source, feed: string, consumer: string, handler: ConsumeHandler, options: ConsumeOptions) {
    this.#source = source
    this.feed = feed
    this.#consumer = consumer
    this.#handler = handler
    this.#options = options
    this.#kept = options.cursor === 'memory' ? 0n : null
    const what = `read the feed ${feed} as ${consumer}`
    this.#faults = new Faults({ who: 'consumer', what, onError: options.onError })
    this.#loop = new Loop({
      round: (stopping) => this.#round(stopping),
      faultPauses: { firstMs: 100, longestMs: LONGEST_PAUSE_MS },
      onFault: (error) => this.#faults.database(error),
      keepsAlive: true,
    })
    this.#loop.wake()
  }

  async stop(options: StopOptions = {}): Promise<void> {
    const patienceMs = checkedStop(options)
    this.#stopLoop()
    if (isHandling(this)) return // it would wait for itself
    if (patienceMs === null) return this.ended
    const isOver = this.ended.then(() => true)
    if (await within(patienceMs, isOver)) return
    this.#aborting.abort()
    await within(GRACE_MS, isOver)
  }

  #stopLoop(): void {
    void this.#loop.stop().then(this.#end)
  }

  async #round(stopping: AbortSignal): Promise<number | null> {
    try {
      return await this.#step(stopping)
    } catch (error) {
      this.#at = null
      if (!(error instanceof RecentnError && error.code === 'closed')) throw error
      this.#stopLoop()
      return null
    }
  }

  /** Resolves to the milliseconds until the next step. */
  async #step(stopping: AbortSignal): Promise<number> {
    if (this.#unstored) await this.#store(this.#unstored)
    const page = await this.#read(stopping)
    if (page === null) return this.#startOver()
    if (stopping.aborted || page.changes.length === 0) return 0
    const { changes, cursor, from } = page
    const context = { signal: this.#aborting.signal, cursor, from }
    const handle = async () => {
      await parseValues(this.#options.schema, changes)
      await this.#handler(changes, context)
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
  async #read(signal: AbortSignal): Promise<ReadPage | null> {
    const { limit, values, onExpired } = this.#options
    try {
      const from = this.#at ?? (await this.#cursor())
      this.#at = from
      const options = { limit, values, waitSeconds: WAIT_SECONDS, signal, after: from }
      const page = await this.#source.changes(this.feed, options)
      // Another process may have gone on meanwhile, or have started over.
      if (page.changes.length === 0) this.#at = null
      this.#faults.answered()
      return { ...page, from }
    } catch (error) {
      if (onExpired && isExpired(error)) return null
      throw error
    }
  }

  async #cursor(): Promise<bigint> {
    return this.#kept ?? (await this.#source.getConsumer(this.feed, this.#consumer)).cursor
  }

  /** Whether all that is published by now is handled. */
  async isCaughtUp(): Promise<boolean> {
    try {
      const { changes } = await this.#source.changes(this.feed, { after: await this.#cursor(), limit: 1 })
      return changes.length === 0
    } catch (error) {
      if (this.#options.onExpired && isExpired(error)) return false
      throw error
    }
  }

  /** Whether the work has resolved, and in time. */
  async #handled(work: () => unknown, changes?: Change[]): Promise<boolean> {
    const failure = await this.#faults.attempt(() => handling(this, work), changes)
    if (failure) this.#at = null
    this.#failures = failure ? this.#failures + 1 : 0
    return !failure && !this.#aborting.signal.aborted
  }

  #backoffMs(): number {
    return this.#failures === 0 ? 0 : retrySeconds(this.#failures, boundsOf(this.#options.backoff)) * 1000
  }

  /** What could not be stored is stored by the next round. */
  async #store(unstored: Unstored): Promise<void> {
    if (this.#kept !== null) {
      this.#kept = unstored.cursor
      this.#at = unstored.cursor
      return
    }
    this.#at = null
    this.#unstored = unstored
    try {
      this.#at = (await this.#source.putConsumer(this.feed, this.#consumer, unstored.cursor, unstored.options)).cursor
      this.#unstored = null
      this.#faults.answered()
    } catch (error) {
      // Such a cursor will always be refused: the feed is another one by now.
      if (error instanceof RecentnError && error.code === 'invalid_input') this.#unstored = null
      throw error
    }
  }
}

function isExpired(error: unknown): boolean {
  return error instanceof RecentnError && error.code === 'cursor_expired'
}
