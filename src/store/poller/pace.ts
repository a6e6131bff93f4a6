/** How many rows a poller claims at a time, and what it reports. */

import type { ClaimLimits } from '../../repositories/polls/claims'
import type { PollPlan } from '../../repositories/polls/plan'
import { Faults, guarded } from '../../shared/faults'
import type { PollSettings } from './options'
import type { PollOptions } from './types'

/** How long the handlers should take for the rows of one claim. */
const WORTH_MS = 1000

/** The reports of a poller: errors, and advice about the table. */
export class PollerFaults<T> extends Faults<T> {
  readonly #onWarning: PollOptions<T>['onWarning']

  constructor(name: string, { onError, onWarning }: Pick<PollOptions<T>, 'onError' | 'onWarning'>) {
    super({ who: 'poller', what: `poll ${name}`, onError })
    this.#onWarning = onWarning
  }

  advisePlan({ advice, notice, connections }: PollPlan, concurrency: number): void {
    if (advice !== null) this.#advise(advice, 'RECENTN_POLL_INDEX')
    if (notice !== null) this.#advise(notice, 'RECENTN_POLL_WHERE')
    if (connections !== null && concurrency >= connections) {
      this.#advise(
        `recentn polls with ${concurrency} handlers at once and a pool of ${connections} connections: where each ` +
          'handler holds one, none is left to renew their claims, which then run out. Make the pool larger',
        'RECENTN_POLL_POOL',
      )
    }
  }

  #advise(warning: string, code: 'RECENTN_POLL_INDEX' | 'RECENTN_POLL_WHERE' | 'RECENTN_POLL_POOL'): void {
    const onWarning = this.#onWarning
    if (onWarning) guarded('onWarning of a recentn poller', () => onWarning(warning))
    else process.emitWarning(warning, { code })
  }
}

/**
 * How many rows the next claim takes: as many as the handlers end in a second. Rows that wait here for a handler could be
 * handled by another process, and are what a crash leaves claimed. A claim for each row would be one more transaction each.
 */
export class BatchSize {
  #size: number
  readonly #atOnce: number

  constructor(private readonly settings: PollSettings) {
    this.#atOnce = settings.concurrency * settings.size
    this.#size = this.#bounded(this.#atOnce)
  }

  /**
   * The limits of a claim while handlers are free for this many rows. Rows whose last claim ran out, and rows that have one attempt
   * only, don't wait here for a handler. If the process died they would be given up for having waited.
   */
  limits(free: number): ClaimLimits {
    return { max: this.settings.maxAttempts === 1 ? free : this.#size, ranOut: free }
  }

  /** A claim of this many rows was handled in this time. The size doubles at most, and only when the claim was full. */
  handled(rows: number, ms: number): void {
    if (rows === 0) return
    const fitting = Math.ceil((rows * WORTH_MS) / Math.max(ms, 1))
    const most = rows >= this.#size ? 2 * this.#size : this.#size
    this.#size = this.#bounded(Math.max(Math.min(fitting, most), this.#atOnce))
  }

  #bounded(size: number): number {
    const { min, max } = this.settings.batch
    return Math.min(Math.max(size, min), max)
  }
}
