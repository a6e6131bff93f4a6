/**
 * The loop of a consumer: what comes after its stored cursor is given to a handler, and the cursor is stored when that has
 * done it. Any number of processes may run the loop of one consumer; each change is given to one of them at least, and
 * where one starts over they all do. No SQL.
 *
 * Invariant: a cursor is stored only when the handlers of all changes up to it have resolved, here or elsewhere; nothing
 * is given to a handler while another one runs.
 */
import { AsyncResource } from 'node:async_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { RecentnError } from '../../errors'
import { argumentFaults, faultsOf, optionRules, refuse } from '../../fields/field'
import { aFunction, anObject, backoffFaults, boundsOf, checkedStop } from '../../fields/options'
import { FORM, NAME, PAGE_LIMIT } from '../../fields/rules'
import { Pauses, retrySeconds } from '../../kit/backoff'
import { Faults } from '../../kit/faults'
import { handling, isHandling } from '../../kit/handling'
import { within } from '../../kit/patience'
import type { Change, Changes, Feeds, PutConsumerOptions } from '../../repositories/feeds/types'
import type { StopOptions } from '../worker/types'
import type { ConsumeHandler, ConsumeOptions, Consuming } from './types'

/** The loop belongs to no transaction and to no handler in which it was begun. */
const OUTSIDE = new AsyncResource('recentn.Consuming')
const WAIT_SECONDS = 20
const LONGEST_PAUSE_MS = 5000
/** For a handler whose signal was aborted. */
const GRACE_MS = 1000

const OPTIONS = optionRules<ConsumeOptions>({
  limit: PAGE_LIMIT,
  values: FORM,
  backoff: anObject,
  onExpired: aFunction,
  onError: aFunction,
})

type Source = Pick<Feeds, 'changes' | 'getConsumer' | 'putConsumer'>

interface Page extends Changes {
  from: bigint
}

/** `ended` resolves when no handler runs any more. */
export type Loop = Consuming & { readonly ended: Promise<void> }

/** Throws `invalid_input`, with every fault. */
export function consume(
  source: Source,
  [feed, consumer]: readonly [feed: string, consumer: string],
  handler: ConsumeHandler,
  options: ConsumeOptions,
): Loop {
  refuse([
    ...argumentFaults('feed', feed, NAME),
    ...argumentFaults('consumer', consumer, NAME),
    ...argumentFaults('handler', handler, aFunction),
    ...faultsOf(options, OPTIONS),
    ...backoffFaults(options?.backoff),
  ])
  return OUTSIDE.runInAsyncScope(() => new ConsumerLoop(source, feed, consumer, handler, options))
}

class ConsumerLoop implements Loop {
  readonly #source: Source
  readonly #feed: string
  readonly #consumer: string
  readonly #handler: ConsumeHandler
  readonly #options: ConsumeOptions
  readonly #faults: Faults<Change[]>
  readonly #pauses = new Pauses(LONGEST_PAUSE_MS)
  readonly #stopping = new AbortController()
  readonly #aborting = new AbortController()
  readonly ended: Promise<void>
  /** Where the consumer stands, as far as is known; null where that is to be read. */
  #at: bigint | null = null
  /** Handlers that have thrown, one after the other. */
  #failures = 0

  constructor(source: Source, feed: string, consumer: string, handler: ConsumeHandler, options: ConsumeOptions) {
    this.#source = source
    this.#feed = feed
    this.#consumer = consumer
    this.#handler = handler
    this.#options = options
    const what = `read the feed ${feed} as ${consumer}`
    this.#faults = new Faults({ who: 'consumer', what, onError: options.onError })
    this.ended = this.#run()
  }

  async stop(options: StopOptions = {}): Promise<void> {
    const patienceMs = checkedStop(options)
    this.#stopping.abort()
    if (isHandling(this)) return // it would wait for itself
    if (patienceMs === null) return this.ended
    const isOver = this.ended.then(() => true)
    if (await within(patienceMs, isOver)) return
    this.#aborting.abort()
    await within(GRACE_MS, isOver)
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const page = await this.#read()
      if (page === null || page.changes.length === 0 || this.#stopping.signal.aborted) continue
      if (await this.#handled(page)) await this.#store(page.cursor, { from: page.from })
    }
  }

  /** Null where there is nothing to handle. */
  async #read(): Promise<Page | null> {
    const { limit, values } = this.#options
    const options = { limit, values, waitSeconds: WAIT_SECONDS, signal: this.#stopping.signal }
    try {
      this.#at ??= (await this.#source.getConsumer(this.#feed, this.#consumer)).cursor
      const from = this.#at
      const page = await this.#source.changes(this.#feed, { ...options, after: from })
      // Another process may have gone on meanwhile, or have started over.
      if (page.changes.length === 0) this.#at = null
      this.#answered()
      return { ...page, from }
    } catch (error) {
      this.#at = null
      const { onExpired } = this.#options
      if (onExpired && error instanceof RecentnError && error.code === 'cursor_expired')
        await this.#startOver(onExpired)
      else await this.#failed(error)
      return null
    }
  }

  async #startOver(onExpired: NonNullable<ConsumeOptions['onExpired']>): Promise<void> {
    if (await this.#tried(() => onExpired())) await this.#store(0n, { force: true })
  }

  #handled({ changes, cursor, from }: Page): Promise<boolean> {
    return this.#tried(() => this.#handler(changes, { signal: this.#aborting.signal, cursor, from }), changes)
  }

  /** Whether it has resolved, and in time. Where it throws, waits. */
  async #tried(work: () => unknown, changes?: Change[]): Promise<boolean> {
    try {
      await handling(this, work)
      this.#failures = 0
      this.#faults.handled()
      return !this.#aborting.signal.aborted
    } catch (error) {
      this.#faults.handler(error, changes)
      this.#at = null
      await this.#pause(retrySeconds(++this.#failures, boundsOf(this.#options.backoff)) * 1000)
      return false
    }
  }

  /** Tries until it is stored: else all would be handled once more. Once the loop is stopped it is tried once. */
  async #store(cursor: bigint, options: PutConsumerOptions): Promise<void> {
    this.#at = null
    for (;;) {
      try {
        this.#at = (await this.#source.putConsumer(this.#feed, this.#consumer, cursor, options)).cursor
        return this.#answered()
      } catch (error) {
        await this.#failed(error)
        // Such a cursor will be refused for ever: the feed is another one by now.
        const isFinal = error instanceof RecentnError && error.code === 'invalid_input'
        if (isFinal || this.#stopping.signal.aborted) return
      }
    }
  }

  #answered(): void {
    this.#faults.answered()
    this.#pauses.reset()
  }

  async #failed(error: unknown): Promise<void> {
    if (error instanceof RecentnError && error.code === 'closed') this.#stopping.abort()
    else this.#faults.database(error)
    await this.#pause(this.#pauses.next())
  }

  /** Ends early when the loop is stopped. */
  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => {})
  }
}
