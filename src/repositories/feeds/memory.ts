/**
 * The facts about its feeds that all repositories of one store share: the tables that are followed, counts that were taken a moment
 * ago, and the listener for committed writes. Nothing in here is needed for correctness: a process that knows nothing of
 * another's writes finds them by polling.
 */
import type { Tx } from '../../database/engine'
import { CachedCounts } from '../cached-count'
import { Reminders } from '../reminders'
import type { FollowedTable } from './followed'
import { REMINDED_FEEDS } from './publish'
import type { EntryCounts } from './status'

const MAX_IDS = 10_000

/** Entries that this process publishes are published by then, as a rule. */
const PUBLISHED_MS = 5000

interface WrittenFeed {
  id: bigint
  feed: string
}

export class FeedMemory {
  /** When to look at feeds with entries that have no number. */
  readonly reminders = new Reminders(REMINDED_FEEDS)
  /** The tables whose rows are the entries of feeds, by feed. */
  readonly followed = new Map<string, FollowedTable>()
  /** Called with the feeds that a committed transaction has written to. */
  onWritten: ((feeds: Iterable<string>) => void) | null = null
  counts: { entriesWritten: number } | null = null
  /** Those of feeds that were taken a moment ago. Expensive ones are kept longer. */
  readonly entryCounts = new CachedCounts<EntryCounts>()
  /** The ids of feeds with their own entries, as they were last seen: another feed may have the name now. */
  readonly ids = new Map<string, bigint>()

  learnId(feed: string, id: bigint): void {
    if (this.ids.size >= MAX_IDS) this.ids.clear()
    this.ids.set(feed, id)
  }

  /**
   * The transaction has written entries that are to be published, and `put` of them new. Called once for each operation.
   * `isOwn`: its commit is seen by this process, which publishes them then, if it publishes.
   */
  async wrote(tx: Tx, feeds: readonly WrittenFeed[], { put = 0, isOwn = false } = {}): Promise<void> {
    const { onWritten, counts } = this
    const written = feeds.map(({ feed }) => feed)
    for (const { id } of feeds) await this.reminders.remind(tx, id, isOwn && onWritten ? PUBLISHED_MS : 0)
    tx.afterCommit(() => {
      if (counts !== null) counts.entriesWritten += put
      onWritten?.(written)
    })
  }
}
