/**
 * The handling of one claimed row, from the look whether its claim still holds to its recorded result. Whatever the handler
 * throws, and whatever the database says, ends here.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Outcome } from '../../repositories/polls/claims'
import type { PollerFaults } from './faults'
import type { Lease, Leases } from './leases'
import type { PollSettings } from './options'
import { failureOf, type Recorder } from './results'
import type { PollHandler } from './types'

export interface RowsOptions<T> {
  handler: PollHandler<T>
  settings: PollSettings
  faults: PollerFaults<T>
  leases: Leases
  recorder: Recorder
}

export class Rows<T> {
  readonly #options: RowsOptions<T>
  /** What runs in a handler that has not ended. */
  readonly #handling = new AsyncLocalStorage<{ active: boolean }>()

  constructor(options: RowsOptions<T>) {
    this.#options = options
  }

  /** True for code that a handler of this poller runs: what waits for the handler must not be waited for there. */
  get isInside(): boolean {
    return this.#handling.getStore()?.active === true
  }

  async run(lease: Lease): Promise<void> {
    const { leases, recorder, faults } = this.#options
    try {
      // A claim that took longer than it lasts, or a row that waited for long: no handler has seen it, no attempt counts.
      if (lease.holds || (await leases.revive(lease))) await recorder.record(lease, await this.#handle(lease))
      else await recorder.record(lease, { is: 'released' })
    } catch (error) {
      faults.database(error)
      leases.remove(lease)
    }
  }

  async #handle(lease: Lease): Promise<Outcome> {
    const { handler, settings, faults } = this.#options
    const { row, attempts } = lease.claim
    const scope = { active: true }
    try {
      await this.#handling.run(scope, () => handler(row as T, { signal: lease.signal, attempt: attempts }))
      return { is: 'done' }
    } catch (error) {
      faults.handler(error, row as T)
      return failureOf(error, attempts, settings)
    } finally {
      scope.active = false
    }
  }
}
