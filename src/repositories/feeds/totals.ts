/** What waits to be published, and how far the consumers are behind, in all feeds together. */
import type { Reader } from '../../database/engine'
import type { FollowedTable } from './followed'
import { FEED } from './heads'

export interface FeedTotals {
  unpublishedEntries: number
  /** Of the entry that waits the longest; null when none waits. Rows of followed tables do not tell since when. */
  oldestUnpublishedSeconds: number | null
  /** Sync ids that the consumer who is behind the most has still to read; null when there is no consumer. */
  greatestLag: number | null
}

/** `followed`: the tables that this process follows; nobody else knows how to count in them. */
export async function feedTotals(reader: Reader, followed: Iterable<FollowedTable>): Promise<FeedTotals> {
  const { engine, now } = reader
  // Looks into the index for each feed, and then only at what waits: a join might go through all entries in place of that.
  const ofFeed = `FROM ${reader.tables.feedEntries} e${engine.useIndex(reader.tables.index.entriesSync)} WHERE e.feed_id = f.id AND e.sync_id = 0`
  const [waiting] = await reader.rows(
    `SELECT SUM(w.entries) AS entries, MIN(w.since_ms) AS since_ms, ${now} AS now_ms FROM (` +
      `SELECT (SELECT COUNT(*) ${ofFeed}) AS entries, (SELECT MIN(e.unpublished_since_ms) ${ofFeed}) AS since_ms FROM ${reader.tables.feeds} f) w`,
  )
  let unpublishedEntries = Number(waiting?.entries ?? 0)
  for (const { source } of followed) {
    const { table, sync, none, index } = source
    const from = `${table}${engine.useIndex(index)}`
    const [count] = await reader.rows(`SELECT COUNT(*) AS entries FROM ${from} WHERE ${sync} ${none}`)
    unpublishedEntries += Number(count?.entries ?? 0)
  }
  const [row] = await reader.rows(
    `SELECT MAX(CASE WHEN s.value > c.cursor_id THEN s.value - c.cursor_id ELSE 0 END) AS behind FROM ${reader.tables.feedConsumers} c ` +
      `JOIN ${reader.tables.feeds} f ON f.id = c.feed_id JOIN ${reader.tables.sequences} s ON s.kind = '${FEED}' AND s.sequence_name = f.feed`,
  )
  const since = waiting?.since_ms ?? null
  return {
    unpublishedEntries,
    oldestUnpublishedSeconds: since === null ? null : Math.max(0, (Number(waiting?.now_ms) - Number(since)) / 1000),
    greatestLag: (row?.behind ?? null) === null ? null : Number(row?.behind),
  }
}
