/**
 * The locked heads of a batch of appends, and the ids that it takes from them.
 *
 * One statement locks each head, creates it if it is not there and takes the ids. It answers with the heads (MySQL, whose
 * writes do not answer with rows, is asked for them afterwards). That is half the work of locking, reading and writing
 * heads back. Only heads for which that turns out not to be enough (new groups, changed policies, items that were there
 * already) are written back. Invariant and lock order are those of `heads.ts`.
 */
import { type Insert, placeholders, type Row, type StatementAnswer, sortNames, type Tx } from '../../database/engine'
import { MAX_ID } from '../../fields/rules'
import type { Mode } from '../../shared/group-types'
import { chunksOf, MAX_KEYS } from '../chunks'
import { leaveMark, markSql, type Writer } from '../writers'
import {
  deleteHeads,
  type LockedHeads,
  lockOrCreateHeads,
  type Moment,
  markedMomentSql,
  momentColumns,
  momentOf,
  NOT_YET_SETTLED,
  newIncarnation,
  saveHeads,
  settleNew,
} from './heads'
import type { PolicyCache } from './policies'
import { applyPolicies } from './reslot'
import type { Ring } from './ring'
import { type Head, headOf, headText } from './rows'

const CHUNK = 500

/** The locked heads of a batch, each with the last id and the layout from before the batch. */
export interface BatchHeads extends LockedHeads {
  /** The last id of each head in the database, where the batch has taken its ids already. */
  taken: ReadonlyMap<string, bigint>
  created: ReadonlySet<string>
  /** Groups that are new, or laid out by other policies than those of the moment. */
  stale: ReadonlySet<string>
}

/** Locks the heads with a statement for each step, and takes nothing yet. */
export async function lockBatch(
  tx: Tx,
  policies: PolicyCache,
  groups: Iterable<string>,
  writer?: Writer,
): Promise<BatchHeads> {
  if (writer) await leaveMark(tx, writer)
  const locked = await lockOrCreateHeads(tx, policies, groups)
  return { ...locked, taken: new Map(), stale: staleOf(locked) }
}

/**
 * Locks the heads and takes `counts` ids of each, before anything is known of them. Throws where a group has few ids left. If a
 * policy changes while groups are created, a later statement fails (`PolicyCache.lockedAt`), and the batch must run again with
 * care.
 */
export async function lockAndTake(
  tx: Tx,
  policies: PolicyCache,
  counts: ReadonlyMap<string, number>,
  writer: Writer,
): Promise<BatchHeads> {
  const names = sortNames([...counts.keys()])
  const takes = chunksOf(names, CHUNK).map((chunk) => takeIds(tx, chunk, counts))
  const { rows, moment } = await (tx.engine.returning ? takeAndAnswer : takeAndRead)(tx, takes, names, writer)
  const heads = new Map<string, Head>()
  const taken = new Map<string, bigint>()
  for (const row of rows) {
    const head = headOf(row.line as string)
    const count = BigInt(counts.get(head.group) as number)
    // So near the end the statement may have taken none.
    if (head.lastId >= MAX_ID - count) throw new Error(`The group ${JSON.stringify(head.group)} has few ids left`)
    taken.set(head.group, head.lastId)
    head.lastId -= count
    head.version -= 1n
    heads.set(head.group, head)
  }
  const locked = { heads, ...moment }
  const stale = staleOf(locked)
  if (stale.size === 0) return { ...locked, taken, stale, created: stale }
  const lockPolicies = () => policies.lockedAt(tx, moment.epoch)
  return { ...locked, taken, stale, ...(await settleNew(heads.values(), moment, lockPolicies)) }
}

interface TakenHeads {
  /** A `TAKEN_LINE` of each head. */
  rows: Row[]
  moment: Moment
}

async function takeAndAnswer(tx: Tx, takes: readonly Insert[], _: unknown, writer: Writer): Promise<TakenHeads> {
  const answers = await tx.together([...takes, { sql: markedMomentSql(tx, writer), parameters: [] }])
  const [moment] = (answers.pop() as StatementAnswer).rows
  const [first, ...others] = answers
  const rows = first?.rows ?? []
  for (const answer of others) for (const row of answer.rows) rows.push(row)
  return { rows, moment: momentOf(moment, tx.tables) }
}

