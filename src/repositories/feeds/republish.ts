/**
 * Publishing again: the sync ids of entries are cleared, and nothing else of them is changed.
 *
 * Order of the locks: the feed's row (shared), then the entries by key, as for writers. A prefix goes in batches by key,
 * each a transaction of its own.
 */
import { compareNames, type Parameter, placeholders, type Session, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import { type HeldFeed, holdFeed, waitingSince } from '../feed-entries'
import { nameRange } from '../name-range'
import { type FollowedTable, keysWithRow } from './followed'
import { notFound } from './heads'
import { setKept } from './publish'

/** Entries of one transaction, and keys of one list: a longer one may turn into a scan. */
const BATCH = 250

/** Which entries: by key, or all whose key begins with a prefix. */
export type Selection = { keys: readonly string[] } | { prefix: string }

/** Resolves to how many entries were there; those that wait to be published already count too. */
export function republish(
  session: Session,
  feed: string,
  selection: Selection,
  followed: FollowedTable | null,
): Promise<number> {
  if ('keys' in selection) {
    const keys = [...new Set(selection.keys)].sort(compareNames)
    return session.write((tx) => clearKeys(tx, feed, keys, followed))
  }
  return session.whole(async (whole) => {
    let republished = 0
    for (const clear of followed ? [clearEntriesAfter, clearRowsAfter] : [clearEntriesAfter]) {
      for (let after: Parameter = null; ; ) {
        const last: Parameter = after
        const { next, count }: Cleared = await whole.write(async (tx) => {
          const held = await holdFeed(tx, feed)
          if (held === null) throw notFound(feed)
          return clear(tx, held, { prefix: selection.prefix, after: last, followed })
        })
        republished += count
        if (next === null) break
        after = next
      }
    }
    return republished
  })
}

interface Cleared {
  count: number
  /** The last key; null when there are no more. */
  next: Parameter
}

async function clearKeys(
  tx: Tx,
  feed: string,
  keys: readonly string[],
  followed: FollowedTable | null,
): Promise<number> {
  const held = await holdFeed(tx, feed)
  if (held === null) throw notFound(feed)
  let count = 0
  for (const chunk of chunksOf(keys, BATCH)) {
    count += await clearEntries(tx, held, chunk, followed)
    if (followed) count += await clearRows(tx, followed, followed.comparable(chunk))
  }
  return count
}

/** A tombstone of a key that has a row does not count beside it. */
async function clearEntries(
  tx: Tx,
  { id, nowMs }: HeldFeed,
  keys: readonly string[],
  followed: FollowedTable | null,
): Promise<number> {
  if (keys.length === 0) return 0
  const where = `feed_id = ? AND entry_key IN (${placeholders(keys.length)})`
  // Along another index entries of other keys would be locked too.
  const table = `${tx.tables.feedEntries}${tx.engine.useIndex('PRIMARY')}`
  const rows = await tx.rows(`SELECT entry_key FROM ${table} WHERE ${where}${tx.engine.forUpdate}`, [id, ...keys])
  const sets = `${waitingSince(String(nowMs))}, sync_id = 0`
  await tx.run(`UPDATE ${table} SET ${sets} WHERE ${where}`, [id, ...keys])
  if (followed === null || rows.length === 0) return rows.length
  const found = rows.map((row) => row.entry_key as string)
  return found.length - (await keysWithRow(tx, followed, found)).size
}

async function clearRows(tx: Tx, { source, key }: FollowedTable, keys: readonly Parameter[]): Promise<number> {
  if (keys.length === 0) return 0
  const where = `${key} IN (${placeholders(keys.length)})`
  // As above; which index of the user's another key has is not known.
  const isPrimary = source.keys.length === 1 && source.keys[0] === key
  const table = `${source.table}${isPrimary ? tx.engine.useIndex('PRIMARY') : ''}`
  const rows = await tx.rows(`SELECT ${key} FROM ${table} WHERE ${where}${tx.engine.forUpdate}`, keys)
  await tx.run(`UPDATE ${table} SET ${source.sync} = NULL${setKept(source)} WHERE ${where}`, keys)
  return rows.length
}

/** Where a batch begins. */
interface From {
  prefix: string
  after: Parameter
  followed: FollowedTable | null
}

/** The next batch of the feed's own entries. */
async function clearEntriesAfter(tx: Tx, held: HeldFeed, { prefix, after, followed }: From): Promise<Cleared> {
  const keys = await entryKeys(tx, held.id, prefix, after)
  return { next: nextOf(keys), count: await clearEntries(tx, held, keys as string[], followed) }
}

/** The next batch of the rows of a followed table. */
async function clearRowsAfter(tx: Tx, _: HeldFeed, { prefix, after, followed }: From): Promise<Cleared> {
  const table = followed as FollowedTable
  const keys = await rowKeys(tx, table, after)
  const matching = keys.filter((key) => String(key).startsWith(prefix))
  return { next: nextOf(keys), count: await clearRows(tx, table, matching) }
}

function nextOf(keys: readonly Parameter[]): Parameter {
  return keys.length < BATCH ? null : (keys.at(-1) as Parameter)
}

async function entryKeys(tx: Tx, feedId: bigint, prefix: string, after: Parameter): Promise<Parameter[]> {
  const { where, parameters } = nameRange('entry_key', String(after ?? ''), prefix)
  const rows = await tx.rows(
    `SELECT entry_key FROM ${tx.tables.feedEntries}${tx.engine.useIndex('PRIMARY')} WHERE feed_id = ? AND ${where} ` +
      `ORDER BY entry_key LIMIT ${BATCH}`,
    [feedId, ...parameters],
  )
  return rows.map((row) => row.entry_key as string)
}

/** All keys, whatever they begin with: how the user's column compares texts is not known. */
async function rowKeys(tx: Tx, { source, key, keyText }: FollowedTable, after: Parameter): Promise<Parameter[]> {
  const rows = await tx.rows(
    `SELECT ${keyText(tx.engine)} AS recentn_key FROM ${source.table}${after === null ? '' : ` WHERE ${key} > ?`} ORDER BY ${key} LIMIT ${BATCH}`,
    after === null ? [] : [after],
  )
  return rows.map((row) => row.recentn_key as Parameter)
}
