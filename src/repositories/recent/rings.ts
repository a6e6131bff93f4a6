/**
 * The rings of a batch: they know of each group the items that its appends need: in `distinct` mode the whole window, in
 * `history` mode the items with the event ids of the batch. The caller holds the heads' locks.
 */
import { placeholders, type Tx } from '../../database/engine'
import { chunksOf } from '../chunks'
import type { BatchHeads } from './batch-heads'
import { selectOccupantsSql } from './reslot'
import { type NewItemRow, Ring } from './ring'
import { type Occupant, occupantColumns, occupantOf } from './rows'

/** Keys in one list: a longer one may turn into a scan. */
const MAX_KEYS = 250

export async function ringsFor(
  tx: Tx,
  { heads, nowMs }: BatchHeads,
  touched: ReadonlySet<string>,
  requests: readonly (readonly NewItemRow[])[],
): Promise<Map<string, Ring>> {
  const occupants = new Map<string, Occupant[]>()
  const load = async (sql: string, parameters: string[]) => {
    for (const row of await tx.rows(sql, parameters)) {
      const group = row.group_key as string
      const known = occupants.get(group)
      if (known) known.push(occupantOf(row))
      else occupants.set(group, [occupantOf(row)])
    }
  }
  const distinct = [...touched].filter((group) => heads.get(group)?.mode === 'distinct')
  for (const some of chunksOf(distinct, MAX_KEYS)) await load(selectOccupantsSql(tx, some.length), some)
  const events = new Map<string, Set<string>>()
  for (const items of requests) {
    for (const { group, eventId } of items) {
      if (eventId === null || heads.get(group)?.mode !== 'history') continue
      const known = events.get(group)
      if (known) known.add(eventId)
      else events.set(group, new Set([eventId]))
    }
  }
  for (const { groups, ids } of eventLists(events)) {
    await load(selectEventsSql(tx, groups.length, ids.length), [...groups, ...ids])
  }
  const rings = new Map<string, Ring>()
  for (const [group, head] of heads) {
    if (touched.has(group)) rings.set(group, new Ring(head, occupants.get(group) ?? [], nowMs))
  }
  return rings
}

/** Groups and the event ids to look for in them, in lists of at most `MAX_KEYS` event ids. */
function* eventLists(events: ReadonlyMap<string, ReadonlySet<string>>) {
  let groups: string[] = []
  let ids: string[] = []
  for (const [group, wanted] of events) {
    for (const id of wanted) {
      if (groups.at(-1) !== group) groups.push(group)
      ids.push(id)
      if (ids.length < MAX_KEYS) continue
      yield { groups, ids }
      groups = []
      ids = []
    }
  }
  if (ids.length > 0) yield { groups, ids }
}

/** No index on event ids: the window of a group is small and lies together in the primary key. */
export const selectEventsSql = (tx: Pick<Tx, 'engine' | 'tables'>, groups: number, events: number) =>
  `SELECT i.group_key AS group_key, ${occupantColumns(tx.engine)} FROM ${tx.tables.items} i${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE i.group_key IN (${placeholders(groups)}) AND i.event_id IN (${placeholders(events)})${tx.engine.forUpdate}`
