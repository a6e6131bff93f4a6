/**
 * Appending: lock the heads, take the numbers, REPLACE the slots.
 *
 * The technique is the id-modulo ring of Sheeri K. Cabral, "MySQL Queues, part II: groups of queues" (2007), after
 * Baron Schwartz, "How to implement a queue in SQL". Theirs takes MAX(id) + 1 inside the REPLACE, which loses appends
 * or deadlocks under concurrency (docs/decisions/0001); here the number comes from the head row, locked first.
 */
import type { Parameter, Tx } from '../../database/engine'
import { type Fault, invalidInput, RecentnError } from '../../errors'
import type { Writer } from '../writers'
import { type Held, holdHeads, layOut, modesInForce, saveHeld, takeHeads } from './numbers'
import type { PolicyCache } from './policies'
import type { NewRow, Ring } from './ring'
import { ringsFor } from './rings'
import { type ItemRow, itemColumns, itemRowOf } from './rows'
import type { Mode } from './types'

/** Bounds of one REPLACE: a UTF-16 unit may become six bytes of SQL, and 1 MiB is the least usual max_allowed_packet. */
const MAX_ROWS = 1000
const MAX_UNITS = 128 * 1024
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
export async function appendItems(tx: Tx, policies: PolicyCache, items: readonly NewRow[]): Promise<Appended[]> {
  const groups = items.map(({ group }) => group)
  const [outcome] = await appendHeld(tx, policies, await holdHeads(tx, policies, groups), [items])
  if (outcome instanceof RecentnError) throw outcome
  return outcome as Appended[]
}

/**
 * Appends the rows of many requests, in the order given, each request all or nothing. A request that is refused stores
 * nothing and takes no number. Unless `isCareful` it throws `FewIdsLeft` when a group comes near its last id, and must be
 * rolled back.
 */
export async function appendBatch(
  tx: Tx,
  policies: PolicyCache,
  requests: readonly (readonly NewRow[])[],
  { writer, isCareful }: { writer: Writer; isCareful: boolean },
): Promise<Outcome[]> {
  const counts = new Map<string, number>()
  for (const items of requests) {
    for (const { group } of items) counts.set(group, (counts.get(group) ?? 0) + 1)
  }
  const held = isCareful
    ? await holdHeads(tx, policies, counts.keys(), writer)
    : await takeHeads(tx, policies, counts, writer)
  return appendHeld(tx, policies, held, requests)
}

/**
 * A group of which all is refused for want of a member stays as it is: not even laid out by a changed policy, which may
 * be taken back.
 */
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
  const found: Found = []
  const outcomes = requests.map((items, index): Outcome => {
    return refused[index] ?? appendAll(rings, items, found)
  })
  for (const { appended, group } of found) appended.row = await itemAt(tx, group, appended.row.slot)
  await write(tx, [...rings.values()])
  await saveHeld(tx, held, rings)
  return outcomes
}

/** What is there already and was read without its payload. */
type Found = { appended: Appended; group: string }[]

/** Appends one request, or nothing of it. */
function appendAll(rings: ReadonlyMap<string, Ring>, items: readonly NewRow[], found: Found): Outcome {
  const foundBefore = found.length
  // An item by itself is refused before anything is changed.
  const undo = items.length === 1 ? [] : checkpoints(rings, items)
  try {
    return items.map((item) => appendOne(rings.get(item.group) as Ring, item, found))
  } catch (error) {
    if (!(error instanceof RecentnError)) throw error
    for (const takeBack of undo) takeBack()
    found.length = foundBefore
    return error
  }
}

/** What takes the request back, from all of its groups; none where each has ids enough. */
function checkpoints(rings: ReadonlyMap<string, Ring>, items: readonly NewRow[]): (() => void)[] {
  const mine = new Set(items.map(({ group }) => rings.get(group) as Ring))
  for (const ring of mine) {
    if (!ring.hasRoomFor(items.length)) return [...mine].map((each) => each.checkpoint())
  }
  return []
}

function appendOne(ring: Ring, item: NewRow, found: Found): Appended {
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

async function itemAt(tx: Tx, group: string, slot: number): Promise<ItemRow> {
  const sql = `SELECT ${itemColumns(tx.engine)} FROM ${tx.tables.items} i WHERE i.group_key = ? AND i.slot = ?${tx.engine.forUpdate}`
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
  await tx.run(replaceItemsSql(tx, ITEM_COLUMNS.slice(0, width), sql), parameters)
}

export const replaceItemsSql = ({ tables }: Pick<Tx, 'tables'>, columns: readonly string[], values: string) =>
  `REPLACE INTO ${tables.items} (${columns.join(', ')}) VALUES ${values}`

/** The first `width` in the order of `ITEM_COLUMNS`. */
function itemValues(row: ItemRow, width: number): Parameter[] {
  const { group, slot, id, createdAtMs, member, payload, occurredAtMs, eventId } = row
  const values = [group, slot, id, createdAtMs, member, payload, occurredAtMs, eventId]
  values.length = width
  return values
}
