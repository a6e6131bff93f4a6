/**
 * Head rows: the lock of a group, and its sequence.
 *
 * Invariant: a transaction that changes anything of a group has locked its head first. Several heads are locked in the order of
 * their names, so that two transactions never wait for each other. It locks a head before it reads anything else of the
 * group (MariaDB's innodb_snapshot_isolation refuses a lock on a row that changed after the first read).
 */
import { randomInt } from 'node:crypto'
import {
  compareNames,
  placeholders,
  type Reader,
  type Row,
  type Statement,
  type StatementAnswer,
  type Tx,
} from '../../database/engine'
import type { Tables } from '../../database/tables'
import { chunksOf, MAX_KEYS } from '../chunks'
import { heldElsewhere } from '../held'
import { markSql, type Writer } from '../writers'
import { epochOf, type PolicyCache, type PolicySet } from './policies'
import { type Head, headOf, headText, headValues, WRITTEN_COLUMNS } from './rows'

/** The facts that hold while the locks are held: the database's time, and the epoch of the policies. */
export interface Moment {
  nowMs: number
  epoch: bigint
}

export interface LockedHead extends Moment {
  head: Head
}

/** Heads by name, at the moment after they were locked. */
export interface LockedHeads extends Moment {
  heads: Map<string, Head>
}

/** The epoch of a new head: it gets its settings once it is locked. */
export const NOT_YET_SETTLED = 0n

const MUTABLE = WRITTEN_COLUMNS.filter((column) => !['group_key', 'incarnation'].includes(column))

const lockHeadsSql = (tx: Pick<Tx, 'engine' | 'tables'>, count: number, lock = tx.engine.forUpdate) =>
  `SELECT ${headText()} AS line FROM ${tx.tables.groups} g${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE g.group_key IN (${placeholders(count)}) ORDER BY g.group_key${lock}`

/**
 * Asks for the moment, once the heads are locked, so that times never run backwards in a group and no write goes by older
 * policies. (As a subquery of the locking SELECT it would be read before the lock.)
 */
function momentSql(tx: Tx): string {
  return `SELECT ${momentColumns(tx)} FROM ${tx.tables.policyEpoch} WHERE id = 1`
}

export function momentOf(row: Row | undefined, tables: Tables): Moment {
  return { nowMs: Number(row?.now_ms), epoch: epochOf(row?.epoch, tables) }
}

export function momentColumns({ engine, now }: Pick<Tx, 'engine' | 'now'>, epoch = 'epoch'): string {
  return `${now} AS now_ms, ${engine.bigint(epoch)} AS epoch`
}

/** Answers with the moment, and leaves the mark of the writer's batch where commits can be lost. */
export function markedMomentSql(tx: Tx, writer: Writer): string {
  if (!tx.engine.losesCommits) return momentSql(tx)
  const epoch = `(SELECT epoch FROM ${tx.tables.policyEpoch} WHERE id = 1)`
  return `${markSql(tx, writer)} RETURNING ${momentColumns(tx, epoch)}`
}

export async function lockHeads(tx: Tx, groups: Iterable<string>, lock = tx.engine.forUpdate): Promise<LockedHeads> {
  const answers = await tx.together([...selectHeadsOf(tx, groups, lock), { sql: momentSql(tx), parameters: [] }])
  const [moment] = (answers.pop() as StatementAnswer).rows
  return { heads: headsIn(answers), ...momentOf(moment, tx.tables) }
}

/** The heads alone, for a caller that does not need the moment. */
export async function selectHeads(tx: Tx, groups: Iterable<string>, lock: string): Promise<Map<string, Head>> {
  return headsIn(await tx.together(selectHeadsOf(tx, groups, lock)))
}

function selectHeadsOf(tx: Tx, groups: Iterable<string>, lock: string): Statement[] {
  const chunks = chunksOf([...new Set(groups)].sort(compareNames), MAX_KEYS)
  return chunks.map((chunk) => ({ sql: lockHeadsSql(tx, chunk.length, lock), parameters: chunk }))
}

