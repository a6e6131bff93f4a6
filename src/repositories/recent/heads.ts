/**
 * Head rows: the lock of a group, and its sequence.
 *
 * Invariant: whoever changes anything of a group has locked its head first, and several heads are locked in the order
 * of their names, so that two transactions never wait for each other. A head is locked before anything else of the
 * group is read (MariaDB's innodb_snapshot_isolation refuses a lock on a row that changed after the first read).
 */
import { randomInt } from 'node:crypto'
import { compareNames, placeholders, type Row, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import type { PolicyCache } from './policies'
import { type Head, headColumns, headOf, headValues, WRITTEN_COLUMNS } from './rows'

/** What is true once the lock is there: the database's time, and how often the policies have changed. */
export interface Moment {
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

/** The epoch of a head that nobody has seen yet: it gets its settings once it is locked. */
export const NOT_YET_SETTLED = 0n

/** Keys of one statement at the most: a list that is too long turns into a scan. */
const CHUNK = 250

const MUTABLE = WRITTEN_COLUMNS.filter((column) => !['group_key', 'incarnation'].includes(column))
const UNPUBLISHED = MUTABLE.filter((column) => column !== 'sync_id')

export const lockHeadsSql = (tx: Pick<Tx, 'engine' | 'tables'>, count: number, lock = tx.engine.forUpdate) =>
  `SELECT ${headColumns(tx.engine)} FROM ${tx.tables.groups} g${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE g.group_key IN (${placeholders(count)}) ORDER BY g.group_key${lock}`

/**
 * Asked once the lock is there: so that times never run backwards in a group, and no write goes by older policies.
 * (As a subquery of the locking SELECT it would be a read before the lock.)
 */
export async function momentOf(tx: Tx, known?: Row): Promise<Moment> {
  const [row] = known
    ? [known]
    : await tx.rows(`SELECT ${momentColumns(tx)} FROM ${tx.tables.policyEpoch} WHERE id = 1`)
  return { nowMs: Number(row?.now_ms), epoch: BigInt(row?.epoch as string) }
}

/** SQL: what `momentOf` reads. */
export function momentColumns({ engine, now }: Pick<Tx, 'engine' | 'now'>, epoch = 'epoch'): string {
  return `${now} AS now_ms, ${engine.bigint(epoch)} AS epoch`
}

/** Locks the heads that exist, of any of the given groups. */
export async function lockHeads(tx: Tx, groups: Iterable<string>, lock = tx.engine.forUpdate): Promise<LockedHeads> {
  const heads = await selectHeads(tx, groups, lock)
  return { heads, ...(await momentOf(tx)) }
}

/** The heads alone: for who has locked them before, or asks for the moment later. */
export async function selectHeads(
  tx: Tx,
  groups: Iterable<string>,
  lock = tx.engine.forUpdate,
): Promise<Map<string, Head>> {
  const names = [...new Set(groups)].sort(compareNames)
  const heads = new Map<string, Head>()
  for (const chunk of chunksOf(names, CHUNK)) {
    for (const row of await tx.rows(lockHeadsSql(tx, chunk.length, lock), chunk)) {
      const head = headOf(row)
      heads.set(head.group, head)
    }
  }
  return heads
}

/** Those of the groups whose heads another transaction has locked. */
export async function lockedGroups(tx: Tx, groups: Iterable<string>): Promise<Set<string>> {
  const free = await selectHeads(tx, groups, tx.engine.forUpdateSkipLocked)
  const all = await selectHeads(tx, groups, '')
  return new Set([...all.keys()].filter((group) => !free.has(group)))
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
  const { heads, ...moment } = await lockHeads(tx, missing)
  const made = await settleNew(tx, policies, heads.values(), moment)
  return { ...made, heads: new Map([...locked.heads, ...heads]), nowMs: moment.nowMs }
}

/** Gives those of these locked heads that are new the settings of the policies; the caller saves them. */
export async function settleNew(
  tx: Tx,
  policies: PolicyCache,
  heads: Iterable<Head>,
  { nowMs, epoch }: Moment,
): Promise<{ created: Set<string>; epoch: bigint }> {
  const fresh = [...heads].filter(({ policyEpoch }) => policyEpoch === NOT_YET_SETTLED)
  if (fresh.length === 0) return { created: new Set(), epoch }
  // Locked last: who waited for a head while holding the policies would wait for whom a change of them makes wait.
  const set = await policies.locked(tx)
  for (const head of fresh) {
    Object.assign(head, set.settingsOf(head.group, {}), { policyEpoch: set.epoch, createdAtMs: nowMs })
  }
  return { created: new Set(fresh.map(({ group }) => group)), epoch: set.epoch }
}

export function newIncarnation(): bigint {
  return BigInt(randomInt(2 ** 47))
}

function newHead(group: string, nowMs: number): Head {
  return {
    group,
    incarnation: newIncarnation(),
    version: 0n,
    lastId: -1n,
    capacity: 1,
    mode: 'history',
    ttlSeconds: null,
    own: {},
    policyEpoch: NOT_YET_SETTLED,
    sweepAtMs: null,
    createdAtMs: nowMs,
  }
}

/** Deletes heads that this transaction has made. */
export async function deleteHeads(tx: Tx, groups: readonly string[]): Promise<void> {
  for (const chunk of chunksOf(groups, CHUNK)) {
    await tx.run(`DELETE FROM ${tx.tables.groups} WHERE group_key IN (${placeholders(chunk.length)})`, chunk)
  }
}

/** Writes heads that this transaction has locked, to be published as changed. */
export async function saveHeads(tx: Tx, heads: readonly Head[]): Promise<void> {
  await writeHeads(tx, heads, MUTABLE)
}

/** The same where nothing has changed that the feed of the groups tells: they are not published again. */
export async function saveUnpublished(tx: Tx, heads: readonly Head[]): Promise<void> {
  await writeHeads(tx, heads, UNPUBLISHED)
}

async function writeHeads(tx: Tx, heads: readonly Head[], updated: readonly string[]): Promise<void> {
  const sorted = [...heads].sort((a, b) => compareNames(a.group, b.group))
  for (const chunk of chunksOf(sorted, CHUNK)) {
    const upsert = tx.engine.upsert(tx.tables.groups, 'group_key', WRITTEN_COLUMNS, updated, chunk.map(headValues))
    await tx.run(upsert.sql, upsert.parameters)
  }
}
