/**
 * Putting entries: the requests of many callers in one transaction, each all or nothing. Where statements share round trips,
 * the entries are written before it is known whether their feeds are as they were last seen. If they are not, the
 * transaction fails, and runs again without the guess.
 *
 * Lock order: the feeds' rows (shared), then the entries by feed and key.
 */
import {
  compareNames,
  type Parameter,
  placeholders,
  type Reader,
  type Row,
  type Statement,
  type Tx,
} from '../../database/engine'
import type { IfVersion } from '../../shared/feed-types'
import { chunksOf, groupedBy, MAX_KEYS } from '../chunks'
import { heldElsewhere, skippingShared } from '../held'
import { type BatchRun, committing } from '../runners'
import { leaveMark } from '../writers'
import { heldFeed, holdFeedSql, holdOrBegin, requireOwnEntries } from './heads'
import type { FeedMemory } from './memory'
import { type EntryWrite, holdVersions, inOrder, writeRowsSql, writeSql } from './write'

/** An entry that was checked, with its value as JSON. */
export interface EntryText extends IfVersion {
  key: string
  text: string
}

export interface PutRequest {
  feed: string
  rows: readonly EntryText[]
  /** The caller gave a list, in which a refusal points to entries. */
  isList?: boolean
}

export interface PutDone {
  /** In the order of the request's rows. */
  versions: number[]
  nowMs: number
}

/** The puts of a transaction to a key: the last value is kept, and each request gets its own version. */
interface PutWrite extends EntryWrite {
  version: number
}

/** Puts commit together by the first key, so that an entry that another transaction holds delays no other keys. */
export const PUTS = committing<FeedMemory, PutRequest, PutDone>({
  what: 'entries',
  keyOf: ({ feed, rows }) => `${feed}/${rows[0]?.key}`,
  sizeOf: ({ rows }) => ({
    items: rows.length,
    bytes: rows.reduce((sum, { key, text }) => sum + key.length + text.length, 0),
  }),
  run: putEntries,
  heldLocks: heldEntries,
})

async function putEntries(
  tx: Tx,
  memory: FeedMemory,
  requests: readonly PutRequest[],
  batch?: BatchRun,
): Promise<PutDone[]> {
  if (batch !== undefined) await leaveMark(tx, batch.writer)
  const feeds = [...new Set(requests.map(({ feed }) => feed))].sort(compareNames)
  const isGuess = batch?.isCareful === false && tx.gathers
  const ids = new Map<string, bigint>()
  const done =
    (isGuess ? await putAsKnown(tx, feeds, requests, memory, ids) : null) ??
    (await putHeld(tx, feeds, requests, memory, ids))
  const put = requests.reduce((sum, { rows }) => sum + rows.length, 0)
  const written = feeds.map((feed) => ({ feed, id: ids.get(feed) as bigint }))
  await memory.wrote(tx, written, { put, isOwn: batch !== undefined })
  return done
}

async function putHeld(
  tx: Tx,
  feeds: readonly string[],
  requests: readonly PutRequest[],
  memory: FeedMemory,
  ids: Map<string, bigint>,
): Promise<PutDone[]> {
  let nowMs = Number.NEGATIVE_INFINITY
  for (const feed of feeds) {
    const held = await holdOrBegin(tx, feed)
    requireOwnEntries(held)
    memory.learnId(feed, held.id)
    ids.set(feed, held.id)
    // One time for all: that of the feed whose lock came last.
    nowMs = Math.max(nowMs, held.nowMs)
  }
  for (const request of requests) await holdVersions(tx, ids.get(request.feed) as bigint, nowMs, request)
  const { writes, doneAt } = countPuts(requests, ids)
  const { returning } = tx.engine
  for (const chunk of inOrder(writes.values())) {
    const write = writeRowsSql(tx, chunk, nowMs, returning ? returned(tx) : '')
    if (returning) noteVersions(writes, await tx.rows(write.sql, write.parameters))
    else await tx.later(write)
  }
  if (!returning) {
    for (const { sql, parameters } of versionsSql(tx, writes)) noteVersions(writes, await tx.rows(sql, parameters))
  }
  return doneAt(nowMs)
}

/** The time of the transaction, which the statements of one packet cannot be given. */
const NOW = '@recentn_now'

/** All in one round trip; null where a feed was not seen yet, or the entries are too large for one INSERT. */
async function putAsKnown(
  tx: Tx,
  feeds: readonly string[],
  requests: readonly PutRequest[],
  memory: FeedMemory,
  ids: Map<string, bigint>,
): Promise<PutDone[] | null> {
  for (const feed of feeds) {
    const id = memory.ids.get(feed)
    if (id === undefined) return null
    ids.set(feed, id)
  }
  const { writes, doneAt } = countPuts(requests, ids)
  const [chunk, more] = inOrder(writes.values())
  if (chunk === undefined || more !== undefined) return null
  const statements = [
    ...feeds.map((feed) => holdFeedSql(tx, feed)),
    { sql: `SET ${NOW} = ${tx.now}`, parameters: [] },
    writeNowSql(tx, chunk),
    ...(tx.engine.returning ? [] : versionsSql(tx, writes)),
  ]
  const answers = await tx.together(statements)
  for (const [index, feed] of feeds.entries()) {
    const held = heldFeed(answers[index]?.rows ?? [])
    if (held !== null && held.id === ids.get(feed) && held.followedTable === null) continue
    for (const one of feeds) memory.ids.delete(one)
    throw new Error(`The feed ${JSON.stringify(feed)} is not what it was`)
  }
  const written = answers.slice(feeds.length + 1).flatMap(({ rows }) => rows)
  noteVersions(writes, written)
  return doneAt(Number(written[0]?.updated_at_ms))
}

