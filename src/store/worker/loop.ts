/**
 * The loop of a worker: claims messages, runs a handler on each, and settles them. After a fault it asks again, later each
 * time, for ever.
 *
 * Invariants: a handler begins only while the lease of its message surely holds. Every claim that came in ends in exactly
 * one way: acked, nacked, given back, or lost. A lease is counted from before the receive that brought it.
 */

import { Handlers } from '../../kit/handlers'
import { endsWithin } from '../../shared/backoff'
import { Faults } from '../../shared/faults'
import type { Handler, WorkHandlingOptions } from '../../shared/handling-shapes'
import { type ExtendSource, extendBy, type Lease, type LeaseFate, Leases, leaseOf } from '../../shared/leases'
import type { Message, Queues, ReceiveOptions } from '../../shared/queue-types'
import { Stepping, type Surroundings, surrounded } from '../../shared/running'
import { parsing } from '../../shared/schema'
import { Settles, type SettlesOptions } from '../../shared/settle-batch'

const WAIT_SECONDS = 20
/** After an empty answer that took no longer than this, the next receive waits as long. */
const SOON_MS = 100

/** The operations that the loop needs. */
export interface WorkSource extends Pick<Queues, 'ackMany' | 'nackMany'>, ExtendSource {
  receive(queue: string, how: ReceiveOptions & { limit: number }): Promise<Message[]>
}

export interface WorkSurroundings extends Surroundings, Pick<SettlesOptions, 'backoff' | 'again'> {
  /** How long the source has after the patience of a `stop` to take what is settled. */
  lastMs: number
}

export class WorkerLoop extends Stepping {
  protected readonly handlers: Handlers<Lease<Message>>
  protected readonly leases: Leases<Lease<Message>>
  protected readonly settles: Settles
  declare protected readonly surroundings: WorkSurroundings
  readonly #receiving: Promise<void>
  readonly #handle: Handler
  readonly #faults: Faults<Message>

  constructor(
    protected readonly source: WorkSource,
    protected readonly queue: string,
    handler: Handler,
    private readonly options: WorkHandlingOptions & { concurrency?: number | undefined },
    surroundings: WorkSurroundings,
  ) {
    super(surroundings)
    const { around, schema, signal, concurrency = 1 } = options
    const { clock } = surroundings
    this.#handle = surrounded(around, parsing(schema, handler))
    const what = `work on the queue ${queue}`
    const faults = new Faults<Message>({ ...options, who: 'worker', what })
    this.#faults = faults
    this.settles = new Settles({ ...options, ...surroundings, source, queue, faults })
    this.leases = new Leases({ clock, share: 0.5, extend: (leases, ms) => this.extend(leases, ms), faults })
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
  protected async take(limit: number, wait?: ReceiveOptions): Promise<number> {
    const { visibilityTimeoutSeconds } = this.options
    const sentAt = this.surroundings.clock.now()
    const messages = await this.source.receive(this.queue, { limit, visibilityTimeoutSeconds, ...wait })
    this.#faults.answered()
    const leases = messages.map((message) => leaseOf(message, sentAt, visibilityTimeoutSeconds))
    await this.leases.add(leases)
    this.admit(leases.filter(({ isLost }) => !isLost))
    return leases.length
  }

  protected admit(leases: readonly Lease<Message>[]): void {
    this.handlers.add(leases)
  }

  protected extend(leases: readonly Lease<Message>[], ms: number): Promise<(lease: Lease<Message>) => LeaseFate> {
    return extendBy(this.source, this.queue)(leases, ms)
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
