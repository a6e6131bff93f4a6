/**
 * The groups of a store as its callers get them: what many ask at the same time shares statements and commits. The
 * operations themselves, and every statement, are the repository's. What runs inside a transaction goes past this.
 */
import type { Session } from '../database/engine'
import type { ReadRequest } from '../repositories/recent/page'
import type { PolicyCache } from '../repositories/recent/policies'
import { RecentRepository } from '../repositories/recent/repository'
import type { NewRow } from '../repositories/recent/ring'
import type { AppendedItem, PayloadOptions, Recent } from '../repositories/recent/types'
import { Appends, type BatchingOptions } from './appends'
import { ReadBatcher } from './read-batcher'

export interface BatchedOptions {
  /** Merged reads in flight: one where there is one connection. */
  readsAtOnce: number
  /** True for code inside a transaction that has the only connection: its calls must not wait behind others. */
  isInside: () => boolean
  appends?: BatchingOptions
  /** Groups that may wait to be read before a read is refused with `overloaded`; else 100,000. */
  maxPendingReads?: number
}

/** Groups of one statement: more gain nothing, and by 200 the servers begin to plan by guesses. */
const MAX_GROUPS = 100

export class BatchedGroups extends RecentRepository {
  readonly #isInside: () => boolean
  readonly #appends: Appends
  readonly #reads: ReadBatcher<readonly ReadRequest[], (Recent | null)[]>

  constructor(session: Session, policies: PolicyCache, options: BatchedOptions) {
    super(session, policies)
    this.#isInside = options.isInside
    this.#appends = new Appends(this, options.appends)
    this.#reads = new ReadBatcher({
      atOnce: options.readsAtOnce,
      maxBatchSize: MAX_GROUPS,
      maxPendingSize: options.maxPendingReads ?? 100_000,
      isMergeable: (requests, again) => this.isQuick({ requests, again }),
      together: (calls) => this.readTogether(calls.map(({ request, again }) => ({ requests: request, again }))),
      alone: (requests) => super.read(requests),
    })
  }

  protected override appendRows(rows: readonly NewRow[], options: PayloadOptions): Promise<AppendedItem[]> {
    return this.#isInside() ? super.appendRows(rows, options) : this.#appends.add(rows, options)
  }

  protected override read(requests: readonly ReadRequest[]): Promise<(Recent | null)[]> {
    return this.#isInside() ? super.read(requests) : this.#reads.add(requests, requests.length)
  }

  /** Refuses what comes from now on; resolves when all that was accepted is answered. */
  async close(): Promise<void> {
    await Promise.all([this.#appends.close(), this.#reads.close()])
  }
}
