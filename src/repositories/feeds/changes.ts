/**
 * Reading a feed: the changes after a cursor, in the order of their sync ids.
 *
 * Invariant: a reader misses nothing. Publishers lock the feed's sequence and hold it to the commit, so a number is never
 * seen before a smaller one. A row that is written after a reader has passed it gets a new, greater number. Rows and
 * horizon are read by one statement, or the rows before the horizon, so a tombstone that was removed before the rows were
 * read is noticed.
 */
import type { Reader } from '../../database/engine'
import type { Changes, ChangesOptions } from '../../shared/feed-types'
import { jsonBytes } from '../../shared/json-faults'
import { readSequence } from '../sequences'
import { type Cursor, numberOf, requireFresh } from './cursors'
import { type FollowedTable, keysWithRow, rowsAfter } from './followed'
import { FEED, type FeedHead, headColumns, headOf, headTables, readHead, requireOwnEntries } from './heads'
import { changeColumns, changeOf, type RawChange, rawChangeOf } from './rows'

export interface ChangesRequest {
  feed: string
  limit: number
  maxBytes: number
  values: ChangesOptions['values']
}

/** A page, and the feed's last sync id: a reader that found nothing waits until it grows. */
interface ReadChanges extends Changes {
  value: bigint
}

/** Along the index recentn_feed_entries_sync (feed_id, sync_id, …). The feed and its sequence are one row each. */
const changesSql = (reader: Pick<Reader, 'engine' | 'tables'>, limit: number, only = '') =>
  `SELECT ${headColumns(reader)}, ${changeColumns(reader)} FROM ${headTables(reader)} ` +
  `JOIN ${reader.tables.feedEntries} e${reader.engine.useIndex(reader.tables.index.entriesSync)} ON e.feed_id = f.id ` +
  `WHERE f.feed = ? AND e.sync_id > ?${only} ORDER BY e.sync_id LIMIT ${limit}`

/** Rows of the first statement when the values of a page must not be too large together. */
const FIRST_ROWS = 101

export async function readChanges(
  reader: Reader,
  request: ChangesRequest,
  cursor: Cursor,
  followed: FollowedTable | null,
): Promise<ReadChanges> {
  const { changes, hasMore, readTo, ...page } = followed
    ? await mergedPage(reader, request, cursor.syncId, followed)
    : await entriesPage(reader, request, cursor.syncId)
  const head = page.head ?? (await readHead(reader, request.feed))
  const unmoved = numberOf(cursor, head ?? { horizon: cursor.knows })
  if (head === null) {
    // The sequence of a dropped feed still exists, and a waiting reader would take its number for news.
    const value = (await readSequence(reader, FEED, request.feed))?.value ?? 0n
    requireFresh(reader, cursor, { value, horizon: 0n })
    return { changes: [], cursor: unmoved, hasMore: false, value }
  }
  if (!followed) requireOwnEntries(head)
  requireFresh(reader, cursor, head)
  const last = changes.at(-1)?.syncId ?? cursor.syncId
  const end = readTo !== null && readTo > last ? readTo : last
  return {
    changes: changes.map((change) => changeOf(change, request)),
    cursor: end > cursor.syncId ? numberOf(advanced(cursor, end, head, hasMore), head) : unmoved,
    hasMore,
    value: head.value,
  }
}

/** A reader that starts over knows what has been removed; one that has read everything is past it. */
function advanced(cursor: Cursor, syncId: bigint, { horizon }: FeedHead, hasMore: boolean): Cursor {
  const knows = cursor.syncId === 0n && horizon > cursor.knows ? horizon : cursor.knows
  return !hasMore && knows > syncId ? { syncId: knows, knows } : { syncId, knows }
}

interface RawPage {
  changes: RawChange[]
  hasMore: boolean
  /** As it was when the rows were read; null when no row told. */
  head: FeedHead | null
  /** Up to which sync id everything was read; null: up to the last change. */
  readTo: bigint | null
}

