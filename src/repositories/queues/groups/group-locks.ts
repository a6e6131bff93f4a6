/**
 * The rows of message groups in queues with a `groupConcurrency` or a `groupRateLimit`: locking and writing them. It owns
 * recentn_queue_message_groups; `places.ts` says what they are for. They are locked in the order of their names.
 */
import { compareNames, type Insert, type Parameter, type StatementAnswer, type Tx } from '../../../database/engine'
import { chunksOf } from '../../chunks'
import type { QueueHead } from '../heads'
import { blockedPlace, claimOrder, STATE } from '../rows'
import { type LockedRow, lockedColumns, lockedOf } from '../settle/transitions'
import { lockTurns, saveTurns, type Turns } from './turns'

export interface LockedGroup {
  head: QueueHead
  group: string
  /** Messages that give up their places. */
  leaving: number
  /** Messages that give up their turns: they leave, or are received. */
  done: number
  /** How many blocked messages are looked for. */
  asked: number
  taken: number
  /** The first ones. */
  blocked: LockedRow[]
  /** Null without a `groupRateLimit`. */
  turns: Turns | null
}

export const lockable = (head: QueueHead, group: string): LockedGroup => ({
  ...{ head, group, leaving: 0, done: 0, asked: 0, taken: 0, blocked: [], turns: null },
})

export type LockedGroups = ReadonlyMap<string, LockedGroup>

const COLUMNS = ['queue_id', 'message_group', 'limit_id', 'taken']
const MAX_GROUPS = 200
export const keyOf = ({ id }: QueueHead, group: string) => `${id}/${group}`

/** Locks the groups, and the first blocked messages of those that ask for some. */
export async function lockGroups(tx: Tx, groups: LockedGroups): Promise<void> {
  const sorted = [...groups.values()].sort(byName)
  for (const chunk of chunksOf(sorted, MAX_GROUPS)) {
    const asking = chunk.filter(({ asked }) => asked > 0)
    const none = upsertSql(
      tx,
      ['queue_id'],
      chunk.map((one) => ({ ...one, taken: 0 })),
    )
    const [, locked, ...found] = await tx.together([
      none,
      lockSql(tx, chunk),
      ...asking.map((one) => blockedSql(tx, one)),
    ])
    for (const row of (locked as StatementAnswer).rows) {
      const one = groups.get(`${row.queue_id}/${row.message_group}`) as LockedGroup
      if (Number(row.limit_id) === one.head.groupLimitId) one.taken = Number(row.taken)
    }
    for (const [index, one] of asking.entries()) one.blocked = (found[index] as StatementAnswer).rows.map(lockedOf)
  }
  const rated = sorted.filter(({ head }) => head.groupRateLimit !== null)
  for (const [one, turns] of await lockTurns(tx, rated)) one.turns = turns
}

function byName(a: LockedGroup, b: LockedGroup): number {
  return a.head.id === b.head.id ? compareNames(a.group, b.group) : a.head.id < b.head.id ? -1 : 1
}

function upsertSql(tx: Tx, updated: readonly string[], groups: readonly LockedGroup[]): Insert {
  const rows = groups.map(({ head, group, taken }) => [head.id, group, head.groupLimitId, taken])
  return tx.engine.upsert(tx.tables.queueMessageGroups, 'queue_id, message_group', COLUMNS, updated, rows)
}

function someOf(groups: readonly LockedGroup[]): { where: string; parameters: Parameter[] } {
  return {
    where: groups.map(() => '(queue_id = ? AND message_group = ?)').join(' OR '),
    parameters: groups.flatMap(({ head, group }) => [head.id, group]),
  }
}

function lockSql(tx: Tx, groups: readonly LockedGroup[]): Insert {
  const { where, parameters } = someOf(groups)
  const id = `${tx.engine.bigint('queue_id')} AS queue_id`
  const columns = `${id}, message_group, limit_id, taken`
  return {
    sql: `SELECT ${columns} FROM ${tx.tables.queueMessageGroups}${tx.engine.useIndex('PRIMARY')} WHERE ${where}${tx.engine.forUpdate}`,
    parameters,
  }
}

/** In the order sent. A group whose name has the same digest is passed over. */
function blockedSql(tx: Tx, { head, group, asked }: LockedGroup): Insert {
  const { major, minor } = blockedPlace(group)
  return {
    sql:
      `SELECT ${lockedColumns(tx)} FROM ${tx.tables.queueMessages}${tx.engine.useIndex(tx.tables.index.messagesClaim)} ` +
      `WHERE queue_id = ? AND state = ${STATE.blocked} AND sort_major = ? AND sort_minor = ? AND message_group = ? ` +
      `ORDER BY ${claimOrder(tx.tables)} LIMIT ${asked}${tx.engine.forUpdate}`,
    parameters: [head.id, major, minor, group],
  }
}

/** A group without places needs no row. */
export async function saveGroups(tx: Tx, groups: LockedGroups): Promise<void> {
  for (const chunk of chunksOf([...groups.values()].sort(byName), MAX_GROUPS)) {
    const [kept, over] = [chunk.filter(({ taken }) => taken > 0), chunk.filter(({ taken }) => taken <= 0)]
    if (kept.length > 0) {
      const { sql, parameters } = upsertSql(tx, ['limit_id', 'taken'], kept)
      await tx.later(sql, parameters)
    }
    if (over.length > 0) {
      const { where, parameters } = someOf(over)
      await tx.later(`DELETE FROM ${tx.tables.queueMessageGroups} WHERE ${where}`, parameters)
    }
  }
  await saveTurns(tx, new Map([...groups.values()].flatMap((one) => (one.turns ? [[one, one.turns]] : []))))
}

/** Those of the groups that another transaction has locked; it waits for none. */
export async function lockedElsewhere(tx: Tx, groups: LockedGroups): Promise<ReadonlySet<string>> {
  const busy = new Set<string>()
  if (tx.engine.forUpdateSkipLocked === '') return busy
  for (const chunk of chunksOf([...groups.values()], MAX_GROUPS)) {
    const { where, parameters } = someOf(chunk)
    const columns = `${tx.engine.bigint('queue_id')} AS queue_id, message_group`
    const sql = `SELECT ${columns} FROM ${tx.tables.queueMessageGroups} WHERE ${where}`
    const there = await tx.rows(sql, parameters)
    const locked = await tx.rows(`${sql}${tx.engine.forUpdateSkipLocked}`, parameters)
    const free = new Set(locked.map((row) => `${row.queue_id}/${row.message_group}`))
    for (const row of there) {
      const key = `${row.queue_id}/${row.message_group}`
      if (!free.has(key)) busy.add(key)
    }
  }
  return busy
}
