/**
 * Recording what became of each row, one transaction a row, so that a crash loses at most what was running; and counting
 * it. What is not recorded because the claim is not held any more is another poller's by now, or will be.
 */
import { RecentnError } from '../errors'
import type { Outcome } from '../repositories/polls/claims'
import { Pauses, retrySeconds } from './backoff'
import { sleep } from './patience'
import type { Lease } from './poller-leases'
import type { PollSettings } from './poller-options'
import type { PollResult } from './poller-types'
import { errorText } from './worker-faults'

export const LONGEST_PAUSE_MS = 10_000

/** What becomes of a row whose handler threw. */
export function failureOf(error: unknown, attempts: number, { maxAttempts, backoff }: PollSettings): Outcome {
  const text = errorText(error)
  if (attempts >= maxAttempts) return { is: 'failed', error: text }
  return { is: 'retry', delayMs: 1000 * retrySeconds(attempts, backoff), error: text }
}

export interface RecorderOptions {
  /** False: the claim is not held any more. */
  end: (lease: Lease, outcome: Outcome) => Promise<boolean>
  onFault: (error: unknown) => void
  /** The lease needs no renewal any more. */
  onEnd: (lease: Lease) => void
}

export class Recorder {
  readonly #options: RecorderOptions
  result: PollResult = nothing()

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Counts from here. */
  begin(): void {
    this.result = nothing()
  }

  claimed(rows: number, givenUp: number): void {
    this.result.claimed += rows
    this.result.failed += givenUp
  }

  lost(lease: Lease): void {
    this.result.lost++
    this.#options.onEnd(lease)
  }

  /** Tried until it is recorded or the claim is lost: the work was done. */
  async record(lease: Lease, outcome: Outcome): Promise<void> {
    const pauses = new Pauses(LONGEST_PAUSE_MS)
    while (!lease.isLost) {
      try {
        if (!(await this.#options.end(lease, outcome))) break
        this.#count(outcome)
        this.#options.onEnd(lease)
        return
      } catch (error) {
        this.#options.onFault(error)
        if (error instanceof RecentnError && error.code === 'closed') break
        await sleep(pauses.next())
      }
    }
    if (outcome.is !== 'released') this.result.lost++
    this.#options.onEnd(lease)
  }

  /** Gives back what still runs. */
  async abandon(lease: Lease): Promise<void> {
    if (lease.isLost) return
    this.lost(lease)
    lease.lose()
    await this.#options.end(lease, { is: 'released' }).catch(this.#options.onFault)
  }

  #count(outcome: Outcome): void {
    const { result } = this
    if (outcome.is === 'done') result.done++
    else if (outcome.is === 'retry') result.retried++
    else if (outcome.is === 'failed') result.failed++
  }
}

function nothing(): PollResult {
  return { claimed: 0, done: 0, retried: 0, failed: 0, lost: 0 }
}
