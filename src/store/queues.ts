/**
 * The queues of a store as its callers get them: what many ask at the same time shares statements and commits, and
 * receives may wait. The operations themselves are the repository's. What runs inside a transaction goes past this.
 */
import type { Session } from '../database/engine'
import { GroupCommit } from '../kit/group-commit'
import { laneOf } from '../kit/lane'
import * as check from '../repositories/queues/check'
import { QueueRepository } from '../repositories/queues/repository'
import { bodyOf, type Receipt } from '../repositories/queues/rows'
import type { SendRequest, StartsAhead } from '../repositories/queues/send'
import { sendBatch, takeAhead } from '../repositories/queues/sending'
import type { Release, Settled } from '../repositories/queues/settle'
import type { Message, ReceiveOptions, Sent } from '../repositories/queues/types'
import { marks } from '../repositories/writers'
import { Receiver } from './receiver'
import { SettleBatcher } from './settle-batcher'
import { WorkCounts } from './work-counts'
import type { Handler, Worker, WorkOptions } from './worker/types'
import { startWorker } from './worker/worker'

export interface BatchedQueuesOptions {
  /** Transactions at once: one where there is one connection. */
  atOnce: number
  /** True for code inside a transaction that has the only connection: its calls must not wait behind others. */
  isInside: () => boolean
  counts?: WorkCounts
}

/** How long handlers have to finish when the store closes. */
const STOP_SECONDS = 10
const MAX_PENDING_RECEIPTS = 100_000
/** Messages of a request that is worth a lane. */
const LARGE = 100

export class BatchedQueues extends QueueRepository {
  readonly #isInside: () => boolean
  readonly #sends: GroupCommit<SendRequest, Sent[], StartsAhead>
  #turn = 0
  readonly #receiver: Receiver
  readonly #settles: SettleBatcher
  readonly #workers = new Set<Worker>()
  readonly #work: WorkCounts

  constructor(session: Session, { atOnce, isInside, counts = new WorkCounts() }: BatchedQueuesOptions) {
    super(session)
    this.#isInside = isInside
    this.#work = counts
    const onOverload = () => counts.overloaded++
    this.#sends = new GroupCommit({
      what: 'messages',
      lanes: atOnce,
      session,
      marks,
      batches: counts.sendBatches,
      onOverload,
      prepare: (requests) => takeAhead(session, this.memory, requests),
      run: (tx, requests, writing) => sendBatch(tx, requests, this.readyIn(tx), writing),
    })
    this.#receiver = new Receiver({
      atOnce,
      onOverload,
      take: async ({ queue, ...request }, max) => {
        const messages = await super.take(queue, { ...request, max, bodies: 'text' })
        counts.messagesReceived += messages.length
        return messages
      },
      giveBack: (queue, handles) => this.giveBack(queue, handles),
    })
    this.#settles = new SettleBatcher({ atOnce, maxPending: MAX_PENDING_RECEIPTS, onOverload })
  }

  protected override async sendRows(request: SendRequest): Promise<Sent[]> {
    if (this.#isInside()) return super.sendRows(request)
    const items = request.rows.length
    const bytes = request.rows.reduce((sum, { body }) => sum + body.length, 0)
    // Large requests of one queue go through all lanes: while the server inserts one, the next is written.
    const turn = items < LARGE ? 0 : this.#turn++
    const sent = await this.#sends.add(laneOf(request.queue) + turn, request, { items, bytes })
    for (const one of sent) {
      if (one.sent) this.#work.messagesSent++
      else this.#work.messagesDeduplicated++
    }
    return sent
  }

  override async receive(queue: string, options: ReceiveOptions = {}): Promise<Message[]> {
    if (this.#isInside()) return super.receive(queue, options)
    check.checkReceive(queue, options)
    const { max = 1, visibilityTimeoutSeconds, waitSeconds = 0, order = 'ready', cursor = 'default' } = options
    const request = { queue, visibilityTimeoutSeconds, order, cursor: order === 'cycle' ? cursor : '' }
    const messages = await this.#receiver.receive(request, max, waitSeconds * 1000, options.signal)
    if (options.bodies === 'text') return messages
    for (const message of messages) message.body = parsed(message)
    return messages
  }

  protected override removeHeld(queue: string, receipts: readonly Receipt[]): Promise<Settled> {
    const settle = async (all: readonly Receipt[]) => {
      const settled = await super.removeHeld(queue, all)
      this.#work.messagesDeleted += settled.size
      return settled
    }
    return this.#settled(`delete ${queue}`, receipts, settle)
  }

  protected override releaseHeld(queue: string, receipts: readonly Receipt[], release: Release): Promise<Settled> {
    const settle = async (all: readonly Receipt[]) => {
      const settled = await super.releaseHeld(queue, all, release)
      this.#work.messagesReleased += settled.size
      return settled
    }
    return this.#settled(`release ${JSON.stringify(release)} ${queue}`, receipts, settle)
  }

  protected override extendHeld(queue: string, receipts: readonly Receipt[], visibilityMs: number): Promise<Settled> {
    const settle = async (all: readonly Receipt[]) => {
      const settled = await super.extendHeld(queue, all, visibilityMs)
      this.#work.messagesExtended += settled.size
      return settled
    }
    return this.#settled(`extend ${visibilityMs} ${queue}`, receipts, settle)
  }

  #settled(
    kind: string,
    receipts: readonly Receipt[],
    settle: (receipts: readonly Receipt[]) => Promise<Settled>,
  ): Promise<Settled> {
    return this.#isInside() ? settle(receipts) : this.#settles.add(kind, receipts, settle)
  }

  /** Receives messages and runs the handler on each until it is stopped, or the store closes. */
  work(queue: string, handler: Handler, options: WorkOptions = {}): Worker {
    const worker = startWorker(this, queue, handler, options)
    this.#workers.add(worker)
    return {
      stop: async (how) => {
        await worker.stop(how)
        this.#workers.delete(worker)
      },
    }
  }

  protected override becameReady(queue: string): void {
    this.#receiver.wake(queue)
  }

  /** Receives that wait, and workers. */
  get activity(): { receivesWaiting: number; workers: number } {
    return { receivesWaiting: this.#receiver.waiting, workers: this.#workers.size }
  }

  /** Resolves when what their handlers had begun is done or, after 10 seconds, given back. */
  async stopWorkers(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.stop({ timeoutSeconds: STOP_SECONDS })))
  }

  /** Stops the workers, answers who waits, refuses what comes from now on; resolves when all that was accepted is done. */
  async close(): Promise<void> {
    await this.stopWorkers()
    await Promise.all([this.#receiver.close(), this.#sends.close(), this.#settles.close()])
  }
}

function parsed({ body }: Message): unknown {
  return bodyOf((body as { text: string }).text, 'value')
}
