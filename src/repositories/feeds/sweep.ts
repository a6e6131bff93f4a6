/**
 * What time does to feeds: tombstones that have been kept long enough go, and so do the entries of dropped feeds. Any
 * number of processes may sweep at once.
 *
 * Before a tombstone goes, its number is noted in the feed's sequence (the horizon), in the same transaction: a consumer
 * that has not read so far is told. The sequence's row is locked first, as publishers do, so that no tombstone is being
 * numbered meanwhile.
 */
import { compareNames, placeholders, type Session, type Tx } from '../../database/engine'
import { noteTombstones } from '../feed-entries'
import { readSequence, setSequence } from '../sequence-rows'
import { FEED } from './heads'
import { syncIdOf } from './rows'

const BATCH = 250

/** Batches of one round. */
const ROUND = 20

/** One round: how many tombstones it removed, and whether there is more of it. */
export async function sweepFeeds(session: Session, tombstoneMs: number): Promise<{ removed: number; more: boolean }> {
  const isDropping = await clearDropped(session)
  const { removed, more } = await sweepTombstones(session, tombstoneMs)
  return { removed, more: more || isDropping }
}

/** Removes some of what a dropped feed has left behind; resolves to whether there is more. One process at a time does. */
async function clearDropped(session: Session): Promise<boolean> {
  let after: string | null = null
  for (let left = ROUND; left > 0; left--) {
    const last: string | null = after
    const end: string | null = await session.write((tx) => clearBatch(tx, last))
    if (end === null) return false
    // What was removed stays in the index until it is purged: on from there.
    after = end === DONE ? null : end
  }
  return true
}

/** A feed has been cleared; no key is empty. */
const DONE = ''

/** Resolves to the last key; null where there is nothing to clear. */
async function clearBatch(tx: Tx, after: string | null): Promise<string | null> {
  const [drop] = await tx.rows(
    `SELECT ${tx.engine.bigint('feed_id')} AS id FROM ${tx.tables.feedDrops} ORDER BY ${tx.tables.feedDrops}.feed_id LIMIT 1${tx.engine.forUpdateSkipLocked}`,
  )
  if (!drop) return null
  const feedId = BigInt(drop.id as string)
  const rows = await tx.rows(
    `SELECT entry_key FROM ${tx.tables.feedEntries}${tx.engine.useIndex('PRIMARY')} WHERE feed_id = ?${after === null ? '' : ' AND entry_key > ?'} ` +
      `ORDER BY entry_key LIMIT ${BATCH}`,
    after === null ? [feedId] : [feedId, after],
  )
  const keys = rows.map((row) => row.entry_key as string)
  await removeEntries(tx, feedId, keys)
  if (keys.length === BATCH) return keys.at(-1) as string
  if (after !== null) return DONE
  await tx.run(`DELETE FROM ${tx.tables.feedDrops} WHERE feed_id = ?`, [feedId])
  return DONE
}

async function removeEntries(tx: Tx, feedId: bigint, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await tx.run(
    `DELETE FROM ${tx.tables.feedEntries} WHERE feed_id = ? AND entry_key IN (${placeholders(keys.length)})`,
    [feedId, ...keys],
  )
}

/** Resolves to how many were removed, and whether more that is due can be seen to at once. */
async function sweepTombstones(session: Session, tombstoneMs: number): Promise<{ removed: number; more: boolean }> {
  const rows = await session.read((reader) =>
    reader.rows(
      `SELECT ${reader.engine.bigint('t.feed_id')} AS feed_id, f.feed AS feed, t.deleted_at_ms AS deleted_at_ms, ` +
        `t.entry_key AS entry_key, ${reader.now} AS now_ms FROM ${reader.tables.feedTombstones} t LEFT JOIN ${reader.tables.feeds} f ON f.id = t.feed_id ` +
        `WHERE t.deleted_at_ms <= ${reader.now} - ${tombstoneMs} ORDER BY t.deleted_at_ms LIMIT ${BATCH}`,
    ),
  )
  const feeds = new Map<string, Due>()
  for (const row of rows) {
    const id = String(row.feed_id)
    const due = feeds.get(id) ?? {
      feedId: BigInt(id),
      feed: row.feed as string | null,
      cutoffMs: Number(row.now_ms) - tombstoneMs,
      notes: [],
    }
    feeds.set(id, due)
    due.notes.push({ key: row.entry_key as string, deletedAtMs: Number(row.deleted_at_ms) })
  }
  let settled = 0
  let removed = 0
  for (const due of feeds.values()) {
    const done = await session.write((tx) => removeDue(tx, due))
    settled += done.settled
    removed += done.removed
  }
  return { removed, more: rows.length === BATCH && settled > 0 }
}

