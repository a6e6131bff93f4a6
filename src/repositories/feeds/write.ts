/**
 * Writing the entries of feeds (`recentn_feed_entries`): a value, or a tombstone. The statement that writes also clears the
 * sync id, so that a publisher gives the entry a new one (traviscj.com, "feed sequences").
 *
 * Lock order: the feed's row (shared), then the entries by feed and key. A writer waits for a publisher only while that one
 * numbers the same entry.
 */
import { compareNames, placeholders, type Tx } from '../../database/engine'
import { chunksBySize, chunksOf, groupedBy } from '../chunks'
import { leaveMark, type Writer } from '../writers'
import { type HeldFeed, holdFeed, holdOrBegin, MAX_KEYS, requireOwnEntries } from './heads'
import type { FeedMemory } from './memory'
import { readEntry } from './rows'
import type { WrittenEntry } from './types'

/** An entry that was checked, with its value as JSON. */
export interface EntryText {
  key: string
  text: string
}

export interface PutRequest {
  feed: string
  rows: readonly EntryText[]
}

export interface PutDone {
  /** In the order of the request's rows. */
  versions: number[]
  nowMs: number
}

/** What a transaction writes to a key. */
interface EntryWrite {
  feedId: bigint
  key: string
  /** JSON; null leaves a tombstone. */
  text: string | null
  /** By how much the version grows. */
  count: number
}

/** What a transaction puts to a key: the last value is kept, and each request gets a version of its own. */
interface PutWrite extends EntryWrite {
  version: number
}

/** Leaves the writer's mark where there is one, and puts the entries of requests, in the order given. */
export async function putEntries(
  tx: Tx,
  requests: readonly PutRequest[],
  memory: Pick<FeedMemory, 'wrote'>,
  writer?: Writer,
): Promise<PutDone[]> {
  if (writer) await leaveMark(tx, writer)
  const held = new Map<string, HeldFeed>()
  let nowMs = Number.NEGATIVE_INFINITY
  for (const feed of [...new Set(requests.map((request) => request.feed))].sort(compareNames)) {
    const mine = await holdOrBegin(tx, feed)
    requireOwnEntries(mine)
    held.set(feed, mine)
    // One time for all: that of the feed whose lock came last.
    nowMs = Math.max(nowMs, mine.nowMs)
  }
  const writes = new Map<string, PutWrite>()
  const mine = requests.map(({ feed, rows }) => countPuts(writes, (held.get(feed) as HeldFeed).id, rows))
  await writeEntries(tx, [...writes.values()], nowMs)
  await readVersions(tx, writes)
  memory.wrote(tx, held.keys())
  return mine.map((rows) => ({ versions: rows.map(({ write, nth }) => write.version - write.count + nth), nowMs }))
}

/** For each row of a request: the write of its key, and which of the requests for that key this one is. */
function countPuts(
  writes: Map<string, PutWrite>,
  feedId: bigint,
  rows: readonly EntryText[],
): { write: PutWrite; nth: number }[] {
  const counted = new Set<PutWrite>()
  return rows.map(({ key, text }) => {
    const id = `${feedId}/${key}`
    const write = writes.get(id) ?? { feedId, key, text, count: 0, version: 0 }
    writes.set(id, write)
    write.text = text
    if (!counted.has(write)) write.count++
    counted.add(write)
    return { write, nth: write.count }
  })
}

async function readVersions(tx: Tx, writes: ReadonlyMap<string, PutWrite>): Promise<void> {
  for (const [feedId, mine] of groupedBy(writes.values(), ({ feedId }) => feedId)) {
    for (const chunk of chunksOf(mine, MAX_KEYS)) {
      const found = await tx.rows(
        `SELECT entry_key, version FROM ${tx.tables.feedEntries} WHERE feed_id = ? AND entry_key IN (${placeholders(chunk.length)})`,
        [feedId, ...chunk.map(({ key }) => key)],
      )
      for (const row of found) (writes.get(`${feedId}/${row.entry_key}`) as PutWrite).version = Number(row.version)
    }
  }
}

/** For each request, whether another transaction holds one of its entries. */
export async function areEntriesLocked(tx: Tx, requests: readonly PutRequest[]): Promise<boolean[]> {
  const { bigint, forUpdateSkipLocked } = tx.engine
  const locked = new Map<string, Set<unknown>>()
  for (const [feed, mine] of groupedBy(requests, (request) => request.feed)) {
    const keys = [...new Set(mine.flatMap(({ rows }) => rows.map(({ key }) => key)))].sort(compareNames)
    const [row] = await tx.rows(`SELECT ${bigint('id')} AS id FROM ${tx.tables.feeds} WHERE feed = ?`, [feed])
    const held = new Set<unknown>()
    for (const chunk of row ? chunksOf(keys, MAX_KEYS) : []) {
      const sql = `SELECT entry_key FROM ${tx.tables.feedEntries} WHERE feed_id = ? AND entry_key IN (${placeholders(chunk.length)}) ORDER BY entry_key`
      const parameters = [row?.id as string, ...chunk]
      for (const { entry_key } of await tx.rows(sql, parameters)) held.add(entry_key)
      for (const { entry_key } of await tx.rows(`${sql}${forUpdateSkipLocked}`, parameters)) held.delete(entry_key)
    }
    locked.set(feed, held)
  }
  return requests.map(({ feed, rows }) => rows.some(({ key }) => locked.get(feed)?.has(key)))
}

