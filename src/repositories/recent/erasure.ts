/**
 * Erasing the items of one member, those of many groups in each transaction, along the same index as `members.ts`.
 *
 * Invariant: an erasure finds the items without a lock, and deletes them once their heads are locked. It knows them by their places
 * in the index, which stay the same when another transaction moves them to other slots. Each transaction deletes items and raises
 * the versions of their groups, so an erasure that was interrupted is whole as far as it got, and a second one ends it.
 */
import type { Reader, Session, Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import { lockHeads, raiseVersions, saveHeads } from './heads'
import { groupsIn, type IndexPlace, placeCondition, placeIn, placeParameters } from './members'
import type { GroupMemory } from './memory'
import { applyPolicies, setForgetting } from './reslot'
import type { Head } from './rows'

/** Items of one transaction: few enough that no call waits long for the locks. */
const ERASED_AT_ONCE = 500
const FOUND_AT_ONCE = 4 * ERASED_AT_ONCE

/** All of it is in the index: no row is read. */
export const selectErasableSql = ({ engine, tables }: Pick<Reader, 'engine' | 'tables'>, after: boolean, groups = '') =>
  `SELECT i.group_key AS group_key, i.created_at_ms AS created_at_ms, ${engine.bigint('i.id')} AS id ` +
  `FROM ${tables.items} i${engine.useIndex(tables.index.itemsMember)} ` +
  `WHERE i.member = ? AND i.created_at_ms <= ?${groups}${after ? ` AND ${placeCondition('>')}` : ''} ` +
  'ORDER BY i.created_at_ms, i.group_key, i.id LIMIT ?'

/**
 * Erases the items that the member has when the call arrives, in groups whose names begin with `prefix`; resolves to their
 * number. It goes through the index until it finds none left: other transactions may commit some on the way.
 */
export function eraseMember(session: Session, memory: GroupMemory, member: string, prefix = ''): Promise<number> {
  return session.whole(async (whole) => {
    const [row] = await whole.read((reader) => reader.rows(`SELECT ${reader.now} AS now_ms`))
    for (let deleted = 0; ; ) {
      const erased = await eraseOnce(whole, memory, member, Number(row?.now_ms), prefix)
      if (erased === 0) return deleted
      deleted += erased
    }
  })
}

async function eraseOnce(
  session: Session,
  memory: GroupMemory,
  member: string,
  untilMs: number,
  prefix: string,
): Promise<number> {
  const groups = groupsIn(prefix)
  let deleted = 0
  for (let at: IndexPlace | null = null; ; ) {
    const from: IndexPlace | null = at
    const places = await session.read(async (reader) => {
      const after = from ? placeParameters(from) : []
      const sql = selectErasableSql(reader, from !== null, groups.where)
      const rows = await reader.rows(sql, [member, untilMs, ...groups.parameters, ...after, FOUND_AT_ONCE])
      return rows.map(placeIn)
    })
    deleted += await eraseAll(session, memory, member, chunksOf(places, ERASED_AT_ONCE))
    if (places.length < FOUND_AT_ONCE) return deleted
    at = places.at(-1) ?? null
  }
}

/**
 * Erases the items of each chunk in a transaction, two transactions at a time: while the server runs one, this process prepares
 * the other. Both lock their heads first, in one order. In a transaction of the caller's nothing may run after what has failed.
 */
async function eraseAll(
  session: Session,
  memory: GroupMemory,
  member: string,
  chunks: IndexPlace[][],
): Promise<number> {
  let deleted = 0
  const left = chunks.values()
  const lane = async () => {
    for (const chunk of left) {
      const erased = await session.write((tx) => eraseIn(tx, memory, member, chunk))
      deleted += erased
    }
  }
  const lanes = session.inTransaction ? [lane()] : [lane(), lane()]
  for (const end of await Promise.allSettled(lanes)) if (end.status === 'rejected') throw end.reason
  return deleted
}

/**
 * Erases the member's items that were at these places of the index, once the heads are locked, in whatever slots they are. If
 * some are gone by then, the versions of their groups are raised as well, which costs a reader no more than one read.
 */
async function eraseIn(tx: Tx, memory: GroupMemory, member: string, places: readonly IndexPlace[]): Promise<number> {
  const groups = places.map(({ group }) => group)
  const { heads, ...moment } = await lockHeads(tx, groups)
  if (heads.size === 0) return 0
  const stale = new Map([...heads].filter(([, head]) => head.policyEpoch !== moment.epoch))
  const before = new Map([...stale].map(([group, { version }]) => [group, version]))
  if (stale.size > 0) await applyPolicies(tx, memory.policies, { heads: stale, ...moment })
  const names = tx.engine.values([[...heads.keys()]])
  const [from, until] = [places[0]?.createdAtMs as number, places.at(-1)?.createdAtMs as number]
  const deleted = await tx.run(deleteErasedSql(tx, names.sql), [member, from, until, ...names.parameters])
  const isLaidOut = ({ group, version }: Head) => version !== (before.get(group) ?? version)
  const written = [...heads.values()].filter(
    (head) => isLaidOut(head) || (deleted > 0 && head.forgetEmptySeconds !== null),
  )
  for (const head of written) heads.delete(head.group)
  await setForgetting(tx, written, moment.nowMs)
  for (const head of written) head.version += 1n
  await saveHeads(tx, written)
  const raised = deleted > 0 ? [...heads.keys()] : []
  await raiseVersions(tx, raised)
  memory.changes(tx, [...raised, ...written.map(({ group }) => group)])
  return deleted
}

/** Compared with 1, so that the optimizer does not try each name as a part of the range: that took a fifth of the statement. */
export const deleteErasedSql = ({ engine, tables }: Pick<Reader, 'engine' | 'tables'>, groups: string) =>
  `DELETE ${engine.family === 'sqlite' ? `FROM ${tables.items} AS i` : `i FROM ${tables.items} i`}` +
  `${engine.useIndex(tables.index.itemsMember)} ` +
  `WHERE i.member = ? AND i.created_at_ms BETWEEN ? AND ? AND (i.group_key IN ${groups}) = 1`