interface Note {
  key: string
  deletedAtMs: number
}

/** Notes of one feed; the feed is null when it was dropped. */
interface Due {
  feedId: bigint
  feed: string | null
  cutoffMs: number
  notes: Note[]
}

/**
 * Resolves to how many notes were seen to, and tombstones removed. What a writer holds, or no publisher has numbered, is
 * left for later.
 */
async function removeDue(
  tx: Tx,
  { feedId, feed, cutoffMs, notes }: Due,
): Promise<{ settled: number; removed: number }> {
  const sequence = feed === null ? null : await readSequence(tx, FEED, feed, tx.engine.forUpdate)
  const keys = [...new Set(notes.map(({ key }) => key))].sort(compareNames)
  const all = await entriesOf(tx, feedId, keys, '')
  const held = await entriesOf(tx, feedId, keys, tx.engine.forUpdateSkipLocked)
  const seen = (key: string) => !all.has(key) || held.get(key)?.deleted === 0 || held.get(key)?.syncId != null
  const over = [...held.values()].filter(({ deleted, syncId, keptMs }) => deleted && syncId && keptMs <= cutoffMs)
  await removeEntries(
    tx,
    feedId,
    over.map(({ key }) => key),
  )
  const [greatest] = over.map(({ syncId }) => syncId as bigint).sort((a, b) => (a < b ? 1 : -1))
  if (sequence && feed !== null && greatest !== undefined && greatest > sequence.horizon) {
    await setSequence(tx, FEED, feed, { value: sequence.value, horizon: greatest })
  }
  const done = notes.filter(({ key }) => seen(key))
  for (const { key, deletedAtMs } of done) {
    await tx.run(`DELETE FROM ${tx.tables.feedTombstones} WHERE deleted_at_ms = ? AND feed_id = ? AND entry_key = ?`, [
      deletedAtMs,
      feedId,
      key,
    ])
  }
  // One that was republished since has its time before it again.
  for (const { key, deleted, syncId, keptMs } of held.values()) {
    if (deleted && syncId && keptMs > cutoffMs) await noteTombstones(tx, feedId, [key], keptMs)
  }
  return { settled: done.length, removed: over.length }
}

interface Found {
  key: string
  deleted: number
  syncId: bigint | null
  /** When it was deleted, or republished after that: it may have waited to be published since before. */
  keptMs: number
}

async function entriesOf(tx: Tx, feedId: bigint, keys: readonly string[], lock: string): Promise<Map<string, Found>> {
  const rows = await tx.rows(
    `SELECT entry_key, deleted, updated_at_ms, unpublished_since_ms, ${tx.engine.bigint('sync_id')} AS sync_id FROM ${tx.tables.feedEntries} ` +
      `WHERE feed_id = ? AND entry_key IN (${placeholders(keys.length)}) ORDER BY entry_key${lock}`,
    [feedId, ...keys],
  )
  return new Map(
    rows.map((row) => [
      row.entry_key as string,
      {
        key: row.entry_key as string,
        deleted: Number(row.deleted),
        syncId: syncIdOf(row),
        keptMs: Math.max(Number(row.updated_at_ms), Number(row.unpublished_since_ms)),
      },
    ]),
  )
}
