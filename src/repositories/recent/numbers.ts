/**
 * Locking the heads of a batch of appends, whose next ids it will take.
 *
 * One statement locks each head, makes it when it is not there and takes the numbers; what an ordinary append needs to
 * know comes back with it (MySQL, whose writes do not answer with rows, is asked for it after): half the work of locking,
 * reading and writing whole heads back. What turns out not to be ordinary (a new group, a changed policy, an item that
 * was there already) is read whole and written back, with what was taken too much given back. A group that comes near its
 * last id is locked before anything is taken. Invariants and lock order are those of `heads.ts`.
 */
import { compareNames, placeholders, type Row, type Statement, type Tx } from '../../database/engine'
import { MAX_ID } from '../../fields/rules'
import { chunksOf } from '../chunks'
import type { Writer } from '../writers'
import {
  deleteHeads,
  lockOrCreateHeads,
  type Moment,
  momentColumns,
  momentOf,
  NOT_YET_SETTLED,
  newIncarnation,
  saveHeads,
  selectHeads,
  settleNew,
} from './heads'
import { orEmpty, SEPARATOR } from './lines'
import { mark } from './mark'
import type { PolicyCache } from './policies'
import { obeyPolicies } from './reslot'
import type { Ring } from './ring'
import type { Head, RingHead } from './rows'
import type { Mode } from './types'

/** Rows of one statement at the most. */
const CHUNK = 500
/** Keys of one list: a longer one may turn into a scan. */
const MAX_KEYS = 250

/** The locked heads of a batch, each still laid out as it was. */
export interface Held extends Moment {
  heads: Map<string, RingHead>
  /** Those of them that are read whole, and written back by `saveHeld`. */
  whole: Map<string, Head>
  /** Those whose numbers are taken already. */
  taken: Map<string, Taken>
  /** Groups that the batch made. */
  created: ReadonlySet<string>
}

/** As much of a head as an ordinary append must know, from before its numbers were taken. */
interface Taken extends RingHead {
  count: bigint
  policyEpoch: bigint
  /** The last id once all that was taken is used. */
  until: bigint
}

/** Locks the heads with a statement for each step, and takes nothing yet. */
export async function holdHeads(
  tx: Tx,
  policies: PolicyCache,
  groups: Iterable<string>,
  writer?: Writer,
): Promise<Held> {
  const locked = await lockOrCreateHeads(tx, policies, groups)
  if (writer) await mark(tx, writer)
  return { ...locked, whole: locked.heads, taken: new Map() }
}

/** Some group may have too few ids for all that is asked of it: to be looked at before any is taken. */
export class FewIdsLeft extends Error {}

/** Locks the heads and takes `counts` numbers of each, before anything is known of them. Throws `FewIdsLeft`. */
export async function takeHeads(
  tx: Tx,
  policies: PolicyCache,
  counts: ReadonlyMap<string, number>,
  writer?: Writer,
): Promise<Held> {
  const names = [...counts.keys()].sort(compareNames)
  const rows: Row[] = []
  for (const chunk of chunksOf(names, CHUNK)) {
    const { sql, parameters } = takeNumbers(tx, chunk, counts)
    if (tx.engine.returning) for (const row of await tx.rows(sql, parameters)) rows.push(row)
    else await tx.run(sql, parameters)
  }
  const marked = writer ? await mark(tx, writer) : null
  for (const chunk of tx.engine.returning ? [] : chunksOf(names, MAX_KEYS)) {
    for (const row of await tx.rows(selectTakenSql(tx, chunk.length), chunk)) rows.push(row)
  }
  const moment = marked ?? (await momentOf(tx, tx.engine.returning ? undefined : rows[0]))
  const taken = new Map<string, Taken>()
  for (const row of rows) {
    const head = takenOf(row, counts)
    // So near the end it may have been given none.
    if (head.until >= MAX_ID - head.count) throw new FewIdsLeft()
    taken.set(head.group, head)
  }
  const others = [...taken.values()].filter(({ policyEpoch }) => policyEpoch !== moment.epoch)
  const held: Held = { heads: taken, taken, whole: new Map(), created: new Set(), ...moment }
  return others.length === 0 ? held : settle(tx, policies, held, others)
}

/**
 * A new head has taken its numbers too, from −1. One that has not so many left keeps what it has: a sum beyond the last
 * BIGINT is an error of the statement on the servers, and a float on SQLite.
 */
function takeNumbers(
  { engine, tables }: Pick<Tx, 'engine' | 'tables'>,
  names: readonly string[],
  counts: ReadonlyMap<string, number>,
): Statement {
  const constants = ['history', Number(NOT_YET_SETTLED), 0]
  const incarnation = newIncarnation()
  // BigInt: better-sqlite3 gives numbers as floats, with which the sum would be one.
  const rows = names.map((name) => [name, incarnation, 1, BigInt(counts.get(name) as number) - 1n, 1, ...constants])
  const { sql, parameters } = engine.values(rows)
  const count = `${engine.proposed('last_id')} + 1`
  const insert =
    `INSERT INTO ${tables.groups} (group_key, incarnation, version, last_id, capacity, mode, policy_epoch, created_at_ms) ` +
    `VALUES ${sql} ${engine.onDuplicate('group_key')} version = version + 1, ` +
    `last_id = CASE WHEN last_id < ${MAX_ID} - (${count}) THEN last_id + ${count} ELSE last_id END, sync_id = NULL`
  return { sql: engine.returning ? `${insert} RETURNING ${TAKEN_LINE}` : insert, parameters }
}

