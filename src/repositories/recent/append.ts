/**
 * Appending: lock the heads, take the numbers, REPLACE the slots.
 *
 * The technique is the id-modulo ring of Sheeri K. Cabral, "MySQL Queues, part II: groups of queues" (2007), after
 * Baron Schwartz, "How to implement a queue in SQL". Theirs takes MAX(id) + 1 inside the REPLACE, which loses appends
 * or deadlocks under concurrency (docs/decisions/0001); here the number comes from the head row, locked first.
 */
import { type Parameter, placeholders, type Tx } from '../../database/engine'
import { type Fault, invalidInput, RecentnError } from '../../errors'
import { MAX_ID } from '../../rules'
import { type Held, holdHeads, layOut, modesInForce, saveHeld, takeHeads } from './numbers'
import type { PolicyCache } from './policies'
import { selectOccupantsSql } from './reslot'
import { type NewRow, Ring } from './ring'
import { type ItemRow, itemColumns, itemRowOf, type Occupant, occupantColumns, occupantOf } from './rows'
import type { Mode } from './types'
import type { Writer } from './writers'

/** Bounds of one REPLACE: a UTF-16 unit may become six bytes of SQL, and 1 MiB is the least usual max_allowed_packet. */
const MAX_ROWS = 1000
const MAX_UNITS = 128 * 1024
/** Keys of one list: a longer one may turn into a scan. */
const MAX_KEYS = 250
/** What a row has beside its texts. */
const ROW_UNITS = 80

const ITEM_COLUMNS = ['group_key', 'slot', 'id', 'created_at_ms', 'member', 'payload', 'occurred_at_ms', 'event_id']
const REQUIRED_COLUMNS = 4

export interface Appended {
  row: ItemRow
  /** False when an item with this event id was there. */
  appended: boolean
}

/** What became of one request of a batch: all of it, or nothing. */
export type Outcome = Appended[] | RecentnError

/**
 * Appends in the order given, creating groups where there are none; all or nothing with the transaction.
 * Throws `sequence_exhausted`, and `invalid_input` for an item without member in a `distinct` group (at `/3/member`
 * for the fourth).
 */
export async function appendItems(
  tx: Tx,
  policies: PolicyCache,
  items: readonly NewRow[],
  writer?: Writer,
): Promise<Appended[]> {
  const groups = items.map(({ group }) => group)
  const [outcome] = await appendHeld(tx, policies, await holdHeads(tx, policies, groups, writer), [items])
  if (outcome instanceof RecentnError) throw outcome
  return outcome as Appended[]
}

/**
 * Appends what many callers ask for, in the order given, each all or nothing. A request that is refused changes
 * nothing and takes no number. When a group comes near its last id it throws, having done nothing that a rollback does
 * not undo: then run the requests one by one, with `appendItems`.
 */
export async function appendBatch(
  tx: Tx,
  policies: PolicyCache,
  requests: readonly (readonly NewRow[])[],
  writer: Writer,
): Promise<Outcome[]> {
  const counts = new Map<string, number>()
  for (const items of requests) {
    for (const { group } of items) counts.set(group, (counts.get(group) ?? 0) + 1)
  }
  const held = tx.engine.returning
    ? await takeHeads(tx, policies, counts, writer)
    : await holdHeads(tx, policies, counts.keys(), writer)
  for (const head of held.heads.values()) {
    if (head.lastId + BigInt(counts.get(head.group) as number) > MAX_ID) {
      throw new RecentnError(
        'sequence_exhausted',
        `Group ${JSON.stringify(head.group)} has too few ids for all of these`,
      )
    }
  }
  return appendHeld(tx, policies, held, requests)
}

/** A group of which all is refused stays as it is: not even laid out by a changed policy, which may be taken back. */
async function appendHeld(
  tx: Tx,
  policies: PolicyCache,
  held: Held,
  requests: readonly (readonly NewRow[])[],
): Promise<Outcome[]> {
  const modeOf = await modesInForce(tx, policies, held)
  const refused = requests.map((items) => memberFault(items, modeOf))
  const accepted = requests.filter((_, index) => refused[index] === null)
  const touched = new Set<string>()
  for (const items of accepted) for (const { group } of items) touched.add(group)
  await layOut(tx, policies, held, touched)
  const rings = await ringsFor(tx, held, touched, accepted)
  const found: { appended: Appended; group: string }[] = []
  const outcomes = requests.map((items, index): Outcome => {
    return refused[index] ?? items.map((item) => appendOne(rings.get(item.group) as Ring, item, found))
  })
  for (const { appended, group } of found) appended.row = await itemAt(tx, group, appended.row.slot)
  await write(tx, [...rings.values()])
  await saveHeld(tx, held, rings)
  return outcomes
}

