/**
 * Removals from feeds as time passes: tombstones that were kept long enough, and the entries of dropped feeds. Any
 * number of processes may sweep at once.
 *
 * Invariant: the transaction that removes a tombstone notes its number in the feed's sequence (the horizon), so that a
 * consumer that has not read so far gets an error. It locks the sequence's row first, as publishers do, so no tombstone is being
 * numbered since.
 */
import { compareNames, type Session, type Tx } from '../../database/engine'
import { groupedBy, rowsAmong, writeAmong } from '../chunks'
import { whether } from '../reminders'
import { column, shaped } from '../row-shape'
import { readSequence, setSequence } from '../sequences'
import { FEED } from './heads'
import { noteTombstones } from './write'

const BATCH = 250

const ROUND = 20

export const anyOld = (tombstoneMs: number) =>
  whether(({ tables, now }) => [
    `SELECT 1 FROM ${tables.feedDrops}`,
    `SELECT 1 FROM ${tables.feedTombstones} WHERE deleted_at_ms <= ${now} - ${tombstoneMs}`,
  ])

/** One round: the number of tombstones removed, and whether there is more to do at once. */
export async function sweepFeeds(session: Session, tombstoneMs: number): Promise<{ removed: number; more: boolean }> {
  const isDropping = await clearDropped(session)
  const { removed, more } = await sweepTombstones(session, tombstoneMs)
  return { removed, more: more || isDropping }
}

/** Removes entries of dropped feeds; resolves to whether more are left. Only one process at a time does this. */
async function clearDropped(session: Session): Promise<boolean> {
  let after: string | null = null
  for (let left = ROUND; left > 0; left--) {
    const last: string | null = after
    const end: string | null = await session.write((tx) => clearBatch(tx, last))
    if (end === null) return false
    // Removed rows stay in the index until they are purged: the next batch begins behind them.
    after = end === DONE ? null : end
  }
  return true
}

/** A feed has been cleared; no key is empty. */
const DONE = ''

/** Resolves to the last key that was removed; null where there is nothing to clear. */
async function clearBatch(tx: Tx, after: string | null): Promise<string | null> {
  const { feedDrops, feedEntries } = tx.tables
  const [drop] = await tx.rows(
    `SELECT ${tx.engine.bigint('feed_id')} AS id FROM ${feedDrops} ORDER BY ${feedDrops}.feed_id LIMIT 1${tx.engine.forNext}`,
  )
  if (!drop) return null
  const feedId = BigInt(drop.id as string)
  const rows = await tx.rows(
    `SELECT entry_key FROM ${feedEntries}${tx.engine.useIndex('PRIMARY')} WHERE feed_id = ?${after === null ? '' : ' AND entry_key > ?'} ` +
      `ORDER BY entry_key LIMIT ${BATCH}`,
    after === null ? [feedId] : [feedId, after],
  )
  const keys = rows.map((row) => row.entry_key as string)
  await removeEntries(tx, feedId, keys)
  if (keys.length === BATCH) return keys.at(-1) as string
  if (after !== null) return DONE
  await tx.later(`DELETE FROM ${feedDrops} WHERE feed_id = ?`, [feedId])
  return DONE
}

function removeEntries(tx: Tx, feedId: bigint, keys: readonly string[]): Promise<void> {
  const remove = `DELETE FROM ${tx.tables.feedEntries} WHERE feed_id = ? AND entry_key IN`
  return writeAmong(tx, keys, BATCH, (some) => `${remove} ${some}`, [feedId])
}

/** A row of recentn_feed_tombstones: when a tombstone was written. */
const NOTE = shaped({
  feedId: column.big.of('t.feed_id'),
  feed: column.text.orNull('f.feed'),
  key: column.text.of('t.entry_key'),
  deletedAtMs: column.number.of('t.deleted_at_ms'),
})

interface TombstoneNote extends ReturnType<typeof NOTE.of> {
  cutoffMs: number
}

