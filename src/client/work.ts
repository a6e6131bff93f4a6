/**
 * `client.queues.work`: the worker of the library over REST. It claims as many messages as its handlers begin at once, and
 * none ahead, because REST takes back no claim whose handler has not begun.
 *
 * Invariants: a handler begins only while its claim surely holds. A claim ends in exactly one way: acked, nacked, or lost.
 */

import { Faults } from '../shared/faults'
import { extendBy, holdBy, type Lease, Leases, leaseOf } from '../shared/leases'
import type { Message } from '../shared/queue-types'
import { CAREFUL_MS, Stepping, surrounded } from '../shared/running'
import { parsing } from '../shared/schema'
import { SettleBatches } from '../shared/settle-batch'
import {
  BETWEEN_MS,
  type ClientWorkManyOptions,
  type ClientWorkOptions,
  checkLoop,
  type Handler,
  LOOP_RULES,
  pausesOf,
  type Running,
  SURROUNDINGS,
  WAIT_SECONDS,
  whole,
} from './loops'
import { aFunction } from './options'
import type { QueueCalls } from './queues'
import { mayPass } from './retry'

/** Gathers messages for a handler of many. */
export interface Batches {
  /** The handler of one. */
  handle: Handler
  /** Messages that wait do so no longer. */
  flush: () => void
  /** How many more messages to claim, where this many have a handler. */
  room: (running: number) => number
}

/** How long the server has, after the time limit of a stop, to take what is settled. */
const LAST_SETTLE_MS = 5000
export const WORK_RULES = {
  ...LOOP_RULES,
  concurrency: whole(1, 1000),
  visibilityTimeoutSeconds: whole(1, 43_200),
  onDone: aFunction,
  onDead: aFunction,
}
/** See `QueuesClient.work`. Throws `invalid_input`. */
export function startWorker(queues: QueueCalls, queue: string, handler: Handler, options: ClientWorkOptions): Running {
  checkLoop(handler, options, WORK_RULES)
  return new RemoteWorker(queues, queue, surrounded(options.around, parsing(options.schema, handler)), options)
}

export class RemoteWorker extends Stepping {
  readonly #faults: Faults<Message>
  readonly #leases: Leases<Lease<Message>>
  readonly #running = new Map<Lease<Message>, Promise<void>>()
  readonly #settles: SettleBatches
  readonly #fetched: Promise<void>
  #onRoom: () => void = () => {}

  constructor(
    private readonly queues: QueueCalls,
    private readonly queue: string,
    private readonly handler: Handler,
    private readonly options: ClientWorkOptions | ClientWorkManyOptions,
    private readonly batches?: Batches,
  ) {
    super(SURROUNDINGS)
    const faults = new Faults<Message>({ ...options, who: 'worker', what: `work on the queue ${queue}` })
    this.#faults = faults
    this.#leases = new Leases({ ...SURROUNDINGS, share: 0.5, extend: extendBy(queues, queue), faults })
    const backoff = pausesOf(options.backoff)
    this.#settles = new SettleBatches({
      ...options,
      source: queues,
      queue,
      backoff,
      faults,
      again: mayPass,
      ...SURROUNDINGS,
    })
    void this.stopped.then(() => this.#leases.close())
    this.#fetched = this.repeat(faults, (signal) => this.#fetch(signal))
    this.stopBy(options.signal)
  }

  protected async end(): Promise<void> {
    this.#onRoom()
    await this.#fetched
    this.batches?.flush()
    await this.#quiet()
    this.#settles.hurry()
    await this.#settles.drained()
  }

  protected async hurry(): Promise<void> {
    for (const lease of this.#running.keys()) lease.abort('The worker was stopped before the handler ended')
    await this.within(Promise.all(this.#running.values()))
    for (const lease of this.#running.keys()) {
      if (this.#leases.remove(lease)) this.#settles.abandoned(lease)
      lease.isLost = true
    }
    await this.within(this.#settles.drained(), LAST_SETTLE_MS)
    this.#settles.giveUp()
  }

  // ---- claims that come in

  /** Resolves to the milliseconds until the next receive. */
  async #fetch(signal: AbortSignal): Promise<number> {
    const { concurrency = 1, visibilityTimeoutSeconds } = this.options
    const room = () => this.batches?.room(this.#running.size) ?? concurrency - this.#running.size
    while (room() <= 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#onRoom = resolve
      })
    }
    if (signal.aborted) return 0
    const sentAt = performance.now()
    const messages = await this.queues.receive(this.queue, {
      limit: room(),
      visibilityTimeoutSeconds,
      waitSeconds: WAIT_SECONDS,
      signal,
    })
    this.#faults.answered()
    await this.#take(messages.map((message) => leaseOf(message, sentAt, visibilityTimeoutSeconds)))
    return messages[0] ? 0 : BETWEEN_MS - (performance.now() - sentAt)
  }

  /** Begins the handlers. Resolves when another receive may begin. */
  async #take(leases: readonly Lease<Message>[]): Promise<void> {
    await this.#leases.add(leases)
    for (const lease of leases) if (!lease.isSuspect) void this.#begin(lease)
    for (const lease of leases) {
      if (!lease.isSuspect) continue
      this.batches?.flush()
      // It runs alone, so that it takes no other message with it, nor another one it.
      await this.within(this.#quiet(), CAREFUL_MS)
      await this.within(this.#begin(lease), CAREFUL_MS)
    }
  }

  async #quiet(): Promise<void> {
    await Promise.all(this.#running.values())
    await this.#settles.drained()
  }

  async #begin(lease: Lease<Message>): Promise<void> {
    if (lease.isLost) return
    const run = this.#run(lease)
    this.#running.set(lease, run)
    await run
    this.#running.delete(lease)
    this.#onRoom()
  }

  async #run(lease: Lease<Message>): Promise<void> {
    const { subject, signal } = lease
    const hold = holdBy(this.queues, this.queue, lease, () => this.#leases.remove(lease))
    const failure = await this.#faults.attempt(() => this.handler(subject, { signal, hold }), subject)
    if (lease.isLost) return
    this.#leases.remove(lease)
    if (failure) this.#settles.failed(lease, failure.error)
    else this.#settles.done(lease)
  }
}