function writeNowSql(tx: Tx, writes: readonly EntryWrite[]): Statement {
  const parameters: Parameter[] = []
  const list = (values: Parameter[]) => {
    const one = tx.engine.list(values)
    for (const value of one.parameters) parameters.push(value)
    return one.sql
  }
  const rows = writes.map(({ feedId, key, text, count }) => {
    return `(${list([feedId, key, 0, count, 0])}, ${NOW}, ${NOW}, ${list([text])})`
  })
  return { sql: writeSql(tx, rows.join(', ')) + (tx.engine.returning ? returned(tx) : ''), parameters }
}

/** The puts of the requests to each key, and from its versions and time the result of each request. */
function countPuts(requests: readonly PutRequest[], ids: ReadonlyMap<string, bigint>) {
  const writes = new Map<string, PutWrite>()
  const counted = requests.map(({ feed, rows }) => {
    const feedId = ids.get(feed) as bigint
    const own = new Set<PutWrite>()
    // For each row: the write of its key, and which of the requests for that key this one is.
    return rows.map(({ key, text }) => {
      const id = `${feedId}/${key}`
      const write = writes.get(id) ?? { feedId, key, text, count: 0, version: 0 }
      writes.set(id, write)
      write.text = text
      if (!own.has(write)) write.count++
      own.add(write)
      return { write, nth: write.count }
    })
  })
  const doneAt = (nowMs: number): PutDone[] =>
    counted.map((rows) => ({ versions: rows.map(({ write, nth }) => write.version - write.count + nth), nowMs }))
  return { writes, doneAt }
}

function versionColumns({ engine }: Pick<Tx, 'engine'>): string {
  return `${engine.bigint('feed_id')} AS feed_id, entry_key, version, updated_at_ms`
}

const returned = (tx: Tx) => ` RETURNING ${versionColumns(tx)}`

function versionsSql(tx: Tx, writes: ReadonlyMap<string, PutWrite>): Statement[] {
  const byFeed = [...groupedBy(writes.values(), ({ feedId }) => feedId)]
  return byFeed.flatMap(([feedId, mine]) =>
    chunksOf(mine, MAX_KEYS).map((chunk) => ({
      sql: `SELECT ${versionColumns(tx)} FROM ${tx.tables.feedEntries} WHERE feed_id = ? AND entry_key IN (${placeholders(chunk.length)})`,
      parameters: [feedId, ...chunk.map(({ key }) => key)],
    })),
  )
}

function noteVersions(writes: ReadonlyMap<string, PutWrite>, rows: readonly Row[]): void {
  for (const { feed_id, entry_key, version } of rows) {
    ;(writes.get(`${feed_id}/${entry_key}`) as PutWrite).version = Number(version)
  }
}

/** For each request its feed or the key of an entry, if another transaction holds it, or null. */
async function heldEntries(reader: Reader, requests: readonly PutRequest[]): Promise<(string | null)[]> {
  const locked = new Map<string, Set<string>>()
  for (const [feed, mine] of groupedBy(requests, (request) => request.feed)) {
    const keys = [...new Set(mine.flatMap(({ rows }) => rows.map(({ key }) => key)))].sort(compareNames)
    const { engine, tables } = reader
    const select = { sql: `SELECT feed FROM ${tables.feeds} WHERE feed = ?`, parameters: [feed] }
    const isHeld = (await heldElsewhere(reader, select, () => feed, skippingShared(engine))).size > 0
    const [row] = await reader.rows(`SELECT ${engine.bigint('id')} AS id FROM ${tables.feeds} WHERE feed = ?`, [feed])
    const held = new Set<string>(isHeld ? keys : [])
    for (const chunk of row && !isHeld ? chunksOf(keys, MAX_KEYS) : []) {
      const sql = `SELECT entry_key FROM ${tables.feedEntries} WHERE feed_id = ? AND entry_key IN (${placeholders(chunk.length)}) ORDER BY entry_key`
      const parameters = [row?.id as string, ...chunk]
      const keyOf = ({ entry_key }: Row) => entry_key as string
      for (const key of await heldElsewhere(reader, { sql, parameters }, keyOf)) held.add(key)
    }
    locked.set(feed, held)
  }
  return requests.map(({ feed, rows }) => {
    const first = rows.find(({ key }) => locked.get(feed)?.has(key))
    return first ? `${feed} ${first.key}` : null
  })
}
