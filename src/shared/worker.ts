/**
 * The loop of a worker, in a store and over REST: claims messages, runs a handler on each, and settles them. Owns what is
 * asked for. After a fault it asks again, later each time, for ever. Browsers load this file too.
 *
 * Invariants: a handler begins only while the lease of its message surely holds. Every claim that came in ends in exactly
 * one way: acked, nacked, given back, or lost. A lease is counted from before the receive that brought it.
 */

import { endsWithin } from './clock'
import { mayHaveKilled } from './failures'
import { Faults } from './faults'
import { Handlers } from './handlers'
import type { WorkContext, WorkHandlingOptions } from './handling-shapes'
import { Lease, type LeaseFate, Leases } from './leases'
import { Stepping, type Surroundings, surrounded } from './running'
import { parsing } from './schema'
import { type SettleSource, Settles, type SettlesOptions } from './settle-batch'

const WAIT_SECONDS = 20
/** After an empty answer that took no longer than this, the next receive waits as long. */
const SOON_MS = 100

interface WorkedMessage {
  id: bigint
  body: unknown
  receiptHandle: string
  receiveCount: number
  maxReceives: number | null
  lastError: string | null
  visibleAt: Date
  receivedAt: Date
}

interface ReceiveWait {
  waitSeconds?: number
  signal?: AbortSignal
}

/** The operations that a worker needs. */
export interface WorkSource<Message> extends SettleSource {
  receive(
    queue: string,
    how: ReceiveWait & { limit: number; visibilityTimeoutSeconds: number | undefined },
  ): Promise<Message[]>
  extendMany(
    queue: string,
    handles: readonly string[],
    how: { visibilityTimeoutSeconds: number; timeoutSeconds: number },
  ): Promise<{ failed: readonly { receiptHandle: string }[] }>
}

export interface WorkSurroundings<Message> extends Surroundings, Pick<SettlesOptions<Message>, 'backoff' | 'again'> {
  /** How long the source has after the patience of a `stop` to take what is settled. */
  lastMs: number
}

/** It claims as many messages as its handlers begin at once, and none ahead. */
export class WorkerLoop<Message extends WorkedMessage> extends Stepping {
  protected readonly handlers: Handlers<Lease<Message>>
  protected readonly leases: Leases<Lease<Message>>
  protected readonly settles: Settles<Message>
  declare protected readonly surroundings: WorkSurroundings<Message>
  readonly #receiving: Promise<void>
  readonly #handle: (message: Message, context: WorkContext) => unknown
  readonly #faults: Faults<Message>

  constructor(
    protected readonly source: WorkSource<Message>,
    protected readonly queue: string,
    handler: (message: Message, context: WorkContext) => unknown,
    private readonly options: WorkHandlingOptions<unknown, Message, Message> & { concurrency?: number | undefined },
    surroundings: WorkSurroundings<Message>,
  ) {
    super(surroundings)
    const { around, schema, signal, concurrency = 1 } = options
    const { clock } = surroundings
    this.#handle = surrounded(around, parsing(schema, handler))
    const what = `work on the queue ${queue}`
    const faults = new Faults<Message>({ ...options, ...surroundings, who: 'worker', what })
    this.#faults = faults
    this.settles = new Settles({ ...options, ...surroundings, source, queue, faults })
    this.leases = new Leases({
      clock,
      share: 0.5,
      extend: (leases, ms) => this.extend(leases, ms),
      faults,
    })
    this.handlers = new Handlers({
      clock,
      concurrency,
      run: (lease) => this.run(lease),
      quiet: () => this.quiet(),
    })
    void this.stopped.then(() => this.leases.close())
    this.#receiving = this.receiving(false)
    this.stopBy(signal)
  }

  // ---- claims that come in