/** Resolves to the number of tombstones removed, and whether more are due that can be removed at once. */
async function sweepTombstones(session: Session, tombstoneMs: number): Promise<{ removed: number; more: boolean }> {
  const rows = await session.read((reader) =>
    reader.rows(
      `SELECT ${NOTE.columns(reader)}, ${reader.now} AS now_ms FROM ${reader.tables.feedTombstones} t LEFT JOIN ${reader.tables.feeds} f ON f.id = t.feed_id ` +
        `WHERE t.deleted_at_ms <= ${reader.now} - ${tombstoneMs} ORDER BY t.deleted_at_ms LIMIT ${BATCH}`,
    ),
  )
  const due = rows.map((row): TombstoneNote => ({ ...NOTE.of(row), cutoffMs: Number(row.now_ms) - tombstoneMs }))
  let settled = 0
  let removed = 0
  for (const notes of groupedBy(due, ({ feedId }) => feedId).values()) {
    const done = await session.write((tx) => removeDue(tx, notes))
    settled += done.settled
    removed += done.removed
  }
  return { removed, more: rows.length === BATCH && settled > 0 }
}

/** Removes the due tombstones of one feed. A row that a writer holds, or that has no number yet, is left for later. */
async function removeDue(tx: Tx, notes: readonly TombstoneNote[]): Promise<{ settled: number; removed: number }> {
  const { feedId, feed, cutoffMs } = notes[0] as TombstoneNote
  const sequence = feed === null ? null : await readSequence(tx, FEED, feed, tx.engine.forUpdate)
  const keys = [...new Set(notes.map(({ key }) => key))].sort(compareNames)
  const all = await entriesOf(tx, feedId, keys, '')
  const held = await entriesOf(tx, feedId, keys, tx.engine.forNext)
  const isSettled = (key: string) => {
    const entry = held.get(key)
    return !all.has(key) || (entry !== undefined && (!entry.isDeleted || entry.syncId > 0n))
  }
  const keptSince = (entry: ReturnType<typeof NOTED.of>) => Math.max(entry.updatedAtMs, entry.unpublishedSinceMs)
  const numbered = [...held.values()].filter(({ isDeleted, syncId }) => isDeleted && syncId > 0n)
  const expired = numbered.filter((entry) => keptSince(entry) <= cutoffMs)
  const removed = expired.map(({ key }) => key)
  await removeEntries(tx, feedId, removed)
  let greatest = 0n
  for (const { syncId } of expired) if (syncId > greatest) greatest = syncId
  if (sequence && feed !== null && greatest > sequence.horizon) {
    await setSequence(tx, FEED, feed, { value: sequence.value, horizon: greatest })
  }
  const settled = notes.filter(({ key }) => isSettled(key))
  for (const { key, deletedAtMs } of settled) {
    await tx.later(
      `DELETE FROM ${tx.tables.feedTombstones} WHERE deleted_at_ms = ? AND feed_id = ? AND entry_key = ?`,
      [deletedAtMs, feedId, key],
    )
  }
  // One that was republished since is kept as long again.
  for (const entry of numbered) {
    if (keptSince(entry) > cutoffMs) await noteTombstones(tx, feedId, [entry.key], keptSince(entry))
  }
  return { settled: settled.length, removed: removed.length }
}

const NOTED = shaped({
  key: column.text.of('entry_key'),
  isDeleted: column.flag.of('deleted'),
  /** 0 for none. */
  syncId: column.big.of('sync_id'),
  /** When it was deleted. */
  updatedAtMs: column.number.of('updated_at_ms'),
  /** When it was republished, perhaps: it may have waited to be published since before. */
  unpublishedSinceMs: column.number.of('unpublished_since_ms'),
})

async function entriesOf(tx: Tx, feedId: bigint, keys: readonly string[], lock: string) {
  const select = `SELECT ${NOTED.columns(tx)} FROM ${tx.tables.feedEntries} WHERE feed_id = ? AND entry_key IN`
  const sql = (some: string) => `${select} ${some} ORDER BY entry_key${lock}`
  const rows = await rowsAmong(tx, keys, BATCH, sql, { before: [feedId] })
  return new Map(rows.map(NOTED.of).map((entry) => [entry.key, entry]))
}