/** The entries of the feed's own table, in as few statements as their sizes allow. */
async function entriesPage(reader: Reader, { feed, limit, maxBytes }: ChangesRequest, after: bigint): Promise<RawPage> {
  const changes: RawChange[] = []
  let head: FeedHead | null = null
  let bytes = 0
  for (let from = after; ; ) {
    const fitting = changes.length === 0 ? FIRST_ROWS : Math.ceil((maxBytes - bytes) / (bytes / changes.length)) + 1
    const wanted = Math.min(limit + 1 - changes.length, Number.isFinite(maxBytes) ? fitting : limit + 1)
    const rows = await reader.rows(changesSql(reader, wanted), [feed, from])
    // The horizon of the last statement: it may have missed removed tombstones that an earlier one has not.
    if (rows[0]) head = headOf(rows[0])
    for (const change of rows.map(rawChangeOf)) {
      const isFull = changes.length === limit || (changes.length > 0 && bytes + sizeOf(change) > maxBytes)
      if (isFull) return { changes, hasMore: true, head, readTo: null }
      changes.push(change)
      bytes += sizeOf(change)
    }
    if (rows.length < wanted) return { changes, hasMore: false, head, readTo: null }
    from = (changes.at(-1) as RawChange).syncId
  }
}

/** The bytes of a change as JSON beside its key and its value: the names of its fields, and numbers. */
const FRAME_BYTES = 120

function sizeOf({ key, text }: RawChange): number {
  return FRAME_BYTES + jsonBytes(key) + Buffer.byteLength(text ?? 'null')
}

/** The rows of a followed table, and the tombstones of deleted ones, in the order of their numbers from one sequence. */
async function mergedPage(
  reader: Reader,
  { feed, limit: asked, maxBytes }: ChangesRequest,
  after: bigint,
  followed: FollowedTable,
): Promise<RawPage> {
  // Rows and tombstones are read at two moments. Up to this number, which is older than both, nothing is missing.
  const head = await readHead(reader, feed)
  const value = head?.value ?? 0n
  if (value <= after) return { changes: [], hasMore: false, head, readTo: null }
  // The sizes of rows are not known, so few at a time.
  const limit = Number.isFinite(maxBytes) ? Math.min(asked, FIRST_ROWS) : asked
  const changes: RawChange[] = []
  let bytes = 0
  // Tombstones that do not count must not make a page short or empty: a reader would take it for the end.
  for (let from = after; ; ) {
    const { merged, end } = await mergedPart(reader, { feed, after: from, upTo: value, limit }, followed)
    for (const change of merged) {
      bytes += sizeOf(change)
      const isFull = changes.length === limit || (changes.length > 0 && bytes > maxBytes)
      if (isFull) return { changes, hasMore: true, head: null, readTo: null }
      changes.push(change)
    }
    if (end === null) return { changes, hasMore: false, head: null, readTo: from }
    from = end
  }
}

/** Tombstones of one statement: they are small. */
const TOMBSTONES = 1000

/** The next changes, and up to where they are complete; null: there are no more. */
async function mergedPart(
  reader: Reader,
  { feed, after, upTo, limit }: { feed: string; after: bigint; upTo: bigint; limit: number },
  followed: FollowedTable,
): Promise<{ merged: RawChange[]; end: bigint | null }> {
  const rows = await reader.rows(changesSql(reader, TOMBSTONES, ' AND e.deleted = 1'), [feed, after])
  const tombstones = rows.map(rawChangeOf).filter(({ syncId }) => syncId <= upTo)
  const live = (await rowsAfter(reader, followed, after, limit + 1)).filter(({ syncId }) => syncId <= upTo)
  const keys = tombstones.map(({ key }) => key)
  const present = await keysWithRow(reader, followed, keys)
  const gone = tombstones.filter(({ key }) => !present.has(key))
  // A list that is full says nothing of what comes behind its end.
  const ends = [
    ...(tombstones.length === TOMBSTONES ? tombstones.slice(-1) : []),
    ...(live.length > limit ? live.slice(-1) : []),
  ].map(({ syncId }) => syncId)
  const end = ends.reduce<bigint | null>((least, id) => (least === null || id < least ? id : least), null)
  const merged = [...gone, ...live].filter(({ syncId }) => end === null || syncId <= end)
  return { merged: merged.sort((a, b) => (a.syncId < b.syncId ? -1 : 1)), end }
}
