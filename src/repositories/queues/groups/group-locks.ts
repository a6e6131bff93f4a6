/**
 * The rows of message groups in queues with a `groupConcurrency` or a `groupRateLimit`: locking and writing them. It owns
 * recentn_queue_message_groups; `places.ts` says what they are for. They are locked in the order of their names.
 */
import type { Statement, StatementAnswer, Tx } from '../../../database/engine'
import type { QueueHead } from '../heads'
import { NamedRows } from '../named-rows'
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

const lockable = (head: QueueHead, group: string): LockedGroup => ({
  ...{ head, group, leaving: 0, done: 0, asked: 0, taken: 0, blocked: [], turns: null },
})

export type LockedGroups = ReadonlyMap<string, LockedGroup>

/** The group among those that are to be locked, or that are. */
export function groupIn(groups: Map<string, LockedGroup>, head: QueueHead, group: string): LockedGroup {
  const key = keyOf(head, group)
  const one = groups.get(key) ?? lockable(head, group)
  groups.set(key, one)
  return one
}

const GROUPS = new NamedRows<Pick<LockedGroup, 'head' | 'group'>>(
  'queueMessageGroups',
  'message_group',
  { limit_id: 0, taken: 0 },
  ({ head, group }) => [head.id, group],
)

export const keyOf = (head: QueueHead, group: string) => GROUPS.keyOf({ head, group })

/** Locks the groups, and the first blocked messages of those that ask for some. */
export async function lockGroups(tx: Tx, groups: LockedGroups): Promise<void> {
  for (const chunk of GROUPS.chunks(groups.values())) {
    const asking = chunk.filter(({ asked }) => asked > 0)
    const [, locked, ...found] = await tx.together([
      GROUPS.make(tx, chunk),
      GROUPS.select(tx, chunk, 'limit_id, taken', tx.engine.forUpdate),
      ...asking.map((one) => blockedSql(tx, one)),
    ])
    for (const row of (locked as StatementAnswer).rows) {
      const one = groups.get(GROUPS.keyIn(row)) as LockedGroup
      if (Number(row.limit_id) === one.head.groupLimitId) one.taken = Number(row.taken)
    }
    for (const [index, one] of asking.entries()) one.blocked = (found[index] as StatementAnswer).rows.map(lockedOf)
  }
  const rated = [...groups.values()].filter(({ head }) => head.groupRateLimit !== null)
  for (const [one, turns] of await lockTurns(tx, rated)) one.turns = turns
}

/** In the order sent. A group whose name has the same digest is passed over. */
function blockedSql(tx: Tx, { head, group, asked }: LockedGroup): Statement {
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
  const all = [...groups.values()]
  await GROUPS.save(tx, all, ({ head, taken }) => (taken > 0 ? [head.groupLimitId, taken] : null))
  await saveTurns(tx, new Map(all.flatMap((one) => (one.turns ? [[one, one.turns]] : []))))
}

/** Those of the groups that another transaction has locked; it waits for none. */
export async function lockedElsewhere(tx: Tx, groups: LockedGroups): Promise<ReadonlySet<string>> {
  const busy = new Set<string>()
  if (tx.engine.forUpdateSkipLocked === '') return busy
  for (const chunk of GROUPS.chunks(groups.values())) {
    for (const lock of ['', tx.engine.forUpdateSkipLocked]) {
      const { sql, parameters } = GROUPS.select(tx, chunk, 'taken', lock)
      for (const key of (await tx.rows(sql, parameters)).map(GROUPS.keyIn)) {
        if (lock === '') busy.add(key)
        else busy.delete(key)
      }
    }
  }
  return busy
}
