/**
 * How a worker ends its claims. Handlers that end in one turn of the event loop share a call, and calls share statements:
 * the store's own collector sees to that. Owns which settles are not answered yet.
 *
 * Invariant: what the database did not answer is asked again until the lease has ended, and beyond that while the database
 * is away: the handle fences, so that a late deletion still saves work when nobody else has the message.
 */
import { RecentnError } from '../../errors'
import { Pauses } from '../../kit/backoff'
import { errorText } from '../../kit/faults'
import type { Lease } from '../../kit/lease'
import { sleep } from '../../kit/patience'
import { isShared } from '../../kit/pending'
import { performance, setImmediate } from '../../real-time'
import type { Message, Queues } from '../../repositories/queues/types'

const MAX_HANDLES = 1000
const LONGEST_PAUSE_MS = 5000
/** How long a worker that is stopping asks again. */
const LAST_PATIENCE_MS = 30_000

export type HeldMessage = Lease<Message>

/** The operations that a worker needs. */
export interface WorkSource extends Pick<Queues, 'receive' | 'delete' | 'release' | 'extend'> {
  /**
   * Ends claims as if they had not been made: ready again, with the receive count that they had before. Stale handles
   * are ignored.
   */
  giveBack(queue: string, receiptHandles: readonly string[]): Promise<unknown>
}

/** Handed out again after the delay, or with `dead` never. */
interface HandlerFailure {
  delaySeconds: number
  /** What the handler threw. */
  error: unknown
  dead: boolean
}

/** Called once the database has answered that it is so. */
export interface SettleHooks {
  onDone: ((message: Message) => void) | undefined
  onDead: ((message: Message, error: unknown) => void) | undefined
}

/** Resolves to the handles that had an effect. */
type SettleCall = (handles: readonly string[]) => Promise<readonly string[]>

function callFor(leases: readonly HeldMessage[], settled: readonly string[], hook: (message: Message) => void): void {
  const there = new Set(settled)
  for (const { subject } of leases) if (there.has(subject.receiptHandle)) hook(subject)
}

function isLastReceive({ receiveCount, maxReceives }: Message): boolean {
  return maxReceives !== null && receiveCount >= maxReceives
}

export class Settles {
  /** Messages whose handlers have resolved in this turn of the event loop. */
  #done: HeldMessage[] = []
  #unanswered = 0
  #isGivenUp = false
  #patienceEndsAt = Number.POSITIVE_INFINITY
  #onDrained: (() => void)[] = []

  constructor(
    private readonly source: WorkSource,
    private readonly queue: string,
    private readonly onFault: (error: unknown) => void,
    private readonly hooks: SettleHooks,
  ) {}

  done(lease: HeldMessage): void {
    this.#done.push(lease)
    if (this.#done.length > 1) return
    this.#unanswered++
    setImmediate(() => {
      const done = this.#done
      this.#done = []
      const remove = async (handles: readonly string[]) => (await this.source.delete(this.queue, handles)).deleted
      this.#settleAll(done, remove, this.hooks.onDone)
      this.#answered()
    })
  }

  failed(lease: HeldMessage, { error, ...failure }: HandlerFailure): void {
    const release = { ...failure, error: errorText(error) }
    const give = async (handles: readonly string[]) =>
      (await this.source.release(this.queue, handles, release)).released
    const { onDead } = this.hooks
    const isDead = failure.dead || isLastReceive(lease.subject)
    void this.#settle([lease], give, isDead && onDead ? (message) => onDead(message, error) : undefined)
  }

  /** No handler has begun: as if the messages had not been claimed. */
  giveBack(leases: readonly HeldMessage[]): void {
    this.#settleAll(leases, async (handles) => {
      await this.source.giveBack(this.queue, handles)
      return handles
    })
  }

  /** Resolves when all settles are answered. */
  drained(): Promise<void> {
    if (this.#unanswered === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onDrained.push(resolve)
    })
  }

  /** From now on what the database does not answer is given up when its lease has ended, or after half a minute. */
  hurry(): void {
    this.#patienceEndsAt = Math.min(this.#patienceEndsAt, performance.now() + LAST_PATIENCE_MS)
  }

  /** Asks no more: what is not settled is handed out again when its visibility timeout has expired. */
  giveUp(): void {
    this.#isGivenUp = true
  }

  #settleAll(leases: readonly HeldMessage[], run: SettleCall, hook?: (message: Message) => void): void {
    for (let at = 0; at < leases.length; at += MAX_HANDLES) {
      void this.#settle(leases.slice(at, at + MAX_HANDLES), run, hook)
    }
  }

  async #settle(leases: readonly HeldMessage[], run: SettleCall, hook?: (message: Message) => void): Promise<void> {
    this.#unanswered++
    let pauses: Pauses | null = null
    for (let left = leases; left.length > 0 && !this.#isGivenUp; ) {
      try {
        const settled = await run(left.map(({ subject }) => subject.receiptHandle))
        if (hook) callFor(left, settled, hook)
        break
      } catch (error) {
        this.onFault(error)
        left = this.#retryable(left, error)
        pauses ??= new Pauses(LONGEST_PAUSE_MS)
        if (left.length > 0) await sleep(pauses.next())
      }
    }
    this.#answered()
  }

  #answered(): void {
    this.#unanswered--
    if (this.#unanswered === 0) for (const resolve of this.#onDrained.splice(0)) resolve()
  }

  #retryable(leases: readonly HeldMessage[], error: unknown): readonly HeldMessage[] {
    if (error instanceof RecentnError && (error.code === 'closed' || error.code === 'queue_not_found')) return []
    const now = performance.now()
    if (now >= this.#patienceEndsAt) return []
    const isAway = isShared(error) && this.#patienceEndsAt === Number.POSITIVE_INFINITY
    return isAway ? leases : leases.filter(({ endsAt }) => now < endsAt)
  }
}
