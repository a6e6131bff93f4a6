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

/** What is true once the lock is there: the database's time, and how often the policies have changed. */
interface Moment {
  nowMs: number
  epoch: bigint
}

/** One head, at the moment when it was asked for. */
export interface LockedHead extends Moment {
  head: Head
}

/** Heads by name, at the moment when they were asked for. */
export interface LockedHeads extends Moment {
  heads: Map<string, Head>
}

/** Keys of one statement at the most: a list that is too long turns into a scan. */
const CHUNK = 250

const MUTABLE = HEAD_COLUMNS.filter((column) => !['group_key', 'incarnation'].includes(column))

export const lockHeadsSql = (tx: Pick<Tx, 'engine'>, count: number, lock = tx.engine.forUpdate) =>
  `SELECT ${headColumns(tx.engine)} FROM recent_groups g${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE g.group_key IN (${placeholders(count)}) ORDER BY g.group_key${lock}`

/**
 * Asked once the lock is there: so that times never run backwards in a group, and no write goes by older policies.
 * (As a subquery of the locking SELECT it would be a read before the lock.)
 */
const selectMomentSql = (tx: Pick<Tx, 'engine' | 'now'>) =>
  `SELECT ${tx.now} AS now_ms, ${tx.engine.bigint('epoch')} AS epoch FROM recent_policy_epoch WHERE id = 1`

/** Locks the heads that exist, of any of the given groups. */
export async function lockHeads(tx: Tx, groups: Iterable<string>, lock = tx.engine.forUpdate): Promise<LockedHeads> {
  const names = [...new Set(groups)].sort(compareNames)
  const heads = new Map<string, Head>()
  for (let start = 0; start < names.length; start += CHUNK) {
    const chunk = names.slice(start, start + CHUNK)
    for (const row of await tx.rows(lockHeadsSql(tx, chunk.length, lock), chunk)) {
      const head = headOf(row)
      heads.set(head.group, head)
    }
  }
  const [moment] = await tx.rows(selectMomentSql(tx))
  return { heads, nowMs: Number(moment?.now_ms), epoch: BigInt(moment?.epoch as string) }
}

/** Locks the head of one group; null when there is none. */
export async function lockHead(tx: Tx, group: string, lock?: string): Promise<LockedHead | null> {
  const { heads, ...moment } = await lockHeads(tx, [group], lock)
  const head = heads.get(group)
  return head ? { head, ...moment } : null
}

/** Locks the heads of all given groups and makes those that are missing, by the policies of the moment. */
export async function lockOrCreateHeads(
  tx: Tx,
  policies: PolicyCache,
  groups: Iterable<string>,
): Promise<LockedHeads & { created: Set<string> }> {
  const names = [...new Set(groups)]
  const locked = await lockHeads(tx, names)
  const missing = names.filter((name) => !locked.heads.has(name)).sort(compareNames)
  const created = new Set<string>()
  if (missing.length === 0) return { ...locked, created }
  // Whoever made one of them meanwhile keeps it: the update changes nothing, and takes the lock.
  await writeHeads(
    tx,
    missing.map((group) => newHead(group, locked.nowMs)),
    ['group_key'],
  )
  const { heads, nowMs } = await lockHeads(tx, missing)
  // Locked last: who waited for a head while holding the policies would wait for whom a change of them makes wait.
  const set = await policies.locked(tx)
  for (const head of heads.values()) {
    if (head.policyEpoch > 0n) continue
    Object.assign(head, set.settingsOf(head.group, {}), { policyEpoch: set.epoch, createdAtMs: nowMs })
    created.add(head.group)
  }
  return { heads: new Map([...locked.heads, ...heads]), nowMs, epoch: set.epoch, created }
}

/** A head that nobody has seen yet: of no epoch, so that it gets its settings once it is locked. */
function newHead(group: string, nowMs: number): Head {
  return {
    group,
    incarnation: BigInt(randomInt(2 ** 47)),
    version: 0n,
    lastId: -1n,
    capacity: 1,
    mode: 'history',
    ttlSeconds: null,
    own: {},
    policyEpoch: 0n,
    sweepAtMs: null,
    createdAtMs: nowMs,
  }
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
