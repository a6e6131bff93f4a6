/**
 * Long polls: callers look for something, and wait for events of their topic to look again. The mechanism owns the callers that
 * have entered: it bounds their number, and ends their waiting when their time has ended, when they abort and when it closes.
 * No SQL.
 *
 * Invariant: an event that comes after `look` ends the next wait at once, so that none is missed between a look and the wait.
 */
import { clearTimeout, performance, setTimeout } from '../shared/platform'
import type { Waiting } from '../shared/requests'
import { type Admission, PendingCalls } from './admission'
import { joinTestTime, leaveTestTime, type WaitsByClock } from './test-time'

interface LongPollOptions extends Admission {
  /** Callers that may have entered. Default: 10,000. */
  maxCallers?: number | undefined
  /** Called whenever a caller begins to wait. */
  onWait?: (() => void) | undefined
}

/** The weight of one caller. */
const ONE = { items: 1, bytes: 0 }

export class LongPoll<Mark = void> implements WaitsByClock {
  readonly #topics = new Map<string, Set<LongPollCaller<Mark>>>()
  readonly #entered: PendingCalls

  constructor(private readonly options: LongPollOptions) {
    this.#entered = new PendingCalls({ ...options, maxItems: options.maxCallers ?? 10_000 })
    joinTestTime(this)
  }

  /** Callers that have not left. */
  get size(): number {
    return this.#entered.items
  }

  /** The topics of which a caller waits for events; callers that look at the moment do not wait. */
  get awaited(): string[] {
    const awaited: string[] = []
    for (const [name, callers] of this.#topics) {
      for (const caller of callers) {
        if (!caller.isWaiting) continue
        awaited.push(name)
        break
      }
    }
    return awaited
  }

  /** The caller must leave in the end. Throws `overloaded`, and `closed` after `close`. */
  enter(topic: string, { waitMs, signal }: { waitMs: number; signal?: AbortSignal | undefined }): LongPollCaller<Mark> {
    this.#entered.admit(ONE)
    const known = this.#topics.get(topic)
    const callers: Set<LongPollCaller<Mark>> = known ?? new Set()
    if (!known) this.#topics.set(topic, callers)
    const caller = new LongPollCaller<Mark>(waitMs, signal, {
      onWait: () => this.options.onWait?.(),
      onLeave: () => {
        if (!callers.delete(caller)) return
        if (callers.size === 0) this.#topics.delete(topic)
        this.#entered.settle(ONE)
      },
    })
    callers.add(caller)
    return caller
  }

  /**
   * There is an event of the topic, so that its callers look at the same time; with `isFor`, for the callers that wait with
   * such a mark. Returns whether there were any.
   */
  wake(topic: string, isFor?: (mark: Mark | undefined) => boolean): boolean {
    let isAny = false
    for (const caller of this.#topics.get(topic) ?? []) {
      if (isFor !== undefined && !isFor(caller.mark)) continue
      caller.wake()
      isAny = true
    }
    return isAny
  }

  /** All callers look again, and those whose time has ended are answered. */
  timePassed(ms: number): void {
    for (const callers of this.#topics.values()) for (const caller of callers) caller.timePassed(ms)
  }

  /** Ends all waits, and refuses later callers; resolves when all callers have left. */
  close(): Promise<void> {
    leaveTestTime(this)
    for (const callers of this.#topics.values()) for (const caller of callers) caller.end()
    return this.#entered.close()
  }
}

/** One call: it looks, waits for events, looks again, and leaves. */
class LongPollCaller<Mark> implements Waiting<Mark> {
  /** The result of the last look, for the caller to interpret. */
  mark: Mark | undefined
  #deadline: number
  #timer: NodeJS.Timeout | null = null
  #hasEvents = false
  #isLate: boolean
  #hasEnded = false
  #resume: ((again: boolean) => void) | null = null

  constructor(
    waitMs: number,
    private readonly signal: AbortSignal | undefined,
    private readonly callbacks: { onWait(): void; onLeave(): void },
  ) {
    this.#deadline = performance.now() + waitMs
    this.#isLate = waitMs <= 0
    if (signal?.aborted) this.#hasEnded = true
    else signal?.addEventListener('abort', this.#abort)
  }

  get isWaiting(): boolean {
    return this.#resume !== null
  }

  look(): void {
    this.#hasEvents = false
  }

  async again(mark: Mark, withinMs?: number): Promise<boolean> {
    if (this.#hasEnded || this.#isLate) return false
    if (this.#hasEvents) return true
    this.mark = mark
    // When its time has ended, the caller looks for a last time.
    this.#timer ??= setTimeout(() => {
      this.#isLate = true
      this.wake()
    }, this.#deadline - performance.now())
    const again = new Promise<boolean>((resolve) => {
      this.#resume = resolve
    })
    const soon = withinMs === undefined ? null : setTimeout(() => this.wake(), withinMs)
    this.callbacks.onWait()
    try {
      return await again
    } finally {
      if (soon !== null) clearTimeout(soon)
    }
  }

  wake(): void {
    this.#hasEvents = true
    this.#resume?.(true)
    this.#resume = null
  }

  /** The caller looks again, for a last time when its time has ended. */
  timePassed(ms: number): void {
    this.#deadline -= ms
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.isWaiting && this.#deadline <= performance.now()) this.#isLate = true
    this.wake()
  }

  /** Ends the wait, now or when it begins. */
  end(): void {
    this.#hasEnded = true
    this.#resume?.(false)
    this.#resume = null
  }

  leave(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.signal?.removeEventListener('abort', this.#abort)
    this.callbacks.onLeave()
  }

  readonly #abort = () => this.end()
}
