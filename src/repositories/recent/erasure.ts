/**
 * Erasing the items of one member, a few groups in each transaction, along the same index as `members.ts`.
 *
 * Invariant: an erasure reads the items without a lock, and again once their heads are locked, because another transaction
 * may have moved them to other slots meanwhile. That does not change their places in the index.
 */
import type { Parameter, Reader, Session, Tx } from '../../database/engine'
import { lockHeads, saveHeads } from './heads'
import { groupsIn, type IndexPlace, placeCondition, placeParameters } from './members'
import type { GroupMemory } from './memory'
import { applyPolicies, deleteSlots } from './reslot'
import { type Head, occupantColumns, occupantOf } from './rows'

/** Items of one transaction: few enough that nobody waits long for the locks, and that no list turns into a scan. */
const ERASED_AT_ONCE = 200

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
    if (places.length > 0) deleted += await session.write((tx) => eraseIn(tx, memory, member, untilMs, places))
    if (places.length < ERASED_AT_ONCE) return deleted
    at = places.at(-1) ?? null
  }
}

/** Erases these items, wherever they are once the heads are locked. */
async function eraseIn(
  tx: Tx,
  memory: GroupMemory,
  member: string,
  untilMs: number,
  items: readonly Placed[],
): Promise<number> {
  const names = items.map(({ group }) => group)
  const { heads, ...moment } = await lockHeads(tx, names)
  const there = (await itemsAmong(tx, items, member, untilMs)).filter(({ group }) => heads.has(group))
  // Groups to search as a whole: their items are no longer in the slots that were read.
  const searched = await groupsToSearch(tx, items, there, member, untilMs)
  const touched = new Map<string, Head>()
  for (const group of [...there.map((item) => item.group), ...searched]) {
    const head = heads.get(group)
    if (head === undefined) continue
    touched.set(group, head)
    if (head.policyEpoch !== moment.epoch) searched.add(group)
  }
  await applyPolicies(tx, memory.policies, { heads: touched, ...moment })
  let deleted = 0
  for (const group of searched) deleted += await deleteSlots(tx, group, await slotsOf(tx, group, member, untilMs))
  const others = there.filter(({ group }) => !searched.has(group))
  if (others.length > 0)
    deleted += await tx.run(`DELETE FROM ${tx.tables.items} WHERE ${oneOf(others)}`, valuesOf(others))
  for (const head of touched.values()) head.version += 1n
  await saveHeads(tx, [...touched.values()])
  memory.changes(tx, [...touched.keys()])
  return deleted
}

interface Slot {
  group: string
  slot: number
}

interface Placed extends Slot {
  id: bigint
}

async function itemsAmong(tx: Tx, items: readonly Slot[], member: string, untilMs: number): Promise<Placed[]> {
  const sql =
    `SELECT group_key, slot, ${tx.engine.bigint('id')} AS id FROM ${tx.tables.items} WHERE (${oneOf(items)}) ` +
    `AND member = ? AND created_at_ms <= ?${tx.engine.forUpdate}`
  const rows = await tx.rows(sql, [...valuesOf(items), member, untilMs])
  return rows.map(({ group_key, slot, id }) => ({
    group: group_key as string,
    slot: Number(slot),
    id: BigInt(id as string),
  }))
}

/** The groups in which some of the items are not where they were, and that have items of the member to erase. */
async function groupsToSearch(
  tx: Tx,
  items: readonly Placed[],
  there: readonly Placed[],
  member: string,
  untilMs: number,
): Promise<Set<string>> {
  const nameOf = ({ group, id }: Placed) => `${id}/${group}`
  const known = new Set(there.map(nameOf))
  const changed = new Set(items.filter((item) => !known.has(nameOf(item))).map(({ group }) => group))
  for (const group of changed) {
    if ((await slotsOf(tx, group, member, untilMs)).length === 0) changed.delete(group)
  }
  return changed
}

/** SQL condition by the whole primary key of each: only some optimizers make ranges of a list of pairs. */
function oneOf(places: readonly Slot[]): string {
  return Array(places.length).fill('(group_key = ? AND slot = ?)').join(' OR ')
}

function valuesOf(places: readonly Slot[]): Parameter[] {
  return places.flatMap(({ group, slot }) => [group, slot])
}

async function slotsOf(tx: Tx, group: string, member: string, untilMs: number): Promise<number[]> {
  const sql = `SELECT i.slot AS slot FROM ${tx.tables.items} i WHERE i.group_key = ? AND i.member = ? AND i.created_at_ms <= ?${tx.engine.forUpdate}`
  return (await tx.rows(sql, [group, member, untilMs])).map(({ slot }) => Number(slot))
}
