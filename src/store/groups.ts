/**
 * The groups of a store as its callers get them: what many ask at the same time shares statements and commits. The
 * operations themselves, and every statement, are the repository's. What runs inside a transaction goes past this.
 */
import type { Session } from '../database/engine'
import { RecentnError } from '../errors'
import { GroupCommit } from '../kit/group-commit'
import { laneOf } from '../kit/lane'
import { ReadBatcher } from '../kit/read-batcher'
import { Turns } from '../kit/turns'
import { type Appended, appendBatch } from '../repositories/recent/append'
import { checkWatch } from '../repositories/recent/check'
import { lockedGroups } from '../repositories/recent/heads'
import type { ReadRequest } from '../repositories/recent/page'
import type { PolicyCache } from '../repositories/recent/policies'
import type { NewItemRow } from '../repositories/recent/ring'
import { appendedItemOf } from '../repositories/recent/rows'
import type * as Types from '../repositories/recent/types'
import { marks } from '../repositories/writers'
import { WatchableGroups } from './streams/watchable-groups'
import { WorkCounts } from './work-counts'

/** How a store batches appends; each can be left out. */
export interface BatchingOptions {
  /** Transactions at once, 1 to 16; else 2. On SQLite it is always 1. */
  lanes?: number | undefined
  /** Unanswered items beyond which an append is refused with `overloaded`; else 100,000. */
  maxPendingItems?: number | undefined
  /** Unanswered bytes beyond which an append is refused with `overloaded`; else 64 MiB. */
  maxPendingBytes?: number | undefined
}

export const MAX_LANES = 16

export interface BatchedOptions {
  /** Merged reads in flight: one where there is one connection. */
  readsAtOnce: number
  /** True for code inside a transaction that has the only connection: its calls must not wait behind others. */
  isInside: () => boolean
  batching?: BatchingOptions | undefined
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
  readonly #appends: GroupCommit<readonly NewItemRow[], Appended[]>
  readonly #reads: ReadBatcher<readonly ReadRequest[], (Types.Recent | null)[]>
  readonly #longReads: Turns

  constructor(session: Session, policies: PolicyCache, options: BatchedOptions) {
    super(session, policies, options.onStreamError)
    const { counts = new WorkCounts() } = options
    this.#isInside = options.isInside
    const onOverload = () => counts.overloaded++
    const { lanes = 2, ...limits } = options.batching ?? {}
    this.#appends = new GroupCommit({
      ...limits,
      what: 'appends',
      lanes,
      session,
      marks,
      batches: counts.appendBatches,
      onOverload,
      run: (tx, requests, writing) => {
        tx.afterCommit(() => this.#tell(requests))
        return appendBatch(tx, policies, requests, writing)
      },
      areLocked: async (tx, requests) => {
        const locked = await lockedGroups(tx, new Set(requests.flatMap((rows) => rows.map(groupOf))))
        return requests.map((rows) => rows.some(({ group }) => locked.has(group)))
      },
      onResult: (appended) => {
        for (const one of appended) {
          if (one.appended) counts.itemsAppended++
          else counts.itemsDeduplicated++
        }
      },
    })
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

  /**
   * The items are made here, for each caller by itself: a payload that does not parse must not look like a batch that
   * failed, which would run again.
   */
  protected override async appendRows(
    rows: readonly NewItemRow[],
    options: Types.PayloadOptions,
  ): Promise<Types.AppendedItem[]> {
    if (this.#isInside()) return super.appendRows(rows, options)
    let bytes = 0
    for (const { payload, group } of rows) bytes += group.length + (payload?.length ?? 0)
    const appended = await this.#appends.add(laneOf((rows[0] as NewItemRow).group), rows, { items: rows.length, bytes })
    return appended.map((one) => appendedItemOf(one.row, one.appended, options.payloads))
  }

  #tell(requests: readonly (readonly NewItemRow[])[]): void {
    if (this.streams.watched === 0) return
    for (const rows of requests) this.streams.wake(rows.map(groupOf))
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

function groupOf({ group }: NewItemRow): string {
  return group
}
