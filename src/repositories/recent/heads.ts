/**
 * Head rows: the lock of a group, and its sequence.
 *
 * Invariant: whoever changes anything of a group has locked its head first, and several heads are locked in the order
 * of their names, so that two transactions never wait for each other. A head is locked before anything else of the
 * group is read (MariaDB's innodb_snapshot_isolation refuses a lock on a row that changed after the first read).
 */
import { randomInt } from 'node:crypto'
import { compareNames, placeholders, type Tx } from '../../database/engine'
import type { PolicyCache } from './policies'
import { HEAD_COLUMNS, type Head, headColumns, headOf, headValues } from './rows'

/** Heads by name, and the database's time at which they were asked for. */
export interface LockedHeads {
  heads: Map<string, Head>
  nowMs: number
}

/** Keys of one statement at the most: a list that is too long turns into a scan. */
const CHUNK = 250

const MUTABLE = HEAD_COLUMNS.filter((column) => !['group_key', 'incarnation', 'created_at_ms'].includes(column))

export const lockHeadsSql = (tx: Pick<Tx, 'engine' | 'now'>, count: number, lock = tx.engine.forUpdate) =>
  `SELECT ${headColumns(tx.engine)}, ${tx.now} AS now_ms FROM recent_groups g${tx.engine.useIndex('PRIMARY')} WHERE g.group_key IN (${placeholders(count)}) ORDER BY g.group_key${lock}`

/** Locks the heads that exist, of any of the given groups. */
export async function lockHeads(tx: Tx, groups: Iterable<string>): Promise<LockedHeads> {
  const names = [...new Set(groups)].sort(compareNames)
  const heads = new Map<string, Head>()
  let nowMs = Number.NaN
  for (let start = 0; start < names.length; start += CHUNK) {
    const chunk = names.slice(start, start + CHUNK)
    for (const row of await tx.rows(lockHeadsSql(tx, chunk.length), chunk)) {
      nowMs = Number(row.now_ms)
      const head = headOf(row)
      heads.set(head.group, head)
    }
  }
  return { heads, nowMs }
}

/** Locks the head of one group; null when there is none. */
export async function lockHead(
  tx: Tx,
  group: string,
  lock = tx.engine.forUpdate,
): Promise<{ head: Head; nowMs: number } | null> {
  const [row] = await tx.rows(lockHeadsSql(tx, 1, lock), [group])
  return row ? { head: headOf(row), nowMs: Number(row.now_ms) } : null
}

/** Locks the heads of all given groups and makes those that are missing, by the policies of the moment. */
export async function lockOrCreateHeads(tx: Tx, policies: PolicyCache, groups: Iterable<string>): Promise<LockedHeads> {
  const names = [...new Set(groups)]
  const locked = await lockHeads(tx, names)
  const missing = names.filter((name) => !locked.heads.has(name)).sort(compareNames)
  if (missing.length === 0) return locked
  const set = await policies.locked(tx)
  const [row] = await tx.rows(`SELECT ${tx.now} AS now_ms`)
  const nowMs = Number(row?.now_ms)
  const made = missing.map(
    (group): Head => ({
      ...set.settingsOf(group, {}),
      group,
      incarnation: BigInt(randomInt(2 ** 47)),
      version: 0n,
      lastId: -1n,
      own: {},
      policyEpoch: set.epoch,
      sweepAtMs: null,
      createdAtMs: nowMs,
    }),
  )
  // Whoever made one of them meanwhile keeps it: the update changes nothing, and takes the lock.
  await writeHeads(tx, made, ['group_key'])
  const now = await lockHeads(tx, missing)
  return { heads: new Map([...locked.heads, ...now.heads]), nowMs: Math.max(nowMs, locked.nowMs || 0) }
}

/** Writes heads that this transaction has locked. */
export async function saveHeads(tx: Tx, heads: readonly Head[]): Promise<void> {
  await writeHeads(tx, heads, MUTABLE)
}

async function writeHeads(tx: Tx, heads: readonly Head[], updated: readonly string[]): Promise<void> {
  const sorted = [...heads].sort((a, b) => compareNames(a.group, b.group))
  for (let start = 0; start < sorted.length; start += CHUNK) {
    const chunk = sorted.slice(start, start + CHUNK)
    const sql = tx.engine.upsert('recent_groups', 'group_key', HEAD_COLUMNS, updated, chunk.length)
    await tx.run(sql, chunk.flatMap(headValues))
  }
}
