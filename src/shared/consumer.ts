/**
 * The loop of a consumer, in a store and over REST. Any number of processes may run the loop of one consumer; each change is
 * given to at least one of them, and when one starts over they all do. A loop with its cursor in memory is a consumer of its
 * own. `shared/cursor-steps.ts` has the invariant. Browsers load this file too.
 */

import { CursorSteps, type CursorStepsOptions } from './cursor-steps'
import { Faults } from './faults'
import type { ConsumeContext, ConsumeHandlingOptions } from './handling-shapes'
import { Stepping, type Surroundings } from './running'

interface ConsumedChange {
  key: string
  value: unknown
  deleted: boolean
}

/** Where changes come from, and where the cursor is kept. */
export type ConsumeSource<Change> = Pick<CursorStepsOptions<Change>, 'cursor' | 'read' | 'store'>

export class ConsumerLoop<Change extends ConsumedChange> extends Stepping {
  readonly #steps: CursorSteps<Change>
  readonly #loop: Promise<void>

  constructor(
    source: ConsumeSource<Change>,
    [feed, consumer]: readonly [feed: string, consumer: string],
    handle: (changes: Change[], context: ConsumeContext) => unknown,
    options: ConsumeHandlingOptions<unknown, Change>,
    surroundings: Surroundings & Pick<CursorStepsOptions<Change>, 'backoff'>,
  ) {
    super(surroundings)
    const what = `read the feed ${feed} as ${consumer}`
    const faults = new Faults<Change[]>({ ...options, who: 'consumer', what })
    this.#steps = new CursorSteps<Change>({ ...options, ...source, ...surroundings, faults, handle })
    this.#loop = this.repeat(faults, (stopping) => this.#steps.step(stopping))
    this.stopBy(options.signal)
  }

  protected end(): Promise<void> {
    return this.#loop
  }

  protected hurry(): Promise<unknown> {
    this.#steps.abort()
    return this.within(this.#loop)
  }
}
