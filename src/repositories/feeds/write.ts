/**
 * Writing the entries of feeds (`recentn_feed_entries`): a value, or a tombstone. The statement that writes also clears the
 * sync id, so that a publisher gives the entry a new one (traviscj.com, "feed sequences").
 *
 * Lock order: the feed's row (shared), then the entries by feed and key. A writer waits for a publisher only while that one
 * numbers the same entry.
 */
import { compareNames, type Insert, type Parameter, type Row, type Tx } from '../../database/engine'
import { RecentnError } from '../../shared/errors'
import type { IfVersion, WrittenEntry } from '../../shared/feed-types'
import { chunksBySize, chunksOf, MAX_KEYS, rowsAmong } from '../chunks'
import { holdFeed, requireOwnEntries } from './heads'
import type { FeedMemory } from './memory'
import { readEntry } from './rows'

export interface EntryWrite {
  feedId: bigint
  key: string
  /** JSON; null leaves a tombstone. */
  text: string | null
  /** By how much the version grows. */
  count: number
}

/** Makes the entry a tombstone; null where there is none, or one already. */
export async function deleteEntry(
  tx: Tx,
  feed: string,
  entry: { key: string } & IfVersion,
  memory: Pick<FeedMemory, 'wrote'>,
): Promise<WrittenEntry | null> {
  const { key } = entry
  const held = await holdFeed(tx, feed)
  if (held === null) return null
  requireOwnEntries(held)
  const { id, nowMs } = held
  if (!(await holdVersion(tx, id, entry))) return null
  const deleted = await tx.run(
    `UPDATE ${tx.tables.feedEntries} SET ${waitingSince(String(nowMs))}, version = version + 1, deleted = 1, ` +
      `updated_at_ms = ${nowMs}, value = 'null', sync_id = 0 WHERE feed_id = ? AND entry_key = ? AND deleted = 0`,
    [id, key],
  )
  if (deleted === 0) return null
  await noteTombstones(tx, id, [key], nowMs)
  await memory.wrote(tx, [{ id, feed }])
  return readEntry(tx, feed, key)
}

/**
 * Leaves tombstones for keys whose entries were rows of another table and are gone: deleted groups of recent items, and
 * rows of a followed table. Resolves to the feed's id; to null, and leaves none, where the feed does not exist.
 */
export async function leaveTombstones(tx: Tx, feed: string, keys: readonly string[]): Promise<bigint | null> {
  const held = await holdFeed(tx, feed)
  if (held === null) return null
  const { id, nowMs } = held
  const writes = keys.map((key) => ({ feedId: id, key, text: null, count: 1 }))
  for (const chunk of inOrder(writes)) await tx.later(writeRowsSql(tx, chunk, nowMs))
  await noteTombstones(tx, id, keys, nowMs)
  return id
}

export async function noteTombstones(tx: Tx, feedId: bigint, keys: readonly string[], nowMs: number): Promise<void> {
  const columns = ['deleted_at_ms', 'feed_id', 'entry_key']
  for (const chunk of chunksOf(keys, MAX_KEYS)) {
    const rows = chunk.map((key) => [nowMs, feedId, key])
    await tx.later(tx.engine.upsert(tx.tables.feedTombstones, columns.join(', '), columns, ['feed_id'], rows))
  }
}

/** The size of one INSERT: a UTF-16 unit may become six bytes of it, and the smallest usual `max_allowed_packet` is 1 MiB. */
const MAX_ROWS = 1000
const MAX_UNITS = 128 * 1024
/** The bytes of a row beside its texts. */
const ROW_UNITS = 60

/** Entries, whose keys differ, in the order of feeds and keys, so that two transactions never deadlock; a chunk for each INSERT. */
export function inOrder<Write extends EntryWrite>(writes: Iterable<Write>): Write[][] {
  const sorted = [...writes].sort((a, b) =>
    a.feedId === b.feedId ? compareNames(a.key, b.key) : a.feedId < b.feedId ? -1 : 1,
  )
  const unitsOf = ({ key, text }: EntryWrite) => key.length + (text?.length ?? 0) + ROW_UNITS
  return chunksBySize(sorted, unitsOf, MAX_ROWS, MAX_UNITS)
}

export function writeRowsSql(tx: Tx, chunk: readonly EntryWrite[], nowMs: number, returned = ''): Insert {
  const rows = chunk.map(({ feedId, key, text, count }) => {
    return [feedId, key, 0, count, text === null ? 1 : 0, nowMs, nowMs, text ?? 'null']
  })
  return tx.engine.insert((values) => writeSql(tx, values) + returned, rows)
}

const ENTRY_COLUMNS = 'feed_id, entry_key, sync_id, version, deleted, updated_at_ms, unpublished_since_ms, value'