  /** Asks for messages until it is stopped. */
  protected async receiving(isSecond: boolean): Promise<void> {
    await this.repeat(this.#faults, (signal) => this.#step(signal, isSecond))
    void this.stop()
  }

  /** How many messages to ask for now. */
  protected wanted(_isSecond: boolean): number {
    return this.handlers.free
  }

  async #step(signal: AbortSignal, isSecond: boolean): Promise<number> {
    const { clock } = this.surroundings
    let limit = 0
    await this.handlers.until(() => {
      limit = this.wanted(isSecond)
      return limit > 0 || signal.aborted
    })
    if (signal.aborted) return 0
    const sentAt = clock.now()
    const came = await this.take(limit, { waitSeconds: WAIT_SECONDS, signal })
    return came === 0 && clock.now() - sentAt < SOON_MS ? SOON_MS : 0
  }

  /** Claims messages, and begins their handlers. Resolves to how many came. */
  protected async take(limit: number, wait?: ReceiveWait): Promise<number> {
    const { visibilityTimeoutSeconds } = this.options
    const sentAt = this.surroundings.clock.now()
    const messages = await this.source.receive(this.queue, { limit, visibilityTimeoutSeconds, ...wait })
    this.#faults.answered()
    const leases = messages.map((message) => {
      const { id, receiveCount, maxReceives, visibleAt, receivedAt } = message
      // Where the receive did not say how long a message is held, two times of the database's clock do.
      const heldMs = (visibilityTimeoutSeconds ?? 0) * 1000 || visibleAt.getTime() - receivedAt.getTime()
      const ms = Math.max(1, Math.ceil(heldMs / 1000)) * 1000
      const isSuspect = mayHaveKilled(message) && maxReceives !== null && receiveCount >= maxReceives
      return new Lease(message, id, ms, sentAt + heldMs, isSuspect)
    })
    await this.leases.add(leases)
    this.admit(leases.filter(({ isLost }) => !isLost))
    return leases.length
  }

  protected admit(leases: readonly Lease<Message>[]): void {
    this.handlers.add(leases)
  }

  protected async extend(leases: readonly Lease<Message>[], ms: number): Promise<(lease: Lease<Message>) => LeaseFate> {
    const handles = leases.map(({ subject }) => subject.receiptHandle)
    // Over REST a second attempt still fits into what is left of the claim.
    const how = { visibilityTimeoutSeconds: ms / 1000, timeoutSeconds: Math.max(ms / 4000, 1) }
    const { failed } = await this.source.extendMany(this.queue, handles, how)
    const stale = new Set(failed.map(({ receiptHandle }) => receiptHandle))
    return ({ subject }) => (stale.has(subject.receiptHandle) ? 'lost' : 'extended')
  }

  // ---- handlers

  protected async run(lease: Lease<Message>): Promise<void> {
    const { subject } = lease
    if (lease.isLost) return
    const context = {
      /** Made when the handler asks for it. */
      get signal() {
        return lease.signal
      },
    }
    const failure = await this.#faults.attempt(() => this.#handle(subject, context), subject)
    this.leases.remove(lease)
    if (!lease.isLost) this.handled(lease, failure)
  }

  protected handled(lease: Lease<Message>, failure: { error: unknown } | null): void {
    if (failure) this.settles.failed(lease, failure.error)
    else this.settles.done(lease)
  }

  /** Resolves when no handler runs, and nothing waits to be settled. */
  protected async quiet(): Promise<void> {
    await this.handlers.ended()
    await this.settles.drained()
  }

  // ---- the end

  protected async end(): Promise<void> {
    const { handlers, settles } = this
    handlers.next()
    await this.#receiving
    await handlers.idle()
    settles.hurry()
    await settles.drained()
  }

  protected async hurry(): Promise<void> {
    for (const lease of await this.handlers.abandon()) {
      this.leases.remove(lease)
      this.settles.abandoned(lease)
    }
    this.settles.hurry()
    const { clock, lastMs } = this.surroundings
    await endsWithin(clock, lastMs, this.settles.drained())
    this.settles.giveUp()
  }
}
