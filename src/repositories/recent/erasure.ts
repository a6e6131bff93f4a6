/**
 * Erasing the items of one member, a few groups in each transaction, along the same index as `members.ts`.
 *
 * Invariant: an erasure reads the items without a lock, and again once their heads are locked: by their places in the index,
 * which stay the same when another transaction moves them to other slots.
 */
import type { Parameter, Reader, Session, Tx } from '../../database/engine'
import { lockHeads, saveHeads } from './heads'
import { groupsIn, type IndexPlace, placeCondition, placeParameters } from './members'
import type { GroupMemory } from './memory'
import { applyPolicies, setForgetting } from './reslot'
import { type Head, occupantColumns, occupantOf } from './rows'

/** Items of one transaction: few enough that nobody waits long for the locks. */
const ERASED_AT_ONCE = 500

export const selectErasableSql = (reader: Pick<Reader, 'engine' | 'tables'>, after: boolean, groups = '') =>
  `SELECT i.group_key AS group_key, ${occupantColumns(reader.engine)} FROM ${reader.tables.items} i${reader.engine.useIndex(reader.tables.index.itemsMember)} ` +
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
      const rows = await reader.rows(sql, [member, untilMs, ...groups.parameters, ...after, ERASED_AT_ONCE])
      return rows.map((found) => ({ ...occupantOf(found), group: found.group_key as string }))
    })
    if (places.length > 0) deleted += await session.write((tx) => eraseIn(tx, memory, member, places))
    if (places.length < ERASED_AT_ONCE) return deleted
    at = places.at(-1) ?? null
  }
}

/** Erases the member's items that were at these places of the index, once the heads are locked, in whatever slots they are. */
async function eraseIn(
  tx: Tx,
  memory: GroupMemory,
  member: string,
  items: readonly { group: string; createdAtMs: number }[],
): Promise<number> {
  const { heads, ...moment } = await lockHeads(
    tx,
    items.map(({ group }) => group),
  )
  if (heads.size === 0) return 0
  const [from, until] = [items[0]?.createdAtMs as number, items.at(-1)?.createdAtMs as number]
  const names = tx.engine.values([[...heads.keys()]])
  const which: Parameter[] = [member, from, until, ...names.parameters]
  const touched = new Map<string, Head>()
  for (const { group_key } of await tx.rows(selectErasedSql(tx, names.sql), which)) {
    touched.set(group_key as string, heads.get(group_key as string) as Head)
  }
  await applyPolicies(tx, memory.policies, { heads: touched, ...moment })
  const deleted = await tx.run(deleteErasedSql(tx, names.sql), which)
  for (const head of touched.values()) {
    await setForgetting(tx, head, moment.nowMs)
    head.version += 1n
  }
  await saveHeads(tx, [...touched.values()])
  memory.changes(tx, [...touched.keys()])
  return deleted
}

const erasedWhere = (groups: string) =>
  `WHERE i.member = ? AND i.created_at_ms BETWEEN ? AND ? AND i.group_key IN ${groups}`

export const selectErasedSql = ({ engine, tables }: Pick<Reader, 'engine' | 'tables'>, groups: string) =>
  `SELECT i.group_key AS group_key FROM ${tables.items} i${engine.useIndex(tables.index.itemsMember)} ` +
  erasedWhere(groups) +
  engine.forUpdate

export const deleteErasedSql = ({ engine, tables }: Pick<Reader, 'engine' | 'tables'>, groups: string) =>
  `DELETE ${engine.family === 'sqlite' ? `FROM ${tables.items} AS i` : `i FROM ${tables.items} i`}` +
  `${engine.useIndex(tables.index.itemsMember)} ${erasedWhere(groups)}`
