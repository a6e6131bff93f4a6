/**
 * Publishing again: clears the sync ids of entries and changes nothing else of them.
 *
 * Lock order: the feed's row (shared), then the entries by key, as for writers. A prefix goes in batches by key, each in a
 * separate transaction.
 */
import { compareNames, type Parameter, placeholders, type Session, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import { nameRange } from '../name-range'
import { type FollowedTable, keysWithRow } from './followed'
import { type HeldFeed, holdKnown } from './heads'
import type { FeedMemory } from './memory'
import { setKept } from './publish'
import { waitingSince } from './write'

/** Entries of one transaction, and keys of one list: a longer one may turn into a scan. */
const BATCH = 250

/** Which entries: by key, or all whose key begins with a prefix. */
type RepublishedKeys = { keys: readonly string[] } | { prefix: string }

/** Resolves to the number of entries that were found, including those that wait to be published already. */
export function republish(
  session: Session,
  feed: string,
  selection: RepublishedKeys,
  memory: Pick<FeedMemory, 'wrote' | 'followed'>,
): Promise<number> {
  const followed = memory.followed.get(feed) ?? null
  if ('keys' in selection) {
    const keys = [...new Set(selection.keys)].sort(compareNames)
    return session.write(async (tx) => {
      const held = await holdKnown(tx, feed)
      await memory.wrote(tx, [{ id: held.id, feed }])
      let count = 0
      for (const chunk of chunksOf(keys, BATCH)) {
        count += await clearEntries(tx, held, chunk, followed)
        if (followed) count += await clearRows(tx, followed, followed.comparable(chunk))
      }
      return count
    })
  }
  return session.whole(async (whole) => {
    let republished = 0
    for (const clear of followed ? [clearEntriesAfter, clearRowsAfter] : [clearEntriesAfter]) {
      for (let after: Parameter = null; ; ) {
        const last: Parameter = after
        const { next, count }: ClearedBatch = await whole.write(async (tx) => {
          const held = await holdKnown(tx, feed)
          await memory.wrote(tx, [{ id: held.id, feed }])
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

interface BatchStart {
  prefix: string
  after: Parameter
  followed: FollowedTable | null
}

interface ClearedBatch {
  count: number
  next: Parameter
}

async function clearEntriesAfter(
  tx: Tx,
  held: HeldFeed,
  { prefix, after, followed }: BatchStart,
): Promise<ClearedBatch> {
  const { where, parameters } = nameRange('entry_key', String(after ?? ''), prefix)
  const rows = await tx.rows(
    `SELECT entry_key FROM ${tx.tables.feedEntries}${tx.engine.useIndex('PRIMARY')} WHERE feed_id = ? AND ${where} ` +
      `ORDER BY entry_key LIMIT ${BATCH}`,
    [held.id, ...parameters],
  )
  const keys = rows.map((row) => row.entry_key as string)
  return { next: nextOf(keys), count: await clearEntries(tx, held, keys, followed) }
}

/** The next batch of the rows of a followed table: of all, as it is not known how the user's column compares texts. */
async function clearRowsAfter(tx: Tx, _: HeldFeed, { prefix, after, followed }: BatchStart): Promise<ClearedBatch> {
  const table = followed as FollowedTable
  const { source, key, keyText } = table
  const rows = await tx.rows(
    `SELECT ${keyText(tx.engine)} AS recentn_key FROM ${source.table}${after === null ? '' : ` WHERE ${key} > ?`} ORDER BY ${key} LIMIT ${BATCH}`,
    after === null ? [] : [after],
  )
  const keys = rows.map((row) => row.recentn_key as Parameter)
  const matching = keys.filter((one) => String(one).startsWith(prefix))
  return { next: nextOf(keys), count: await clearRows(tx, table, matching) }
}

function nextOf(keys: readonly Parameter[]): Parameter {
  return keys.length < BATCH ? null : (keys.at(-1) as Parameter)
}

/** A tombstone of a key that has a row is not counted beside that row. */
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
  await tx.later(`UPDATE ${table} SET ${sets} WHERE ${where}`, [id, ...keys])
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
  await tx.later(`UPDATE ${table} SET ${source.sync} = NULL${setKept(source)} WHERE ${where}`, keys)
  return rows.length
}
