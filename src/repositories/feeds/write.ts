/**
 * Writing entries: a value, or a tombstone. The same statement that writes clears the sync id, so that a publisher gives
 * the entry a new one (traviscj.com, "feed sequences").
 *
 * Order of the locks: the feed's row (shared), then the entries by key. A writer waits for a publisher only where that
 * one is numbering the very entry.
 */
import { compareNames, placeholders, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import {
  type EntryWrite,
  type HeldFeed,
  holdFeed,
  leaveTombstones,
  noteTombstones,
  waitingSince,
  writeEntries,
} from '../feed-entries'
import { leaveMark, type Writer } from '../writers'
import { holdOrBegin, requireOwnEntries } from './heads'
import { readEntry } from './rows'
import type { WrittenEntry } from './types'

/** A checked entry on its way in. */
export interface NewRow {
  key: string
  text: string
}

/** Keys of one list: a longer one may turn into a scan. */
const MAX_KEYS = 250

export interface PutRequest {
  feed: string
  rows: readonly NewRow[]
}

/** What became of a request. */
export interface PutDone {
  /** In the order of its rows. */
  versions: number[]
  nowMs: number
}

/** What one transaction writes to a key: the last value stays, and each request has a version of its own. */
interface Put extends EntryWrite {
  version: number
}

/** Writes the entries of requests, in the order given, in one transaction. */
export async function putAll(tx: Tx, requests: readonly PutRequest[]): Promise<PutDone[]> {
  const held = new Map<string, HeldFeed>()
  for (const feed of [...new Set(requests.map((request) => request.feed))].sort(compareNames)) {
    const mine = await holdOrBegin(tx, feed)
    requireOwnEntries(mine)
    held.set(feed, mine)
  }
  const heldOf = ({ feed }: PutRequest) => held.get(feed) as HeldFeed
  const puts = new Map<string, Put>()
  const mine = requests.map((request) => countPuts(puts, heldOf(request).id, request.rows))
  // One time for all: that of the feed whose lock came last.
  let nowMs = Number.NEGATIVE_INFINITY
  for (const feed of held.values()) nowMs = Math.max(nowMs, feed.nowMs)
  await writeEntries(tx, [...puts.values()], nowMs)
  await readVersions(tx, [...puts.values()])
  return mine.map((rows) => ({
    versions: rows.map(({ put, nth }) => put.version - put.count + nth),
    nowMs,
  }))
}

/** For each row of a request the write of its key, and the how many-th request for it this is. */
function countPuts(puts: Map<string, Put>, feedId: bigint, rows: readonly NewRow[]): { put: Put; nth: number }[] {
  const counted = new Set<Put>()
  return rows.map(({ key, text }) => {
    const id = `${feedId}/${key}`
    const put = puts.get(id) ?? { feedId, key, text, count: 0, version: 0 }
    puts.set(id, put)
    put.text = text
    if (!counted.has(put)) put.count++
    counted.add(put)
    return { put, nth: put.count }
  })
}

async function readVersions(tx: Tx, puts: readonly Put[]): Promise<void> {
  const known = new Map(puts.map((put) => [`${put.feedId}/${put.key}`, put]))
  for (const [feedId, mine] of byFeed(puts)) {
    for (const keys of chunksOf(mine, MAX_KEYS)) {
      const found = await tx.rows(
        `SELECT entry_key, version FROM ${tx.tables.feedEntries} WHERE feed_id = ? AND entry_key IN (${placeholders(keys.length)})`,
        [feedId, ...keys],
      )
      for (const row of found) (known.get(`${feedId}/${row.entry_key}`) as Put).version = Number(row.version)
    }
  }
}

function byFeed(puts: readonly Put[]): Map<bigint, string[]> {
  const feeds = new Map<bigint, string[]>()
  for (const { feedId, key } of puts) {
    const keys = feeds.get(feedId)
    if (keys) keys.push(key)
    else feeds.set(feedId, [key])
  }
  return feeds
}

/** For each request whether somebody else holds one of its entries. */
export async function areLocked(tx: Tx, requests: readonly PutRequest[]): Promise<boolean[]> {
  const { bigint, forUpdateSkipLocked } = tx.engine
  const locked = new Set<string>()
  for (const feed of new Set(requests.map((request) => request.feed))) {
    const rows = requests.filter((request) => request.feed === feed).flatMap((request) => request.rows)
    const keys = [...new Set(rows.map(({ key }) => key))].sort(compareNames)
    const [row] = await tx.rows(`SELECT ${bigint('id')} AS id FROM ${tx.tables.feeds} WHERE feed = ?`, [feed])
    for (const chunk of row ? chunksOf(keys, MAX_KEYS) : []) {
      const sql = `SELECT entry_key FROM ${tx.tables.feedEntries} WHERE feed_id = ? AND entry_key IN (${placeholders(chunk.length)}) ORDER BY entry_key`
      const all = await tx.rows(sql, [row?.id as string, ...chunk])
      const free = await tx.rows(`${sql}${forUpdateSkipLocked}`, [row?.id as string, ...chunk])
      const freeKeys = new Set(free.map(({ entry_key }) => entry_key))
      for (const { entry_key } of all) if (!freeKeys.has(entry_key)) locked.add(JSON.stringify([feed, entry_key]))
    }
  }
  return requests.map(({ feed, rows }) => rows.some(({ key }) => locked.has(JSON.stringify([feed, key]))))
}

/** The requests of many callers, with a mark that tells whether their transaction has committed. */
export async function putBatch(
  tx: Tx,
  requests: readonly PutRequest[],
  { writer }: { writer: Writer },
): Promise<PutDone[]> {
  const done = await putAll(tx, requests)
  await leaveMark(tx, writer)
  return done
}

/** Makes the entry a tombstone; null where there is none, or one already. */
export async function deleteEntry(tx: Tx, feed: string, key: string): Promise<WrittenEntry | null> {
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
  return readEntry(tx, feed, key)
}

/** Leaves a tombstone for a row of a followed table that the user's code has deleted. */
export async function deleteFollowed(tx: Tx, feed: string, key: string): Promise<WrittenEntry | null> {
  return (await leaveTombstones(tx, feed, [key])) ? readEntry(tx, feed, key) : null
}
