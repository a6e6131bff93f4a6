/**
 * The handling of one claimed row, from the look whether its claim still holds to its recorded result. Whatever the handler
 * throws, and whatever the database says, ends here.
 */
import { handling, isHandling } from '../../kit/handling'
import type { Claim, Outcome } from '../../repositories/polls/claims'
import type { Loaded } from '../../repositories/polls/rows'
import type { PollerFaults } from './faults'
import type { Lease, Leases } from './leases'
import type { PollSettings } from './options'
import { failureOf, type Recorder } from './results'
import type { PollHandler } from './types'

/** A row that waited here for longer is read again before its handler. */
const FRESH_MS = 1000

export interface RowsOptions<T> {
  handler: PollHandler<T>
  /** The row as it is now; null: it is not to be handled any more. */
  reread: (claim: Claim) => Promise<Loaded | null>
  settings: PollSettings
  faults: PollerFaults<T>
  leases: Leases
  recorder: Recorder
}

export class Rows<T> {
  readonly #options: RowsOptions<T>

  constructor(options: RowsOptions<T>) {
    this.#options = options
  }

  /** True for code that a handler of this poller runs: what waits for the handler must not be waited for there. */
  get isInside(): boolean {
    return isHandling(this)
  }

  async run(lease: Lease): Promise<void> {
    const { leases, recorder, faults } = this.#options
    try {
      const row = await this.#fresh(lease)
      // A claim that took longer than it lasts, or a row that waited for long: no handler has seen it, no attempt counts.
      const isToHandle = row !== null && (lease.holds || (await leases.revive(lease)))
      if (isToHandle) await recorder.record(lease, await this.#handle(lease, row))
      else await recorder.release(lease)
    } catch (error) {
      faults.database(error)
      leases.remove(lease)
    }
  }

  /** Null: it left what is polled while it waited here, or that can't be asked. */
  async #fresh({ claim, claimedAt }: Lease): Promise<Loaded | null> {
    if (performance.now() - claimedAt < FRESH_MS) return claim.row
    try {
      return await this.#options.reread(claim)
    } catch (error) {
      this.#options.faults.database(error)
      return null
    }
  }

  async #handle(lease: Lease, { load, key }: Loaded): Promise<Outcome> {
    const { handler, settings, faults } = this.#options
    const { attempts } = lease.claim
    let row = key as T
    try {
      row = load() as T
      await handling(this, () => handler(row, { signal: lease.signal, attempt: attempts }))
      faults.handled()
      return { is: 'done' }
    } catch (error) {
      faults.handler(error, row)
      return failureOf(error, attempts, settings)
    }
  }
}
