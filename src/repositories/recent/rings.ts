/**
 * The rings of a batch: they know of each group the items that its appends need. In `history` mode these are those with
 * the event ids of the batch, otherwise the whole window. Windows that are remembered, and still are the group's, are not
 * read. The caller holds the heads' locks.
 */
import { placeholders, type Tx } from '../../database/engine'
import { chunksOf, MAX_KEYS } from '../chunks'
import type { BatchHeads } from './batch-heads'
import { allDecoded, BARE_ITEM_LINE, orderOf, snapshotOf } from './lines'
import { type NewItemRow, Ring } from './ring'
import { type Head, type Occupant, occupantColumns, occupantOf } from './rows'
import { isSameState, type Window, type Windows } from './windows'

/** The windows that are remembered, in the state of the locked heads. Not of new groups, or those that policies have changed. */
export function windowsOf(windows: Windows, { heads, stale }: BatchHeads, touched: ReadonlySet<string>) {
  const known = new Map<string, Window>()
  for (const group of touched) {
    const window = windows.of(group)
    if (window === null) continue
    const head = heads.get(group) as Head
    if (isSameState(window, head) && !stale.has(group)) known.set(group, window)
    else windows.doubt(group, head)
  }
  return known
}

export function remember(windows: Windows, known: ReadonlyMap<string, Window>, rings: ReadonlyMap<string, Ring>): void {
  for (const [group, window] of known) {
    const ring = rings.get(group) as Ring
    if (ring.isChanged) windows.wrote(group, window, [...ring.writes], orderOf(ring.head.mode))
  }
}

/** `known`: windows that need not be read; it gets those that are read. Null where nothing is remembered. */
export async function ringsFor(
  tx: Tx,
  { heads, nowMs, stale }: BatchHeads,
  touched: ReadonlySet<string>,
  requests: readonly (readonly NewItemRow[])[],
  known: Map<string, Window> | null,
): Promise<Map<string, Ring>> {
  const occupants = new Map<string, readonly Occupant[]>()
  const keeping = [...touched].filter((group) => heads.get(group)?.mode !== 'history')
  const wholes = keeping.filter((group) => known?.get(group)?.isWhole !== true)
  for (const some of chunksOf(wholes, MAX_KEYS)) {
    const { items } = snapshotOf(await tx.rows(selectWindowsSql(tx, some.length), some))
    for (const group of some) {
      const { incarnation, version, mode } = heads.get(group) as Head
      const lines = (items.get(group) ?? []).sort(orderOf(mode))
      occupants.set(group, allDecoded(lines))
      if (!stale.has(group)) known?.set(group, { incarnation, version, lines, isWhole: true, hasPayloads: false })
    }
  }
  for (const group of keeping) {
    const window = known?.get(group)
    if (window && !occupants.has(group)) occupants.set(group, allDecoded(window.lines))
  }
  const events = new Map<string, Set<string>>()
  for (const items of requests) {
    for (const { group, eventId } of items) {
      if (eventId === null || heads.get(group)?.mode !== 'history') continue
      const wanted = events.get(group)
      if (wanted) wanted.add(eventId)
      else events.set(group, new Set([eventId]))
    }
  }
  const found = new Map<string, Occupant[]>()
  for (const { groups, ids } of eventLists(events)) {
    for (const row of await tx.rows(selectEventsSql(tx, groups.length, ids.length), [...groups, ...ids])) {
      const group = row.group_key as string
      const before = found.get(group)
      if (before) before.push(occupantOf(row))
      else found.set(group, [occupantOf(row)])
    }
  }
  const rings = new Map<string, Ring>()
  for (const group of touched) {
    rings.set(group, new Ring(heads.get(group) as Head, occupants.get(group) ?? found.get(group) ?? [], nowMs))
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

const selectWindowsSql = (tx: Pick<Tx, 'engine' | 'tables'>, groups: number) =>
  `SELECT ${BARE_ITEM_LINE} FROM ${tx.tables.items} i${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE i.group_key IN (${placeholders(groups)})${tx.engine.forUpdate}`

/** No index on event ids: the window of a group is small and lies together in the primary key. */
const selectEventsSql = (tx: Pick<Tx, 'engine' | 'tables'>, groups: number, events: number) =>
  `SELECT i.group_key AS group_key, ${occupantColumns(tx.engine)} FROM ${tx.tables.items} i${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE i.group_key IN (${placeholders(groups)}) AND i.event_id IN (${placeholders(events)})${tx.engine.forUpdate}`