/** What has no RETURNING: the heads, which this transaction has locked, and the moment, in one statement. */
export const selectTakenSql = (tx: Pick<Tx, 'engine' | 'tables' | 'now'>, count: number) =>
  `SELECT ${TAKEN_LINE}, ${momentColumns(tx, 'e.epoch')} FROM ${tx.tables.policyEpoch} e, ${tx.tables.groups}${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE e.id = 1 AND group_key IN (${placeholders(count)})`

/** As one text, as in `lines.ts`, which says why. */
const TAKEN_LINE = `CONCAT_WS(${SEPARATOR}, last_id, capacity, mode, ${orEmpty('ttl_seconds')}, policy_epoch, ${orEmpty('sweep_at_ms')}, group_key) AS line`

function takenOf({ line }: Row, counts: ReadonlyMap<string, number>): Taken {
  const [lastId, capacity, mode, ttl, epoch, sweepAt, group] = (line as string).split('\n')
  const count = BigInt(counts.get(group as string) as number)
  const until = BigInt(lastId as string)
  return {
    group: group as string,
    until,
    count,
    lastId: until - count,
    capacity: Number(capacity),
    mode: mode as Mode,
    ttlSeconds: ttl === '' ? null : Number(ttl),
    sweepAtMs: sweepAt === '' ? null : Number(sweepAt),
    policyEpoch: BigInt(epoch as string),
  }
}

/** Reads new heads, and those laid out by other policies than the moment's, whole. */
async function settle(tx: Tx, policies: PolicyCache, held: Held, others: readonly Taken[]): Promise<Held> {
  const whole = await untaken(tx, others)
  const made = await settleNew(tx, policies, whole.values(), held)
  return { ...held, ...made, heads: new Map([...held.heads, ...whole]), whole }
}

/** The mode that each group is to have by the policies in force, laid out by them or not. */
export async function modesInForce(
  tx: Tx,
  policies: PolicyCache,
  { heads, whole, epoch }: Held,
): Promise<(group: string) => Mode | undefined> {
  if (whole.size === 0) return (group) => heads.get(group)?.mode
  const set = await policies.current(tx, [epoch, ...[...whole.values()].map(({ policyEpoch }) => policyEpoch)])
  return (group) => {
    const head = whole.get(group)
    return head ? set.settingsOf(group, head.own).mode : heads.get(group)?.mode
  }
}

/** Lays these groups out by the policies in force, where that is not done. The others are left as they are. */
export async function layOut(tx: Tx, policies: PolicyCache, held: Held, groups: ReadonlySet<string>): Promise<void> {
  const heads = new Map([...held.whole].filter(([group]) => groups.has(group)))
  if (heads.size > 0) await obeyPolicies(tx, policies, { ...held, heads })
}

/** These heads, whole, as they were before their numbers were taken. */
async function untaken(tx: Tx, taken: readonly Taken[]): Promise<Map<string, Head>> {
  const groups = taken.map(({ group }) => group)
  const heads = groups.length === 0 ? new Map<string, Head>() : await selectHeads(tx, groups)
  for (const { group, count } of taken) {
    const head = heads.get(group) as Head
    head.lastId -= count
    head.version -= 1n
  }
  return heads
}

/** Writes the heads back, as far as what was taken did not do it, and drops groups that were made for nothing. */
export async function saveHeld(tx: Tx, held: Held, rings: ReadonlyMap<string, Ring>): Promise<void> {
  const late = [...held.taken.values()].filter((head) => !held.whole.has(head.group) && !isAsTaken(head))
  const wholes = await untaken(tx, late)
  for (const [group, head] of held.whole) wholes.set(group, head)
  const saved: Head[] = []
  const orphans: string[] = []
  for (const [group, whole] of wholes) {
    const ring = rings.get(group)
    const isChanged = ring !== undefined && ring.writes.size > 0
    if (!isChanged && held.created.has(group)) orphans.push(group)
    else if (ring || held.taken.has(group)) saved.push(advanced(whole, held, isChanged))
  }
  await saveHeads(tx, saved)
  await deleteHeads(tx, orphans)
}

function advanced(head: Head, { heads, nowMs }: Held, isChanged: boolean): Head {
  head.lastId = (heads.get(head.group) as RingHead).lastId
  if (isChanged) head.version += 1n
  // The first expiry only moves away as items leave; the sweeper finds out.
  if (isChanged && head.ttlSeconds !== null) head.sweepAtMs ??= nowMs + head.ttlSeconds * 1000
  return head
}

/** Whether nothing is to be written: all numbers are used, and the sweeper knows of the group if it must. */
function isAsTaken({ lastId, until, ttlSeconds, sweepAtMs }: Taken): boolean {
  return lastId === until && (ttlSeconds === null || sweepAtMs !== null)
}
