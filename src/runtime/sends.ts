/** The sends of a store, batched: the messages of a queue go through one lane, as the appends of a group do. */
import { RecentnError } from '../errors'
import type { SendRequest } from '../repositories/queues/send'
import type { Sent } from '../repositories/queues/types'
import { Writer } from '../repositories/writers'
import { laneOf } from './lane'
import { WriteBatcher } from './write-batcher'

export interface SendsOptions {
  lanes: number
  /** Sends the requests in one transaction: an outcome for each. */
  send(
    requests: readonly SendRequest[],
    options: { writer: Writer; retryMs?: number },
  ): Promise<readonly (Sent[] | RecentnError)[]>
  /** Removes the marks of writers that are done. */
  forget(writers: readonly Writer[]): Promise<void>
}

const MAX_BATCH_MESSAGES = 2000
const MAX_BATCH_BYTES = 8 * 1024 * 1024
/** Messages of a request that is worth a lane. */
const LARGE = 100
const MAX_PENDING_MESSAGES = 100_000
const MAX_PENDING_BYTES = 64 * 1024 * 1024
/** After a lock timeout, which takes seconds, others must not wait for more. */
const SHORT_RETRY_MS = 2000
/** About what a message takes in memory beside its texts. */
const MESSAGE_BYTES = 300

export class Sends {
  readonly #options: SendsOptions
  readonly #writers: readonly Writer[]
  readonly #batcher: WriteBatcher<SendRequest, Sent[]>
  #turn = 0

  constructor(options: SendsOptions) {
    this.#options = options
    this.#writers = Array.from({ length: options.lanes + 1 }, () => new Writer())
    const writerOf = (lane: number) => this.#writers[lane] as Writer
    this.#batcher = new WriteBatcher({
      what: 'messages',
      lanes: options.lanes,
      maxBatchItems: MAX_BATCH_MESSAGES,
      maxBatchBytes: MAX_BATCH_BYTES,
      maxPendingItems: MAX_PENDING_MESSAGES,
      maxPendingBytes: MAX_PENDING_BYTES,
      run: (lane, requests, isPatient) =>
        options.send(requests, { writer: writerOf(lane), retryMs: isPatient ? undefined : SHORT_RETRY_MS }),
      // A lane has few queues, and which of them somebody holds a lock of is not worth asking.
      areLocked: async (requests) => requests.map(() => true),
      runAlone: async (lane, request) => {
        const [outcome] = await options.send([request], { writer: writerOf(lane) })
        if (outcome instanceof RecentnError) throw outcome
        return outcome as Sent[]
      },
    })
  }

  /** Resolves once the messages are committed, all or nothing. */
  add(request: SendRequest): Promise<Sent[]> {
    let bytes = 0
    for (const { body } of request.rows) bytes += MESSAGE_BYTES + body.length
    // Large requests of one queue go through all lanes: while the server inserts one, the next is written.
    const turn = request.rows.length < LARGE ? 0 : this.#turn++
    return this.#batcher.add(laneOf(request.queue) + turn, request, { items: request.rows.length, bytes })
  }

  async close(): Promise<void> {
    await this.#batcher.close()
    // Where the database is away they stay; the sweeper of another process removes them some day.
    await this.#options.forget(this.#writers.filter(({ batch }) => batch > 0n)).catch(() => {})
  }
}