/** Makes the entry a tombstone; null where there is none, or one already. */
export async function deleteEntry(
  tx: Tx,
  feed: string,
  key: string,
  memory: Pick<FeedMemory, 'wrote'>,
): Promise<WrittenEntry | null> {
  const held = await holdFeed(tx, feed)
  if (held === null) return null
  requireOwnEntries(held)
  const { id, nowMs } = held
  const deleted = await tx.run(
    `UPDATE ${tx.tables.feedEntries} SET ${waitingSince(String(nowMs))}, version = version + 1, deleted = 1, ` +
      `updated_at_ms = ${nowMs}, value = 'null', sync_id = 0 WHERE feed_id = ? AND entry_key = ? AND deleted = 0`,
    [id, key],
  )
  if (deleted === 0) return null
  await noteTombstones(tx, id, [key], nowMs)
  memory.wrote(tx, [feed])
  return readEntry(tx, feed, key)
}

/**
 * Leaves tombstones for keys whose entries were rows of another table and are gone: deleted groups of recent items, and
 * rows of a followed table. Resolves to false, and leaves none, where the feed does not exist.
 */
export async function leaveTombstones(tx: Tx, feed: string, keys: readonly string[]): Promise<boolean> {
  const held = await holdFeed(tx, feed)
  if (held === null) return false
  const { id, nowMs } = held
  const writes = keys.map((key) => ({ feedId: id, key, text: null, count: 1 }))
  await writeEntries(tx, writes, nowMs)
  await noteTombstones(tx, id, keys, nowMs)
  return true
}

/** Notes when tombstones were written, for the sweeper. */
export async function noteTombstones(tx: Tx, feedId: bigint, keys: readonly string[], nowMs: number): Promise<void> {
  const columns = ['deleted_at_ms', 'feed_id', 'entry_key']
  for (const chunk of chunksOf(keys, MAX_KEYS)) {
    const rows = chunk.map((key) => [nowMs, feedId, key])
    const { sql, parameters } = tx.engine.upsert(
      tx.tables.feedTombstones,
      columns.join(', '),
      columns,
      ['feed_id'],
      rows,
    )
    await tx.later(sql, parameters)
  }
}

/** What one INSERT takes: a UTF-16 unit may become six bytes of it, and the smallest usual `max_allowed_packet` is 1 MiB. */
const MAX_ROWS = 1000
const MAX_UNITS = 128 * 1024
/** What a row has beside its texts. */
const ROW_UNITS = 60

/** Writes entries, whose keys differ, in the order of feeds and keys, so that two transactions never deadlock. */
async function writeEntries(tx: Tx, writes: readonly EntryWrite[], nowMs: number): Promise<void> {
  const sorted = [...writes].sort((a, b) =>
    a.feedId === b.feedId ? compareNames(a.key, b.key) : a.feedId < b.feedId ? -1 : 1,
  )
  const unitsOf = ({ key, text }: EntryWrite) => key.length + (text?.length ?? 0) + ROW_UNITS
  for (const chunk of chunksBySize(sorted, unitsOf, MAX_ROWS, MAX_UNITS)) {
    const rows = chunk.map(({ feedId, key, text, count }) => {
      return [feedId, key, 0, count, text === null ? 1 : 0, nowMs, nowMs, text ?? 'null']
    })
    const { sql, parameters } = tx.engine.insert((values) => writeSql(tx, values), rows)
    await tx.later(sql, parameters)
  }
}

const writeSql = ({ engine, tables }: Pick<Tx, 'engine' | 'tables'>, values: string) => {
  const { proposed } = engine
  const replaced = ['deleted', 'updated_at_ms', 'value'].map((column) => `${column} = ${proposed(column)}`)
  return (
    `INSERT INTO ${tables.feedEntries} (feed_id, entry_key, sync_id, version, deleted, updated_at_ms, unpublished_since_ms, value) ` +
    `VALUES ${values} ${engine.onDuplicate('feed_id, entry_key')} ${waitingSince(proposed('unpublished_since_ms'))}, ` +
    `version = ${tables.feedEntries}.version + ${proposed('version')}, ${replaced.join(', ')}, sync_id = 0`
  )
}

/** SQL, to be set before the sync id: since when an entry waits to be numbered. One that waits already keeps its time. */
export const waitingSince = (since: string) =>
  `unpublished_since_ms = CASE WHEN sync_id = 0 THEN unpublished_since_ms ELSE ${since} END`
