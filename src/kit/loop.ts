/**
 * Work in rounds until it is stopped: sweepers, pollers, consumers, publishers, streams. Owns when the next round begins,
 * and the pause after a fault. No SQL, no lock.
 *
 * Invariant: one round runs at a time, and none begins after `stop`. A wake during a round is followed by another round.
 * Rounds belong to no caller: the loop may be woken inside a transaction or a handler and does not run inside it.
 */

import { LONGEST_TIMER_MS, Pauses } from '../shared/backoff'
import { guarded } from '../shared/faults'
import { clearImmediate, clearTimeout, outside, performance, setImmediate, setTimeout } from '../shared/platform'
import { joinTestTime, leaveTestTime, type WaitsByClock } from './test-time'

export interface LoopOptions {
  /** Resolves to the milliseconds until the next round, or to null when there is nothing to do until a wake. */
  round: (stopping: AbortSignal) => Promise<number | null>
  /** Each pause is longer or shorter by up to this share of it, so that processes that start together spread out. */
  jitter?: number
  /** How long the loop rests after a round, whatever wakes it; not at all when left out. */
  restMs?: (tookMs: number) => number
  /** Pauses after faults: doubled with each one in a row. No wake shortens them; `recovered` does. */
  faultPauses: { firstMs: number; longestMs: number }
  /** Called with whatever a round throws. `isFirst`: the round before it went well, and the loop is not being stopped. */
  onFault?: (error: unknown, isFirst: boolean) => void
  /** Whether waiting for the next round keeps the process alive. Default: false. */
  keepsAlive?: boolean
}

/** Waits for its first `wake`. */
export class Loop implements WaitsByClock {
  readonly #pauses: Pauses
  readonly #stopping = new AbortController()
  #running: Promise<void> | null = null
  #cancel: (() => void) | null = null
  /** When the next round begins, as `performance.now` counts; infinity when it has to be woken. */
  #nextAt = Number.POSITIVE_INFINITY
  #restUntil = Number.NEGATIVE_INFINITY
  #faults = 0

  constructor(private readonly options: LoopOptions) {
    this.#pauses = new Pauses(options.faultPauses.longestMs, options.faultPauses.firstMs)
    joinTestTime(this)
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** The next round begins within this time, unless the loop still rests or the round that runs takes longer. */
  wake(withinMs = 0): void {
    const at = performance.now() + this.#jittered(withinMs)
    if (at >= this.#nextAt) return
    this.#nextAt = at
    this.#schedule()
  }

  /** There is nothing to do until the next wake. */
  idle(): void {
    this.#nextAt = Number.POSITIVE_INFINITY
    this.#schedule()
  }

  /** Something else has shown that the last fault is over: its pause ends now. */
  recovered(): void {
    if (this.#faults === 0) return
    this.#wentWell()
    this.#restUntil = Number.NEGATIVE_INFINITY
    this.wake()
  }

  /** A pause that ends within this time ends now; a round that runs may not have seen it, and is followed by another. */
  timePassed(ms: number): void {
    this.#nextAt -= ms
    this.#restUntil -= ms
    if (this.#running) this.wake()
    else this.#schedule()
  }

  /** Resolves when the round that runs has ended; no other begins. Repeatable. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    leaveTestTime(this)
    this.#cancel?.()
    await this.#running
  }

  #jittered(ms: number): number {
    const { jitter = 0 } = this.options
    return ms * (1 - jitter + 2 * jitter * Math.random())
  }

  #schedule(): void {
    if (this.#running || this.isStopped) return
    this.#cancel?.()
    this.#cancel = null
    if (this.#nextAt === Number.POSITIVE_INFINITY) return
    const ms = Math.max(this.#nextAt, this.#restUntil) - performance.now()
    const run = () => {
      this.#cancel = null
      this.#running = outside(() => this.#round())
    }
    if (ms > 0) {
      const timer = setTimeout(run, Math.min(ms, LONGEST_TIMER_MS))
      if (!this.options.keepsAlive) timer.unref()
      this.#cancel = () => clearTimeout(timer)
    } else {
      const turn = setImmediate(run)
      if (!this.options.keepsAlive) turn.unref()
      this.#cancel = () => clearImmediate(turn)
    }
  }

  async #round(): Promise<void> {
    const { round, restMs } = this.options
    // `#running` must be set when the round begins, because it may wake or stop the loop before its first pause.
    await null
    if (this.isStopped) return
    this.#nextAt = Number.POSITIVE_INFINITY
    const beganAt = performance.now()
    try {
      const pauseMs = await round(this.#stopping.signal)
      const now = performance.now()
      this.#wentWell()
      if (restMs) this.#restUntil = now + restMs(now - beganAt)
      if (pauseMs !== null) this.#nextAt = Math.min(this.#nextAt, now + this.#jittered(pauseMs))
    } catch (error) {
      this.#restUntil = performance.now() + this.#pauses.next()
      this.#nextAt = this.#restUntil
      this.#failed(error)
    }
    this.#running = null
    this.#schedule()
  }

  #wentWell(): void {
    this.#faults = 0
    this.#pauses.reset()
  }

  #failed(error: unknown): void {
    this.#faults++
    const isFirst = this.#faults === 1 && !this.isStopped
    guarded('A listener for errors', () => this.options.onFault?.(error, isFirst))
  }
}
