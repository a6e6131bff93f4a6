/**
 * Writes of a store that share commits: what has one key (a queue; a feed and the first of the entries that are put) goes
 * through one lane, as the appends of a group do. Each lane is a writer, whose marks tell after a lost connection whether
 * its last batch arrived. No SQL.
 */
import { RecentnError } from '../errors'
import { WriteBatcher } from '../kit/group-commit'
import type { Size } from '../kit/pending'
import type { Sizes } from '../kit/sizes'
import { Writer } from '../repositories/writers'

export interface BatchedWritesOptions<Request, Result> {
  /** What the calls write, as an error says it. */
  what: string
  lanes: number
  batches?: Sizes
  onOverload?: () => void
  /** Runs the requests in one transaction: an outcome for each. */
  run(
    requests: readonly Request[],
    options: { writer: Writer; retryMs?: number },
  ): Promise<readonly (Result | RecentnError)[]>
  /** For each request whether somebody else holds a lock that it needs; left out where that can't be asked. */
  areLocked?(requests: readonly Request[]): Promise<readonly boolean[]>
  /** Removes the marks of writers that are done. */
  forget(writers: readonly Writer[]): Promise<void>
}

const MAX_BATCH_ITEMS = 2000
const MAX_BATCH_BYTES = 8 * 1024 * 1024
const MAX_PENDING_ITEMS = 100_000
const MAX_PENDING_BYTES = 64 * 1024 * 1024
/** After a lock timeout, which takes seconds, others must not wait for more. */
const RETRY_MS = 2000
/** About what an item takes in memory beside its texts. */
const ITEM_BYTES = 300

export class BatchedWrites<Request, Result> {
  readonly #options: BatchedWritesOptions<Request, Result>
  readonly #writers: readonly Writer[]
  readonly #batcher: WriteBatcher<Request, Result>

  constructor(options: BatchedWritesOptions<Request, Result>) {
    this.#options = options
    this.#writers = Array.from({ length: options.lanes + 1 }, () => new Writer())
    const writerOf = (lane: number) => this.#writers[lane] as Writer
    this.#batcher = new WriteBatcher({
      what: options.what,
      lanes: options.lanes,
      maxBatchItems: MAX_BATCH_ITEMS,
      maxBatchBytes: MAX_BATCH_BYTES,
      maxPendingItems: MAX_PENDING_ITEMS,
      maxPendingBytes: MAX_PENDING_BYTES,
      batches: options.batches,
      onOverload: options.onOverload,
      run: (lane, requests) => options.run(requests, { writer: writerOf(lane), retryMs: RETRY_MS }),
      areLocked: options.areLocked,
      runAlone: async (lane, request) => {
        const [outcome] = await options.run([request], { writer: writerOf(lane) })
        if (outcome instanceof RecentnError) throw outcome
        return outcome as Result
      },
    })
  }

  /** Resolves once the request is committed, all or nothing. Requests of one `key` go through one lane. */
  add(key: number, request: Request, { items, bytes }: Size): Promise<Result> {
    return this.#batcher.add(key, request, { items, bytes: bytes + items * ITEM_BYTES })
  }

  async close(): Promise<void> {
    await this.#batcher.close()
    // Where the database is away they stay; the sweeper of another process removes them some day.
    await this.#options.forget(this.#writers.filter(({ batch }) => batch > 0n)).catch(() => {})
  }
}
