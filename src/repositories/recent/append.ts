/**
 * Appending: lock the heads, take the numbers, REPLACE the slots.
 *
 * The technique is the id-modulo ring of Sheeri K. Cabral, "MySQL Queues, part II: groups of queues" (2007), after
 * Baron Schwartz, "How to implement a queue in SQL". Theirs takes MAX(id) + 1 inside the REPLACE, which loses appends
 * or deadlocks under concurrency (docs/decisions/0001); here the number comes from the head row, locked first.
 */
import { placeholders, rowPlaceholders, type Tx } from '../../database/engine'
import { invalidInput } from '../../errors'
import { lockOrCreateHeads, saveHeads } from './heads'
import type { PolicyCache } from './policies'
import { obeyPolicies, selectOccupantsSql } from './reslot'
import { type NewRow, Ring } from './ring'
import { type Head, type ItemRow, itemColumns, itemRowOf, type Occupant, occupantColumns, occupantOf } from './rows'

/** Bounds of one REPLACE: well below any server's max_allowed_packet. */
const MAX_ROWS = 500
const MAX_BYTES = 2 * 1024 * 1024

const ITEM_COLUMNS = ['group_key', 'slot', 'id', 'member', 'payload', 'occurred_at_ms', 'event_id', 'created_at_ms']

/** The write that pushes the oldest out: the only unique key is the primary key (group_key, slot). */
export const replaceItemsSql = (rows: number) =>
  `REPLACE INTO recent_items (${ITEM_COLUMNS.join(', ')}) VALUES ${rowPlaceholders(rows, ITEM_COLUMNS.length)}`

export interface Appended {
  row: ItemRow
  /** False when an item with this event id was there. */
  appended: boolean
}

/**
 * Appends in the order given, creating groups where there are none; all or nothing with the transaction.
 * Throws `sequence_exhausted`, and `invalid_input` for an item without member in a `distinct` group (at `/3/member`
 * for the fourth).
 */
export async function appendItems(tx: Tx, policies: PolicyCache, items: readonly NewRow[]): Promise<Appended[]> {
  const locked = await lockOrCreateHeads(
    tx,
    policies,
    items.map(({ group }) => group),
  )
  const { heads, nowMs } = locked
  await obeyPolicies(tx, policies, locked)
  requireMembers(items, heads)
  const rings = await ringsFor(tx, heads, items, nowMs)
  const found: { index: number; group: string; occupant: Occupant }[] = []
  const appended = items.map((item, index): Appended => {
    const ring = rings.get(item.group) as Ring
    const occupant = ring.withEvent(item.eventId)
    if (!occupant) return { row: ring.append(item), appended: true }
    if (!('payload' in occupant)) found.push({ index, group: item.group, occupant })
    return { row: occupant as ItemRow, appended: false }
  })
  for (const { index, group, occupant } of found)
    (appended[index] as Appended).row = await itemAt(tx, group, occupant.slot)
  await write(tx, [...rings.values()])
  return appended
}

function requireMembers(items: readonly NewRow[], heads: Map<string, Head>): void {
  const faults = items.flatMap((item, index) =>
    item.member === null && heads.get(item.group)?.mode === 'distinct'
      ? [{ pointer: `/${index}/member`, detail: 'is required, because the group keeps distinct members' }]
      : [],
  )
  if (faults.length > 0) throw invalidInput(faults)
}

async function ringsFor(
  tx: Tx,
  heads: Map<string, Head>,
  items: readonly NewRow[],
  nowMs: number,
): Promise<Map<string, Ring>> {
  const occupants = new Map<string, Occupant[]>([...heads.keys()].map((group) => [group, []]))
  const load = async (sql: string, parameters: string[]) => {
    for (const row of await tx.rows(sql, parameters)) occupants.get(row.group_key as string)?.push(occupantOf(row))
  }
  const distinct = [...heads.values()].filter(({ mode }) => mode === 'distinct').map(({ group }) => group)
  if (distinct.length > 0) await load(selectOccupantsSql(tx, distinct.length), distinct)
  const withEvents = items.filter(({ group, eventId }) => eventId !== null && heads.get(group)?.mode === 'history')
  if (withEvents.length > 0) {
    const groups = [...new Set(withEvents.map(({ group }) => group))]
    const events = [...new Set(withEvents.map(({ eventId }) => eventId as string))]
    await load(selectEventsSql(tx, groups.length, events.length), [...groups, ...events])
  }
  return new Map([...heads].map(([group, head]) => [group, new Ring(head, occupants.get(group) ?? [], nowMs)]))
}

/** No index on event ids: the window of a group is small and lies together in the primary key. */
export const selectEventsSql = (tx: Pick<Tx, 'engine'>, groups: number, events: number) =>
  `SELECT i.group_key AS group_key, ${occupantColumns(tx.engine)} FROM recent_items i${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE i.group_key IN (${placeholders(groups)}) AND i.event_id IN (${placeholders(events)})${tx.engine.forUpdate}`

async function itemAt(tx: Tx, group: string, slot: number): Promise<ItemRow> {
  const sql = `SELECT ${itemColumns(tx.engine)} FROM recent_items i WHERE i.group_key = ? AND i.slot = ?${tx.engine.forUpdate}`
  const [row] = await tx.rows(sql, [group, slot])
  return itemRowOf(group, row as Record<string, unknown>)
}

async function write(tx: Tx, rings: readonly Ring[]): Promise<void> {
  const rows = rings.flatMap(({ writes }) => [...writes.values()])
  for (let start = 0; start < rows.length; ) {
    let end = start
    for (let bytes = 0; end < rows.length && end - start < MAX_ROWS && bytes < MAX_BYTES; end++) {
      bytes += (rows[end]?.payload?.length ?? 0) * 3
    }
    const chunk = rows.slice(start, end)
    await tx.run(replaceItemsSql(chunk.length), chunk.flatMap(itemValues))
    start = end
  }
  const changed = rings.filter(({ writes }) => writes.size > 0)
  for (const { head, nowMs } of changed) {
    head.version += 1n
    // The first expiry only moves away as items leave; the sweeper finds out.
    if (head.ttlSeconds !== null) head.sweepAtMs ??= nowMs + head.ttlSeconds * 1000
  }
  await saveHeads(
    tx,
    rings.map(({ head }) => head),
  )
}

function itemValues(row: ItemRow): (string | number | bigint | null)[] {
  return [row.group, row.slot, row.id, row.member, row.payload, row.occurredAtMs, row.eventId, row.createdAtMs]
}