/** `found` gets what is there already and was read without its payload. */
function appendOne(ring: Ring, item: NewRow, found: { appended: Appended; group: string }[]): Appended {
  const occupant = item.eventId === null ? null : ring.withEvent(item.eventId)
  if (occupant === null) return { row: ring.append(item), appended: true }
  const appended = { row: occupant as ItemRow, appended: false }
  if (!('payload' in occupant)) found.push({ appended, group: item.group })
  return appended
}

function memberFault(items: readonly NewRow[], modeOf: (group: string) => Mode | undefined): RecentnError | null {
  let faults: Fault[] | null = null
  for (let index = 0; index < items.length; index++) {
    const { group, member } = items[index] as NewRow
    if (member !== null || modeOf(group) !== 'distinct') continue
    faults ??= []
    faults.push({ pointer: `/${index}/member`, detail: 'is required, because the group keeps distinct members' })
  }
  return faults && invalidInput(faults)
}

async function ringsFor(
  tx: Tx,
  { heads, nowMs }: Held,
  touched: ReadonlySet<string>,
  requests: readonly (readonly NewRow[])[],
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
  for (let start = 0; start < distinct.length; start += MAX_KEYS) {
    const some = distinct.slice(start, start + MAX_KEYS)
    await load(selectOccupantsSql(tx, some.length), some)
  }
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

/** Groups and the event ids that are looked for in them, in lists that a statement has room for. */
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
export const selectEventsSql = (tx: Pick<Tx, 'engine'>, groups: number, events: number) =>
  `SELECT i.group_key AS group_key, ${occupantColumns(tx.engine)} FROM recent_items i${tx.engine.useIndex('PRIMARY')} ` +
  `WHERE i.group_key IN (${placeholders(groups)}) AND i.event_id IN (${placeholders(events)})${tx.engine.forUpdate}`

async function itemAt(tx: Tx, group: string, slot: number): Promise<ItemRow> {
  const sql = `SELECT ${itemColumns(tx.engine)} FROM recent_items i WHERE i.group_key = ? AND i.slot = ?${tx.engine.forUpdate}`
  const [row] = await tx.rows(sql, [group, slot])
  return itemRowOf(group, row as Record<string, unknown>)
}

async function write(tx: Tx, rings: readonly Ring[]): Promise<void> {
  let chunk: ItemRow[] = []
  let units = 0
  const flush = async () => {
    if (chunk.length > 0) await replaceItems(tx, chunk)
    chunk = []
    units = 0
  }
  for (const { writes } of rings) {
    for (const row of writes.values()) {
      const texts = (row.payload?.length ?? 0) + (row.member?.length ?? 0) + (row.eventId?.length ?? 0)
      const size = ROW_UNITS + row.group.length + texts
      if (chunk.length === MAX_ROWS || (units > 0 && units + size > MAX_UNITS)) await flush()
      chunk.push(row)
      units += size
    }
  }
  await flush()
}

/**
 * The write that pushes the oldest out: the only unique key is the primary key (group_key, slot). Columns that are
 * null in all rows are left out, which is a tenth of the work for a bare item.
 */
async function replaceItems(tx: Tx, rows: readonly ItemRow[]): Promise<void> {
  let width = REQUIRED_COLUMNS
  for (const { member, payload, occurredAtMs, eventId } of rows) {
    const used = eventId !== null ? 8 : occurredAtMs !== null ? 7 : payload !== null ? 6 : member !== null ? 5 : 4
    if (used > width) width = used
  }
  const { sql, parameters } = tx.engine.values(rows.map((row) => itemValues(row, width)))
  await tx.run(replaceItemsSql(ITEM_COLUMNS.slice(0, width), sql), parameters)
}

export const replaceItemsSql = (columns: readonly string[], values: string) =>
  `REPLACE INTO recent_items (${columns.join(', ')}) VALUES ${values}`

/** The first `width` in the order of `ITEM_COLUMNS`. */
function itemValues(row: ItemRow, width: number): Parameter[] {
  const { group, slot, id, createdAtMs, member, payload, occurredAtMs, eventId } = row
  const values = [group, slot, id, createdAtMs, member, payload, occurredAtMs, eventId]
  values.length = width
  return values
}
