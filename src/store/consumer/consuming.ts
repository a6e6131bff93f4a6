/**
 * The loop of a consumer of a store. Any number of processes may run the loop of one consumer; each change is given to at
 * least one of them, and when one starts over they all do. A loop with its cursor in memory is a consumer of its own.
 * `kit/cursor-steps.ts` has the invariant. No SQL.
 */
import { RecentnError } from '../../errors'
import { argumentFaults, faultsOf, optionRules, refuse } from '../../fields/field'
import { aFunction, anObject, backoffFaults, boundsOf, checkedStop, option } from '../../fields/options'
import { FORM, nameFaults, oneOf, PAGE_LIMIT, SIGNAL } from '../../fields/rules'
import { CursorSteps, isExpired, storedCursor } from '../../kit/cursor-steps'
import { Faults } from '../../kit/faults'
import { handling, isHandling } from '../../kit/handling'
import { Loop } from '../../kit/loop'
import { within } from '../../kit/patience'
import type { Change, Feeds } from '../../repositories/feeds/types'
import { schemaFault } from '../../schema'
import { type StopOptions, Stoppable } from '../../shared/running'
import type { ConsumeHandler, ConsumeOptions } from './types'

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
  signal: SIGNAL,
  around: aFunction,
  onExpired: aFunction,
  onError: aFunction,
})

type Source = Pick<Feeds, 'changes' | 'cursor' | 'moveCursor'>

/** Throws `invalid_input`, with every fault. */
export function startConsumer(
  source: Source,
  [feed, consumer]: readonly [feed: string, consumer: string],
  handler: ConsumeHandler,
  options: ConsumeOptions,
): ConsumerLoop {
  refuse([
    ...nameFaults('feed', feed),
    ...nameFaults('consumer', consumer),
    ...argumentFaults('handler', handler, aFunction),
    ...faultsOf(options, OPTIONS),
    ...backoffFaults(options?.backoff),
    ...(options?.schema && options.values === 'text'
      ? [{ pointer: '/schema', detail: 'needs values, not texts' }]
      : []),
  ])
  return new ConsumerLoop(source, feed, consumer, handler, options)
}

export class ConsumerLoop extends Stoppable {
  readonly #source: Source
  readonly #names: readonly [feed: string, consumer: string]
  readonly #onExpired: ConsumeOptions['onExpired']
  readonly #steps: CursorSteps<Change>
  readonly #loop: Loop
  /** The cursor of a consumer that keeps it in memory, otherwise null. */
  #kept: bigint | null

  constructor(source: Source, feed: string, consumer: string, handler: ConsumeHandler, options: ConsumeOptions) {
    super()
    this.#source = source
    this.#names = [feed, consumer]
    this.#onExpired = options.onExpired
    this.#kept = options.cursor === 'memory' ? 0n : null
    const { limit, values, schema, around, onExpired, onError } = options
    const faults = new Faults({ who: 'consumer', what: `read the feed ${feed} as ${consumer}`, onError })
    this.#steps = new CursorSteps<Change>({
      cursor: () => this.#cursor(),
      read: (after, signal) => source.changes(feed, { limit, values, waitSeconds: WAIT_SECONDS, signal, after }),
      store: async (cursor, move) => {
        if (this.#kept === null) return (await source.moveCursor(feed, consumer, cursor, move)).cursor
        this.#kept = cursor
        return cursor
      },
      schema,
      around,
      handle: (changes, context) => handling(this, () => handler(changes, context)),
      onExpired: onExpired && (() => handling(this, onExpired)),
      backoff: boundsOf(options.backoff),
      faults,
    })
    this.#loop = new Loop({
      round: (stopping) => this.#round(stopping),
      faultPauses: { firstMs: 100, longestMs: LONGEST_PAUSE_MS },
      onFault: (error) => faults.database(error),
      keepsAlive: true,
    })
    this.#loop.wake()
    this.stopBy(options.signal)
  }

  async stop(options: StopOptions = {}): Promise<void> {
    const patienceMs = checkedStop(options)
    this.#stopLoop()
    if (isHandling(this)) return // it would wait for itself
    if (patienceMs === null) return this.stopped
    const isOver = this.stopped.then(() => true)
    if (await within(patienceMs, isOver)) return
    this.#steps.abort()
    await within(GRACE_MS, isOver)
    this.ended()
  }

  #stopLoop(): void {
    void this.#loop.stop().then(this.ended)
  }

  async #round(stopping: AbortSignal): Promise<number | null> {
    try {
      return await this.#steps.step(stopping)
    } catch (error) {
      if (!(error instanceof RecentnError && error.code === 'closed')) throw error
      this.#stopLoop()
      return null
    }
  }

  async #cursor(): Promise<bigint> {
    return this.#kept ?? (await storedCursor(this.#source.cursor(...this.#names)))
  }

  /** Whether all that is published by now is handled. */
  async isCaughtUp(): Promise<boolean> {
    try {
      const { changes } = await this.#source.changes(this.#names[0], { after: await this.#cursor(), limit: 1 })
      return changes.length === 0
    } catch (error) {
      if (this.#onExpired && isExpired(error)) return false
      throw error
    }
  }
}
