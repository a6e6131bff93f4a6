/**
 * What a feed holds. Counting goes along an index and takes the longer the more there is: it is done when somebody asks,
 * at most every few seconds a feed and process, and for large feeds less often.
 */
import type { Reader, Row } from '../../database/engine'
import { asFeed } from '../../results/feeds'
import { nameRange } from '../name-range'
import { listConsumers } from './cursors'
import type { FollowedTable } from './followed'
import { type FeedHead, headColumns, headOf, headTables } from './heads'
import type { FeedStatus } from './types'

/** An answer may be 5 s old; a part of that is for the counting itself. */
const FRESH_MS = 4000
/** At most such a part of the time is spent counting. */
const SHARE = 20
const MAX_CONSUMERS = 1000
/** Feeds whose counts are kept. */
const MAX_KEPT = 10_000

interface Counted {
  entries: number
  unpublished: number
  oldestUnpublishedSeconds: number | null
}

interface Kept {
  until: number
  counted: Promise<Counted>
}

export class FeedCounts {
  readonly #kept = new Map<string, Kept>()

  /** `isAnew`: inside a transaction, which must see what it did itself. */
  of(reader: Reader, head: FeedHead, followed: FollowedTable | null, isAnew: boolean): Promise<Counted> {
    const count = () => (followed ? countRows(reader, head.id, followed) : countEntries(reader, head.id))
    if (isAnew) return count()
    const key = `${head.id}`
    const known = this.#kept.get(key)
    if (known && performance.now() < known.until) return known.counted
    const since = performance.now()
    const kept: Kept = { until: Number.POSITIVE_INFINITY, counted: count() }
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear()
    this.#kept.set(key, kept)
    kept.counted.then(
      () => {
        const tookMs = performance.now() - since
        kept.until = since + Math.max(FRESH_MS, tookMs * SHARE)
      },
      () => this.#kept.delete(key),
    )
    return kept.counted
  }
}

async function countEntries(reader: Reader, feedId: bigint): Promise<Counted> {
  // The oldest by the same statement: it must not be of another moment than the counts.
  const rows = await reader.rows(
    'SELECT CASE WHEN sync_id = 0 THEN 1 ELSE 0 END AS waits, deleted, COUNT(*) AS entries, ' +
      `MIN(unpublished_since_ms) AS since_ms, ${reader.now} AS now_ms ` +
      `FROM ${reader.tables.feedEntries}${reader.engine.useIndex(reader.tables.index.entriesSync)} WHERE feed_id = ? GROUP BY 1, 2`,
    [feedId],
  )
  const sum = (those: readonly Row[]) => those.reduce((total, row) => total + Number(row.entries), 0)
  const waiting = rows.filter(({ waits }) => Number(waits) === 1)
  const agesMs = waiting.map(({ now_ms, since_ms }) => Number(now_ms) - Number(since_ms))
  return {
    entries: sum(rows.filter(({ deleted }) => Number(deleted) === 0)),
    unpublished: sum(waiting),
    oldestUnpublishedSeconds:
      waiting.length === 0 ? null : Math.floor(agesMs.reduce((most, ms) => Math.max(most, ms), 0) / 1000),
  }
}

/** A followed table says nothing of when its rows were changed. */
async function countRows(reader: Reader, feedId: bigint, { source }: FollowedTable): Promise<Counted> {
  const { table, sync, index } = source
  const from = `FROM ${table}${reader.engine.useIndex(index)}`
  const [all] = await reader.rows(`SELECT COUNT(*) AS entries ${from}`)
  const [waiting] = await reader.rows(`SELECT COUNT(*) AS entries ${from} WHERE ${sync} IS NULL`)
  // What the feed has of its own is tombstones.
  const tombstones = await countEntries(reader, feedId)
  return {
    entries: Number(all?.entries),
    unpublished: Number(waiting?.entries) + tombstones.unpublished,
    oldestUnpublishedSeconds: tombstones.oldestUnpublishedSeconds,
  }
}

export async function statusOf(reader: Reader, head: FeedHead, counted: Counted): Promise<FeedStatus> {
  const consumers = await listConsumers(reader, head, MAX_CONSUMERS)
  return asFeed({ feed: head.feed, lastSyncId: head.value, ...counted, consumers })
}

export async function listHeads(
  reader: Reader,
  { limit, after = '', prefix = '' }: { limit: number; after?: string; prefix?: string },
): Promise<FeedHead[]> {
  const { where, parameters } = nameRange('f.feed', after, prefix)
  const rows = await reader.rows(
    `SELECT ${headColumns(reader)} FROM ${headTables(reader)} WHERE ${where} ` + `ORDER BY f.feed LIMIT ${limit}`,
    parameters,
  )
  return rows.map(headOf)
}