/** The heads are asked for once they are locked, with the moment. */
async function takeAndRead(
  tx: Tx,
  takes: readonly Insert[],
  names: readonly string[],
  writer: Writer,
): Promise<TakenHeads> {
  const reads = chunksOf(names, MAX_KEYS).map((chunk) => ({ sql: selectTakenSql(tx, chunk.length), parameters: chunk }))
  const answers = await tx.together([...takes, { sql: markSql(tx, writer), parameters: [] }, ...reads])
  const rows = answers.slice(takes.length + 1).flatMap((answer) => answer.rows)
  return { rows, moment: momentOf(rows[0], tx.tables) }
}

function staleOf({ heads, epoch }: LockedHeads): Set<string> {
  const stale = new Set<string>()
  for (const head of heads.values()) if (head.policyEpoch !== epoch) stale.add(head.group)
  return stale
}

/**
 * The statement that takes ids; it counts them from −1 for a new head. A head with too few left keeps what it has: a sum
 * beyond the last BIGINT is an error of the statement on the servers, and a float on SQLite.
 */
function takeIds(
  { engine, tables }: Pick<Tx, 'engine' | 'tables'>,
  names: readonly string[],
  counts: ReadonlyMap<string, number>,
): Insert {
  // BigInt: better-sqlite3 binds numbers as floats, and the sum would be one.
  const incarnation = newIncarnation()
  const rows = names.map((name) => [name, incarnation, BigInt((counts.get(name) as number) - 1)])
  const constants = `, 1, 1, 'history', ${NOT_YET_SETTLED}, 0`
  const count = `${engine.proposed('last_id')} + 1`
  const insert = (values: string) =>
    `INSERT INTO ${tables.groups} (group_key, incarnation, last_id, version, capacity, mode, policy_epoch, created_at_ms) ` +
    `VALUES ${values} ${engine.onDuplicate('group_key')} version = version + 1, ` +
    `last_id = CASE WHEN last_id < ${MAX_ID} - (${count}) THEN last_id + ${count} ELSE last_id END`
  return engine.insert(
    engine.returning ? (values) => `${insert(values)} RETURNING ${TAKEN_LINE}` : insert,
    rows,
    constants,
  )
}

/** Where a write has no RETURNING: the heads, which this transaction has locked, and the moment, in one statement. */
export const selectTakenSql = (tx: Pick<Tx, 'engine' | 'tables' | 'now'>, count: number) =>
  `SELECT ${TAKEN_LINE}, ${momentColumns(tx, 'e.epoch')} FROM ${tx.tables.policyEpoch} e, ${tx.tables.groups}${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE e.id = 1 AND group_key IN (${placeholders(count)})`

const TAKEN_LINE = `${headText('')} AS line`

/** The mode that each group has by the policies in force, laid out by them or not. */
export async function modesInForce(
  tx: Tx,
  policies: PolicyCache,
  { heads, stale, epoch }: BatchHeads,
): Promise<(group: string) => Mode | undefined> {
  const set = await policies.current(tx, heads.values(), epoch)
  return (group) => {
    const head = heads.get(group)
    return head && stale.has(group) ? set.settingsOf(group, head.own).mode : head?.mode
  }
}

/** Lays out those of these groups that are laid out by other policies. The other groups stay as they are. */
export async function layOut(tx: Tx, policies: PolicyCache, batch: BatchHeads, groups: Set<string>): Promise<void> {
  const heads = new Map([...batch.heads].filter(([group]) => batch.stale.has(group) && groups.has(group)))
  if (heads.size > 0) await applyPolicies(tx, policies, { ...batch, heads })
}

/** Writes those heads back that are not yet as they must be, and drops groups that were created but got no item. */
export async function saveBatch(tx: Tx, batch: BatchHeads, rings: ReadonlyMap<string, Ring>): Promise<void> {
  const saved: Head[] = []
  const orphans: string[] = []
  for (const [group, head] of batch.heads) {
    const isChanged = rings.get(group)?.isChanged === true
    // It may be the time at which a group that was empty would have been forgotten.
    const expiresAtMs = head.ttlSeconds === null ? Number.POSITIVE_INFINITY : batch.nowMs + head.ttlSeconds * 1000
    const isExpiryKnown = head.ttlSeconds === null || (head.sweepAtMs !== null && head.sweepAtMs <= expiresAtMs)
    if (!isChanged && batch.created.has(group)) orphans.push(group)
    else if (batch.stale.has(group) || batch.taken.get(group) !== head.lastId || !isExpiryKnown) {
      if (isChanged) head.version += 1n
      // The first expiry only moves away as items leave; the sweeper finds out.
      if (isChanged && !isExpiryKnown) head.sweepAtMs = expiresAtMs
      saved.push(head)
    }
  }
  if (saved.length > 0) await saveHeads(tx, saved)
  if (orphans.length > 0) await deleteHeads(tx, orphans)
}
