/**
 * The contents of feeds: the counts and consumers of one, and the totals of all. Counting goes along an index and takes longer
 * the more there is.
 */
import type { Reader } from '../../database/engine'
import { FEED as FEED_ANSWER } from '../../fields/answers-feeds'
import type { FeedStatus } from '../../shared/feed-types'
import { column, shaped } from '../row-shape'
import { listConsumers } from './cursors'
import type { FollowedTable } from './followed'
import { FEED, type FeedHead } from './heads'

const MAX_CONSUMERS = 1000

export type EntryCounts = Pick<FeedStatus, 'entries' | 'unpublished' | 'oldestUnpublishedSeconds'>

export async function countOwnEntries(reader: Reader, feedId: bigint): Promise<EntryCounts> {
  // The oldest by the same statement, so that it is of the same moment as the counts.
  const rows = await reader.rows(
    'SELECT CASE WHEN sync_id = 0 THEN 1 ELSE 0 END AS waits, deleted, COUNT(*) AS entries, ' +
      `MIN(unpublished_since_ms) AS since_ms, ${reader.now} AS now_ms ` +
      `FROM ${reader.tables.feedEntries}${reader.engine.useIndex(reader.tables.index.entriesSync)} WHERE feed_id = ? GROUP BY 1, 2`,
    [feedId],
  )
  const counts = { entries: 0, unpublished: 0 }
  let oldestMs: number | null = null
  for (const { waits, deleted, entries, now_ms, since_ms } of rows) {
    if (Number(deleted) === 0) counts.entries += Number(entries)
    if (Number(waits) === 0) continue
    counts.unpublished += Number(entries)
    oldestMs = Math.max(oldestMs ?? 0, Number(now_ms) - Number(since_ms))
  }
  return { ...counts, oldestUnpublishedSeconds: oldestMs === null ? null : Math.floor(oldestMs / 1000) }
}

/** The rows of a followed table do not tell since when they wait. */
export async function countFollowed(reader: Reader, feedId: bigint, followed: FollowedTable): Promise<EntryCounts> {
  const { table, index } = followed.source
  const [all] = await reader.rows(`SELECT COUNT(*) AS entries FROM ${table}${reader.engine.useIndex(index)}`)
  const waiting = await countUnnumbered(reader, followed)
  // The feed's own entries are tombstones.
  const tombstones = await countOwnEntries(reader, feedId)
  return { ...tombstones, entries: Number(all?.entries), unpublished: waiting + tombstones.unpublished }
}

async function countUnnumbered(reader: Reader, { source }: FollowedTable): Promise<number> {
  const { table, sync, none, index } = source
  const [row] = await reader.rows(
    `SELECT COUNT(*) AS entries FROM ${table}${reader.engine.useIndex(index)} WHERE ${sync} ${none}`,
  )
  return Number(row?.entries ?? 0)
}

export async function statusOf(reader: Reader, head: FeedHead, counts: EntryCounts): Promise<FeedStatus> {
  const consumers = await listConsumers(reader, head, MAX_CONSUMERS)
  return FEED_ANSWER.of({ feed: head.feed, lastSyncId: head.value, ...counts, consumers })
}

/** How much waits to be published, and how far the consumers are behind, in all feeds together. */
export interface FeedTotals {
  unpublishedEntries: number
  /** Age of the entry that has waited the longest; null when none waits. Rows of followed tables are not considered. */
  oldestUnpublishedSeconds: number | null
  /** Number of sync ids that the slowest consumer has still to read; null when there is no consumer. */
  greatestLag: number | null
}

/** `followed`: the tables that this process follows; no other process can count their rows. */
export async function feedTotals(reader: Reader, followed: Iterable<FollowedTable>): Promise<FeedTotals> {
  const { tables } = reader
  const waiting = await waitingFeeds(reader)
  let unpublishedEntries = waiting.reduce((sum, { entries }) => sum + entries, 0)
  for (const table of followed) unpublishedEntries += await countUnnumbered(reader, table)
  const [row] = await reader.rows(
    `SELECT MAX(CASE WHEN s.value > c.cursor_id THEN s.value - c.cursor_id ELSE 0 END) AS behind FROM ${tables.feedConsumers} c ` +
      `JOIN ${tables.feeds} f ON f.id = c.feed_id JOIN ${tables.sequences} s ON s.kind = '${FEED}' AND s.sequence_name = f.feed`,
  )
  const ages = waiting.map(({ sinceMs, nowMs }) => Math.max(0, (nowMs - sinceMs) / 1000))
  return {
    unpublishedEntries,
    oldestUnpublishedSeconds: ages.length === 0 ? null : ages.reduce((a, b) => Math.max(a, b)),
    greatestLag: (row?.behind ?? null) === null ? null : Number(row?.behind),
  }
}

const WAITING = shaped({
  feed: column.text.of('w.feed'),
  entries: column.number.of('w.entries'),
  sinceMs: column.number.of('w.since_ms'),
})

/** The feeds whose own entries include some without a number. Asks the index for each feed, and then reads only these entries. */
export async function waitingFeeds(reader: Reader) {
  const { engine, now, tables, rows } = reader
  const ofFeed = `FROM ${tables.feedEntries} e${engine.useIndex(tables.index.entriesSync)} WHERE e.feed_id = f.id AND e.sync_id = 0`
  const found = await rows(
    `SELECT ${WAITING.columns(reader)}, ${now} AS now_ms FROM (SELECT f.feed AS feed, (SELECT COUNT(*) ${ofFeed}) AS entries, ` +
      `(SELECT MIN(e.unpublished_since_ms) ${ofFeed}) AS since_ms FROM ${tables.feeds} f) w WHERE w.since_ms IS NOT NULL`,
  )
  return found.map((row) => ({ ...WAITING.of(row), nowMs: Number(row.now_ms) }))
}