export const writeSql = ({ engine, tables }: Pick<Tx, 'engine' | 'tables'>, values: string) => {
  const { proposed } = engine
  const replaced = ['deleted', 'updated_at_ms', 'value'].map((column) => `${column} = ${proposed(column)}`)
  return (
    `INSERT INTO ${tables.feedEntries} (${ENTRY_COLUMNS}) ` +
    `VALUES ${values} ${engine.onDuplicate('feed_id, entry_key')} ${waitingSince(proposed('unpublished_since_ms'))}, ` +
    `version = ${tables.feedEntries}.version + ${proposed('version')}, ${replaced.join(', ')}, sync_id = 0`
  )
}

/** SQL, to be set before the sync id: since when an entry waits to be numbered. One that waits already keeps its time. */
export const waitingSince = (since: string) =>
  `unpublished_since_ms = CASE WHEN sync_id = 0 THEN unpublished_since_ms ELSE ${since} END`

type VersionCondition = { key: string } & IfVersion

/**
 * Holds the entries that have a condition: their rows are locked, and their versions compared. One that must not exist gets a row
 * of version 0 before, which no other transaction ever sees, and which goes with the refusal. A row that is there can be locked,
 * and one that is not there could be inserted by two. Two such puts of several entries may deadlock, and one of them runs again.
 * Throws `version_changed`, which names all those that have another version.
 */
export async function holdVersions(
  tx: Tx,
  feedId: bigint,
  nowMs: number,
  { rows, isList = false }: { rows: readonly VersionCondition[]; isList?: boolean },
): Promise<void> {
  const named = rows.filter(({ ifVersion }) => ifVersion !== undefined)
  if (named.length === 0) return
  const absent = named.flatMap(({ key, ifVersion }) => (ifVersion === 0 ? [key] : [])).sort(compareNames)
  await claimKeys(tx, feedId, absent, nowMs)
  const keys = named.map(({ key }) => key)
  const found = await lockedVersions(tx, feedId, keys)
  const differ = rows.flatMap(({ key, ifVersion }, at) => {
    const detail = ifVersion === undefined ? null : difference(ifVersion, found.get(key))
    return detail === null ? [] : [{ key, detail, pointer: `/${at}/ifVersion` }]
  })
  const [first] = differ
  if (first === undefined) return
  const more = differ.length > 1 ? ` (and ${differ.length - 1} more)` : ''
  const faults = isList ? differ.map(({ pointer, detail }) => ({ pointer, detail })) : []
  throw changed(first.key, first.detail + more, faults)
}

/** Holds one entry that is to be deleted: false where there is none. Throws `version_changed`. */
async function holdVersion(tx: Tx, feedId: bigint, { key, ifVersion }: VersionCondition): Promise<boolean> {
  if (ifVersion === undefined) return true
  const found = (await lockedVersions(tx, feedId, [key])).get(key)
  if (found === undefined || found.isDeleted) return false
  const detail = difference(ifVersion, found)
  if (detail !== null) throw changed(key, detail)
  return true
}

interface FoundEntry {
  version: number
  isDeleted: boolean
}

/** Why the entry is not as its writer has read it; null where it is. */
function difference(ifVersion: number, found: FoundEntry | undefined): string | null {
  if (found === undefined) return 'does not exist'
  if (ifVersion === 0 ? found.isDeleted : found.version === ifVersion) return null
  return `has version ${found.version}${found.isDeleted ? ', and is deleted' : ''}`
}

const changed = (key: string, detail: string, faults: readonly { pointer: string; detail: string }[] = []) =>
  new RecentnError('version_changed', `The entry ${JSON.stringify(key)} ${detail}`, { faults })

async function claimKeys(tx: Tx, feedId: bigint, keys: readonly string[], nowMs: number): Promise<void> {
  const columns = ENTRY_COLUMNS.split(', ')
  for (const chunk of chunksOf(keys, MAX_KEYS)) {
    const rows = chunk.map((key): Parameter[] => [feedId, key, 0, 0, 1, nowMs, nowMs, 'null'])
    await tx.later(tx.engine.upsert(tx.tables.feedEntries, 'feed_id, entry_key', columns, ['feed_id'], rows))
  }
}

async function lockedVersions(tx: Tx, feedId: bigint, keys: readonly string[]): Promise<Map<string, FoundEntry>> {
  const select = `SELECT entry_key, version, deleted FROM ${tx.tables.feedEntries} WHERE feed_id = ? AND entry_key IN`
  const sql = (some: string) => `${select} ${some} ORDER BY entry_key${tx.engine.forUpdate}`
  const rows = await rowsAmong(tx, [...keys].sort(compareNames), MAX_KEYS, sql, { before: [feedId] })
  const found = (row: Row): FoundEntry => ({ version: Number(row.version), isDeleted: Number(row.deleted) === 1 })
  return new Map(rows.map((row) => [row.entry_key as string, found(row)]))
}
