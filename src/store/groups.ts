/**
 * The groups of a store as its callers get them: what many ask at the same time shares statements and commits. The
 * operations themselves, and every statement, are the repository's. What runs inside a transaction goes past this.
 */
import type { Session } from '../database/engine'
import { RecentnError } from '../errors'
import { ReadBatcher } from '../kit/read-batcher'
import { Turns } from '../kit/turns'
import { checkWatch } from '../repositories/recent/check'
import type { ReadRequest } from '../repositories/recent/page'
import type { PolicyCache } from '../repositories/recent/policies'
import type { NewRow } from '../repositories/recent/ring'
import type * as Types from '../repositories/recent/types'
import { Appends, type BatchingOptions } from './appends'
import { WatchableGroups } from './streams/watchable-groups'
import { WorkCounts } from './work-counts'

export interface BatchedOptions {
  /** Merged reads in flight: one where there is one connection. */
  readsAtOnce: number
  /** True for code inside a transaction that has the only connection: its calls must not wait behind others. */
  isInside: () => boolean
  appends?: BatchingOptions
  counts?: WorkCounts
  /** Long reads in flight, each on a connection: large pages, and those of members. They must leave some for others. */
  longReadsAtOnce: number
  /** Groups that may wait to be read before a read is refused with `overloaded`; else 100,000. */
  maxPendingReads?: number
  /** Told when streams can't be fed for a reason that is not the database's being away. */
  onStreamError?: (error: unknown) => void
}

/** Groups of one statement: more gain nothing, and by 200 the servers begin to plan by guesses. */
const MAX_GROUPS = 100

/** Long reads that may be unanswered before one is refused with `overloaded`. */
const MAX_LONG_READS = 1000

export class BatchedGroups extends WatchableGroups {
  readonly #isInside: () => boolean
  readonly #appends: Appends
  readonly #reads: ReadBatcher<readonly ReadRequest[], (Types.Recent | null)[]>
  readonly #longReads: Turns

  constructor(session: Session, policies: PolicyCache, options: BatchedOptions) {
    super(session, policies, options.onStreamError)
    const { counts = new WorkCounts() } = options
    this.#isInside = options.isInside
    this.#appends = new Appends(this, counts, options.appends)
    const onOverload = () => counts.overloaded++
    this.#longReads = new Turns({ atOnce: options.longReadsAtOnce, maxPending: MAX_LONG_READS, onOverload })
    this.#reads = new ReadBatcher({
      atOnce: options.readsAtOnce,
      maxBatchSize: MAX_GROUPS,
      maxPendingSize: options.maxPendingReads ?? 100_000,
      batches: counts.readBatches,
      onOverload,
      isMergeable: (requests, again) => this.isQuick({ requests, again }),
      together: (calls) => this.readTogether(calls.map(({ request, again }) => ({ requests: request, again }))),
      alone: (requests) => this.#longReads.run(() => super.read(requests)),
    })
  }

  protected override appendRows(rows: readonly NewRow[], options: Types.PayloadOptions): Promise<Types.AppendedItem[]> {
    return this.#isInside() ? super.appendRows(rows, options) : this.#appends.add(rows, options)
  }

  protected override read(requests: readonly ReadRequest[]): Promise<(Types.Recent | null)[]> {
    return this.#isInside() ? super.read(requests) : this.#reads.add(requests, requests.length)
  }

  override memberItems(member: string, options: Types.MemberOptions = {}): Promise<Types.MemberItems> {
    const read = () => super.memberItems(member, options)
    return this.#isInside() ? read() : this.#longReads.run(read)
  }

  /** What happens to the group from now on, or since an item. Begins at once. */
  watch(group: string, options: Types.WatchOptions = {}): Types.GroupWatch {
    checkWatch(group, options)
    if (this.#isInside()) throw new RecentnError('conflict', 'Groups can not be watched from inside a transaction')
    return this.streams.watch(group, options)
  }

  /** Refuses what comes from now on; resolves when all that was accepted is answered. */
  async close(): Promise<void> {
    await Promise.all([this.streams.close(), this.#appends.close(), this.#reads.close()])
    await this.#longReads.close()
  }
}