function headsIn(answers: readonly StatementAnswer[]): Map<string, Head> {
  const heads = new Map<string, Head>()
  for (const { rows } of answers) {
    for (const { line } of rows) {
      const head = headOf(line as string)
      heads.set(head.group, head)
    }
  }
  return heads
}

export async function lockedGroups(reader: Reader, groups: Iterable<string>): Promise<Set<string>> {
  const held = new Set<string>()
  for (const chunk of chunksOf([...groups].sort(compareNames), MAX_KEYS)) {
    const select = { sql: lockHeadsSql(reader, chunk.length, ''), parameters: chunk }
    for (const name of await heldElsewhere(reader, select, ({ line }) => headOf(line as string).group)) held.add(name)
  }
  return held
}

export async function lockHead(tx: Tx, group: string, lock?: string): Promise<LockedHead | null> {
  const { heads, ...moment } = await lockHeads(tx, [group], lock)
  const head = heads.get(group)
  return head ? { head, ...moment } : null
}

/** Locks the heads of all given groups and creates those that are missing, by the policies of the moment. */
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
  // If another transaction has created one since, the update changes nothing, and takes the lock.
  const fresh = missing.map((group) => newHead(group, locked.nowMs))
  await saveHeads(tx, fresh, ['group_key'])
  const { heads, ...moment } = await lockHeads(tx, missing)
  const settled = await settleNew(heads.values(), moment, () => policies.locked(tx))
  return { ...settled, heads: new Map([...locked.heads, ...heads]), nowMs: moment.nowMs }
}

/** Gives those of these locked heads that are new the settings of the locked policies; the caller saves them. */
export async function settleNew(
  heads: Iterable<Head>,
  { nowMs, epoch }: Moment,
  lockPolicies: () => Promise<PolicySet>,
): Promise<{ created: Set<string>; epoch: bigint }> {
  const fresh = [...heads].filter(({ policyEpoch }) => policyEpoch === NOT_YET_SETTLED)
  if (fresh.length === 0) return { created: new Set(), epoch }
  // Lock order: heads, then the epoch row. The reverse deadlocks with a policy change.
  const set = await lockPolicies()
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
    forgetEmptySeconds: null,
    own: {},
    policyEpoch: NOT_YET_SETTLED,
    sweepAtMs: null,
    createdAtMs: nowMs,
  }
}

/** Deletes heads that this transaction has created. */
export async function deleteHeads(tx: Tx, groups: readonly string[]): Promise<void> {
  for (const chunk of chunksOf(groups, MAX_KEYS)) {
    await tx.later(`DELETE FROM ${tx.tables.groups} WHERE group_key IN (${placeholders(chunk.length)})`, chunk)
  }
}

const raiseVersionsSql = ({ engine, tables }: Pick<Tx, 'engine' | 'tables'>, count: number) =>
  `UPDATE ${tables.groups}${engine.useIndex('PRIMARY')} SET version = version + 1 WHERE group_key IN (${placeholders(count)})`

/** Raises the versions of heads that this transaction has locked, where nothing else of them changes. */
export async function raiseVersions(tx: Tx, groups: readonly string[]): Promise<void> {
  for (const chunk of chunksOf(groups, MAX_KEYS)) await tx.later(raiseVersionsSql(tx, chunk.length), chunk)
}

/** Writes heads that this transaction has locked. */
export async function saveHeads(tx: Tx, heads: readonly Head[], updated: readonly string[] = MUTABLE): Promise<void> {
  const sorted = [...heads].sort((a, b) => compareNames(a.group, b.group))
  for (const chunk of chunksOf(sorted, MAX_KEYS)) {
    const upsert = tx.engine.upsert(tx.tables.groups, 'group_key', WRITTEN_COLUMNS, updated, chunk.map(headValues))
    await tx.later(upsert.sql, upsert.parameters)
  }
}
