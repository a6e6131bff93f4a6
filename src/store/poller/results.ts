/**
 * Recording what became of each row, one transaction a row, so that a crash loses at most what was running; and counting
 * it. What is not recorded because the claim is not held any more is another poller's by now, or will be.
 */
import { isPassing, RecentnError } from '../../errors'
import { Pauses, retrySeconds } from '../../kit/backoff'
import { errorText } from '../../kit/faults'
import { sleep } from '../../kit/patience'
import type { Outcome } from '../../repositories/polls/claims'
import { isUnrecoverable } from '../unrecoverable'
import type { Lease } from './leases'
import type { PollSettings } from './options'
import type { PollResult } from './types'

export const LONGEST_PAUSE_MS = 10_000

/** How long it is tried to give a row back that somebody has locked, as claims of others do for a moment. */
export const RELEASE_MS = 1000
const LOOK_MS = 50

/** What becomes of a row whose handler threw. */
export function failureOf(error: unknown, attempts: number, { maxAttempts, backoff }: PollSettings): Outcome {
  const text = errorText(error)
  if (attempts >= maxAttempts || isUnrecoverable(error)) return { is: 'failed', error: text }
  return { is: 'retry', delayMs: 1000 * retrySeconds(attempts, backoff), error: text }
}

/** How often a result is given to a database that refuses it for no reason that passes, as far as can be told. */
const ASKS = 3

/** What to record of a row whose result is refused: in plain characters, then as failed, then without a text. */
function insteadOf(outcome: Outcome, refusal: unknown): Outcome[] {
  const why = `The table refuses the result: ${errorText(refusal)}`
  const error = plain('error' in outcome ? (outcome.error ?? '') : why)
  const failed: Outcome[] = [
    { is: 'failed', error },
    { is: 'failed', error: null },
  ]
  return outcome.is === 'retry' ? [{ ...outcome, error }, { ...outcome, error: null }, ...failed] : failed
}

function plain(text: string): string {
  return text.replace(/[^ -~]/g, '?').slice(0, 200)
}

export interface RecorderOptions {
  /** False: the claim is not held any more. */
  end: (lease: Lease, outcome: Outcome) => Promise<boolean>
  release: (lease: Lease) => Promise<'released' | 'lost' | 'locked'>
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

  /**
   * Tried until it is recorded or the claim is lost, and once where it seems to be lost by our clock, as nobody may have
   * taken it: the work was done. Where the database is there and refuses this result, something that it may take in its
   * place; else the claim is left to run out, and the poller goes on.
   */
  async record(lease: Lease, outcome: Outcome): Promise<void> {
    const pauses = new Pauses(LONGEST_PAUSE_MS)
    let rest: Outcome[] | null = null
    let asked = 0
    let isTried = false
    for (let now: Outcome | undefined = outcome; now && !lease.isAbandoned && !(lease.isLost && isTried); ) {
      isTried = true
      try {
        if (!(await this.#options.end(lease, now))) break
        this.#count(now)
        this.#options.onEnd(lease)
        return
      } catch (error) {
        this.#options.onFault(error)
        if (error instanceof RecentnError && error.code === 'closed') break
        if (!isPassing(error) && ++asked >= ASKS) {
          rest ??= insteadOf(outcome, error)
          now = rest.shift()
        } else await sleep(pauses.next())
      }
    }
    this.result.lost++
    this.#options.onEnd(lease)
  }

  /** Gives back what no handler has seen. What stays locked until then is left to run out. */
  async release(lease: Lease, until = performance.now() + RELEASE_MS): Promise<void> {
    const pauses = new Pauses(LONGEST_PAUSE_MS)
    for (let asked = 0; ; ) {
      try {
        if ((await this.#options.release(lease)) !== 'locked' || performance.now() >= until) break
        await sleep(LOOK_MS)
      } catch (error) {
        this.#options.onFault(error)
        if (error instanceof RecentnError && error.code === 'closed') break
        if (lease.isLost || (!isPassing(error) && ++asked >= ASKS)) break
        await sleep(pauses.next())
      }
    }
    this.#options.onEnd(lease)
  }

  /** Gives back what still runs. */
  async abandon(lease: Lease, until: number): Promise<void> {
    if (lease.isLost) return
    this.lost(lease)
    lease.abandon()
    await this.release(lease, until)
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
