/**
 * Writes of entries that count only if no other write came first (`ifVersion`): the entries' rows are locked, and their versions
 * compared. An entry that must not exist gets a row of version 0 before, which no other transaction ever sees: a row that is
 * there can be locked, and one that is not there could be inserted by two.
 *
 * Lock order: the feed's row, the entries that must not exist by key, then the others by key. Two such puts of several entries may
 * deadlock, and one of them runs again.
 */
import { compareNames, type Parameter, placeholders, type Tx } from '../../database/engine'
import { RecentnError } from '../../shared/errors'
import type { IfVersion } from '../../shared/feed-types'
import { chunksOf, MAX_KEYS } from '../chunks'

type VersionCondition = { key: string } & IfVersion

/** Holds the entries that have a condition. Throws `version_changed`, which names all those that have another version. */
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
  // The caller's transaction may continue after the refusal.
  for (const chunk of chunksOf(absent, MAX_KEYS)) {
    const sql = `DELETE FROM ${tx.tables.feedEntries} WHERE feed_id = ? AND version = 0 AND entry_key IN (${placeholders(chunk.length)})`
    await tx.run(sql, [feedId, ...chunk])
  }
  const more = differ.length > 1 ? ` (and ${differ.length - 1} more)` : ''
  const faults = isList ? differ.map(({ pointer, detail }) => ({ pointer, detail })) : []
  throw changed(first.key, first.detail + more, faults)
}

/** Holds one entry that is to be deleted: false where there is none. Throws `version_changed`. */
export async function holdVersion(tx: Tx, feedId: bigint, { key, ifVersion }: VersionCondition): Promise<boolean> {
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
  const columns = 'feed_id, entry_key, sync_id, version, deleted, updated_at_ms, unpublished_since_ms, value'
  for (const chunk of chunksOf(keys, MAX_KEYS)) {
    const rows = chunk.map((key): Parameter[] => [feedId, key, 0, 0, 1, nowMs, nowMs, 'null'])
    const { sql, parameters } = tx.engine.insert(
      (values) =>
        `INSERT INTO ${tx.tables.feedEntries} (${columns}) VALUES ${values} ${tx.engine.onDuplicate('feed_id, entry_key')} deleted = ${tx.tables.feedEntries}.deleted`,
      rows,
    )
    await tx.later(sql, parameters)
  }
}

async function lockedVersions(tx: Tx, feedId: bigint, keys: readonly string[]): Promise<Map<string, FoundEntry>> {
  const found = new Map<string, FoundEntry>()
  for (const chunk of chunksOf([...keys].sort(compareNames), MAX_KEYS)) {
    const rows = await tx.rows(
      `SELECT entry_key, version, deleted FROM ${tx.tables.feedEntries} WHERE feed_id = ? AND entry_key IN (${placeholders(chunk.length)}) ` +
        `ORDER BY entry_key${tx.engine.forUpdate}`,
      [feedId, ...chunk],
    )
    for (const { entry_key, version, deleted } of rows) {
      found.set(entry_key as string, { version: Number(version), isDeleted: Number(deleted) === 1 })
    }
  }
  return found
}
