/// <reference lib="esnext.disposable" preserve="true" />
/** How workers, consumers, pollers and followed tables are stopped. Browsers load this file too. */

import { type Clock, endsWithin, onAbort, Pauses } from './backoff'
import type { Faults } from './faults'
import type { RecentnError } from './recentn-error'

export interface StopOptions {
  /** Seconds to wait for running handlers before their signals are aborted and their claims released; no limit when left out. */
  timeoutSeconds?: number | undefined
}

/** Work that runs until it is stopped: by `stop`, by its `signal`, by `await using`, or because its store is closed. */
export interface Running {
  /**
   * Begins nothing more, and resolves when the handlers that run have ended. After `timeoutSeconds` their signals are
   * aborted, and a second later what they had claimed is released. A consumer resolves at once when its own handler calls
   * it; a handler of a worker must not wait for it. Repeatable.
   */
  stop(options?: StopOptions): Promise<void>
  /** Resolves when it has stopped, for whatever reason. */
  readonly stopped: Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A class of what runs calls `ended` when it has stopped. */
export abstract class Stoppable implements Running {
  protected ended!: () => void
  readonly stopped = new Promise<void>((resolve) => {
    this.ended = resolve
  })

  abstract stop(options?: StopOptions): Promise<void>

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Stops when the signal is aborted, which may be so already. */
  protected stopBy(signal: AbortSignal | undefined, stop: () => unknown = () => this.stop()): void {
    void this.stopped.then(onAbort(signal, stop))
  }
}

/** The clock and the checks of the process. */
export interface Surroundings {
  clock: Clock
  /** Milliseconds of the time limit, or null without one. Throws `invalid_input`. */
  timeLimitOf(options: StopOptions): number | null
}

const LONGEST_PAUSE_MS = 5000
/** How long handlers have to end after their signals were aborted. */
export const LAST_MS = 1000
/** How long others are waited for before a suspect begins, and then its end before others begin. */
export const CAREFUL_MS = 3000

/** A loop that asks again and again, and runs handlers. */
export abstract class Stepping extends Stoppable {
  protected readonly stopping = new AbortController()
  #ending: Promise<void> | undefined

  constructor(protected readonly surroundings: Surroundings) {
    super()
  }

  async stop(options: StopOptions = {}): Promise<void> {
    const { clock, timeLimitOf } = this.surroundings
    const timeLimitMs = timeLimitOf(options)
    this.stopping.abort()
    // A loop that is stopped before it is whole, by a signal that was aborted, ends a moment later.
    await null
    this.#ending ??= this.end().then(this.ended)
    if (timeLimitMs !== null && !(await endsWithin(clock, timeLimitMs, this.stopped))) {
      await this.hurry()
      this.ended()
    }
    return this.stopped
  }

  /** Whether the work ends in this time; a second when left out, as for handlers whose signals were aborted. */
  protected within(work: Promise<unknown>, ms = LAST_MS): Promise<boolean> {
    return endsWithin(this.surroundings.clock, ms, work)
  }

  /** Lets what runs end; called once. Never rejects. */
  protected abstract end(): Promise<unknown>

  /** The time limit has passed. Never rejects. */
  protected abstract hurry(): Promise<unknown>

  /**
   * Makes steps until it is stopped. Each resolves to the milliseconds until the next one; after an error that is longer each
   * time, and at least as long as the server asks for.
   */
  protected async repeat(faults: Faults<never>, step: (stopping: AbortSignal) => Promise<number>): Promise<void> {
    const { clock } = this.surroundings
    const { signal } = this.stopping
    const pauses = new Pauses(LONGEST_PAUSE_MS)
    // The caller may abort the signal before the first step.
    await null
    while (!signal.aborted) {
      let pauseMs: number
      try {
        pauseMs = await step(signal)
        pauses.reset()
      } catch (error) {
        if (signal.aborted) break
        faults.database(error)
        pauseMs = Math.max(pauses.next(), ((error as RecentnError).retryAfterSeconds ?? 0) * 1000)
      }
      if (pauseMs > 0) await clock.pause(pauseMs, signal)
    }
  }
}

/** The hook `around` of what runs. */
export type Around<Given> = ((given: Given, next: () => Promise<unknown>) => unknown) | undefined

/** The handler within the hook. */
export function surrounded<Given, Context>(
  around: Around<Given>,
  handler: (given: Given, context: Context) => unknown,
): (given: Given, context: Context) => unknown {
  if (!around) return handler
  return (given, context) => around(given, async () => handler(given, context))
}
