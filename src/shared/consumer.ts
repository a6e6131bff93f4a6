/**
 * The loop of a consumer, in a store and over REST. Any number of processes may run the loop of one consumer; each change is
 * given to at least one of them, and when one starts over they all do. A loop with its cursor in memory is a consumer of its
 * own. `shared/cursor-steps.ts` has the invariant. Browsers load this file too.
 */

import { CursorSteps, type CursorStepsOptions } from './cursor-steps'
import { Faults } from './faults'
import type { ConsumeContext, ConsumeHandlingOptions } from './handling-shapes'
import { type StopOptions, Stoppable } from './running'

/** How long a handler has to end after its signal was aborted. */
const LAST_MS = 1000

interface ConsumedChange {
  key: string
  value: unknown
  deleted: boolean
}

/** Where changes come from, and where the cursor is kept. */
export type ConsumeSource<Change> = Pick<CursorStepsOptions<Change>, 'cursor' | 'read' | 'store'>

/** What the clock and the checks of the process are. */
export interface ConsumeSurroundings {
  backoff: { minSeconds: number; maxSeconds: number }
  /** Makes steps until the signal is aborted: each resolves to the milliseconds until the next one. */
  repeat(stopping: AbortSignal, faults: Faults<never>, step: () => Promise<number>): Promise<void>
  /** Milliseconds of patience, or null for no end of it. Throws `invalid_input`. */
  patienceOf(options: StopOptions): number | null
  endsWithin(ms: number, work: Promise<unknown>): Promise<boolean>
  /** Runs a handler so that `isHandling` knows it. */
  handling?(owner: object, handler: () => unknown): Promise<unknown>
  isHandling?(owner: object): boolean
  /** The source is closed: there is nothing to ask any more. */
  isOver?(error: unknown): boolean
}

export class ConsumerLoop<Change extends ConsumedChange> extends Stoppable {
  readonly #steps: CursorSteps<Change>
  readonly #stopping = new AbortController()
  readonly #loop: Promise<void>

  constructor(
    source: ConsumeSource<Change>,
    [feed, consumer]: readonly [feed: string, consumer: string],
    handler: (changes: Change[], context: ConsumeContext) => unknown,
    options: ConsumeHandlingOptions<unknown, Change>,
    private readonly surroundings: ConsumeSurroundings,
  ) {
    super()
    const { schema, around, onExpired, onError, signal } = options
    const { backoff, handling = (_, handle) => handle(), isOver } = surroundings
    const faults = new Faults<Change[]>({ who: 'consumer', what: `read the feed ${feed} as ${consumer}`, onError })
    this.#steps = new CursorSteps<Change>({
      ...source,
      schema,
      around,
      backoff,
      faults,
      handle: (changes, context) => handling(this, () => handler(changes, context)),
      onExpired: onExpired && (() => handling(this, onExpired)),
    })
    const { signal: stopping } = this.#stopping
    const step = () =>
      this.#steps.step(stopping).catch((error: unknown) => {
        if (!isOver?.(error)) throw error
        this.#stopping.abort()
        return 0
      })
    this.#loop = surroundings.repeat(stopping, faults, step)
    void this.#loop.then(this.ended)
    this.stopBy(signal)
  }

  async stop(options: StopOptions = {}): Promise<void> {
    const { patienceOf, endsWithin, isHandling } = this.surroundings
    const patienceMs = patienceOf(options)
    this.#stopping.abort()
    if (isHandling?.(this)) return // it would wait for itself
    if (patienceMs === null || (await endsWithin(patienceMs, this.#loop))) return this.#loop
    this.#steps.abort()
    await endsWithin(LAST_MS, this.#loop)
    this.ended()
  }
}
