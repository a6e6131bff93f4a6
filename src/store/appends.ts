/**
 * The appends of a store, batched: which lane a group's go through, how large a request is, and what its caller gets.
 * Each lane has a writer, whose mark in the database tells after a lost connection whether a batch arrived.
 */

import { WriteBatcher } from '../kit/group-commit'
import { laneOf } from '../kit/lane'
import type { Appended } from '../repositories/recent/append'
import type { RecentRepository } from '../repositories/recent/repository'
import type { NewRow } from '../repositories/recent/ring'
import { appendedItemOf } from '../repositories/recent/rows'
import type { AppendedItem, PayloadOptions } from '../repositories/recent/types'
import { Writer } from '../repositories/writers'
import type { WorkCounts } from './work-counts'

/** How a store batches appends; each can be left out. */
export interface BatchingOptions {
  /** Transactions at once, 1 to 16; else 2. On SQLite it is always 1. */
  lanes?: number | undefined
  /** Unanswered items beyond which an append is refused with `overloaded`; else 100,000. */
  maxPendingItems?: number | undefined
  /** Unanswered bytes beyond which an append is refused with `overloaded`; else 64 MiB. */
  maxPendingBytes?: number | undefined
}

const MAX_BATCH_ITEMS = 2000
const MAX_BATCH_BYTES = 8 * 1024 * 1024
/** After a deadlock it goes on at once; after a lock timeout, which takes seconds, others must not wait for more. */
const RETRY_MS = 2000
/** About what an item takes in memory beside its texts. */
const ITEM_BYTES = 300

/** Checked rows on their way in. */
type Request = readonly NewRow[]

export class Appends {
  readonly #writers: readonly Writer[]
  readonly #batcher: WriteBatcher<Request, Appended[]>
  readonly #repository: RecentRepository
  readonly #counts: WorkCounts

  constructor(
    repository: RecentRepository,
    counts: WorkCounts,
    { lanes = 2, maxPendingItems, maxPendingBytes }: BatchingOptions = {},
  ) {
    this.#counts = counts
    this.#repository = repository
    this.#writers = Array.from({ length: lanes + 1 }, () => new Writer())
    this.#batcher = new WriteBatcher({
      what: 'appends',
      lanes,
      maxBatchItems: MAX_BATCH_ITEMS,
      maxBatchBytes: MAX_BATCH_BYTES,
      maxPendingItems: maxPendingItems ?? 100_000,
      maxPendingBytes: maxPendingBytes ?? 64 * 1024 * 1024,
      batches: counts.appendBatches,
      onOverload: () => counts.overloaded++,
      run: (lane, requests) => repository.appendBatch(requests, this.#writers[lane] as Writer, RETRY_MS),
      areLocked: async (requests) => {
        const locked = await repository.lockedGroups(new Set(requests.flatMap((rows) => rows.map(groupOf))))
        return requests.map((rows) => rows.some(({ group }) => locked.has(group)))
      },
      runAlone: (lane, rows) => repository.appendAlone(rows, this.#writers[lane] as Writer),
    })
  }

  /**
   * Resolves once the rows are committed, all or nothing. The items are made here, for each caller by itself: a payload
   * that does not parse must not look like a batch that failed, which would run again.
   */
  async add(rows: readonly NewRow[], { payloads }: PayloadOptions = {}): Promise<AppendedItem[]> {
    let bytes = 0
    for (const { payload, group } of rows) bytes += ITEM_BYTES + group.length + (payload?.length ?? 0)
    const appended = await this.#batcher.add(laneOf((rows[0] as NewRow).group), rows, { items: rows.length, bytes })
    for (const one of appended) {
      if (one.appended) this.#counts.itemsAppended++
      else this.#counts.itemsDeduplicated++
    }
    return appended.map((one) => appendedItemOf(one.row, one.appended, payloads))
  }

  /** Flushes what was accepted; resolves when all of it is answered and the writers' marks are removed. */
  async close(): Promise<void> {
    await this.#batcher.close()
    const used = this.#writers.filter(({ batch }) => batch > 0n)
    // Where the database is away they stay; the sweeper of another process removes them some day.
    await this.#repository.forgetWriters(used).catch(() => {})
  }
}

function groupOf({ group }: NewRow): string {
  return group
}
