/**
 * Appending: lock the heads, take the ids, REPLACE the slots. Writes recentn_items under the heads' locks (`heads.ts`).
 *
 * The technique is the id-modulo ring of Sheeri K. Cabral, "MySQL Queues, part II: groups of queues" (2007), after
 * Baron Schwartz, "How to implement a queue in SQL". Theirs takes MAX(id) + 1 inside the REPLACE, which loses appends
 * or deadlocks under concurrency (docs/decisions/0001); here the number comes from the head row, locked first.
 */
import type { Parameter, Reader, Tx } from '../../database/engine'
import { type Fault, invalidInput, type RecentnError } from '../../shared/errors'
import type { Mode } from '../../shared/group-types'
import { chunksBySize } from '../chunks'
import { type BatchRun, committing } from '../runners'
import { type BatchHeads, layOut, lockAndTake, lockBatch, modesInForce, saveBatch } from './batch-heads'
import { lockedGroups } from './heads'
import type { GroupMemory } from './memory'
import type { NewItemRow, Ring } from './ring'
import { remember, ringsFor, windowsOf } from './rings'
import { type Appended, type ItemRow, itemsAt, storedScore } from './rows'
import type { Windows } from './windows'

/** Bounds of one REPLACE: a UTF-16 unit may become six bytes of SQL, and 1 MiB is the least usual max_allowed_packet. */
const MAX_ROWS = 1000
const MAX_UNITS = 128 * 1024
/** The units that a row has beside its texts. */
const ROW_UNITS = 80

const ITEM_COLUMNS = [
  'group_key',
  'slot',
  'id',
  'created_at_ms',
  'member',
  'payload',
  'occurred_at_ms',
  'event_id',
  'score',
]
const REQUIRED_COLUMNS = 4

/** The appends that commit together: requests for groups of one name, by their first items, keep their order. */
export const APPENDS = committing<GroupMemory, AppendRequest, readonly Appended[]>({
  what: 'appends',
  keyOf: ([first]) => (first as NewItemRow).group,
  sizeOf: (items) => ({ items: items.length, bytes: unitsOf(items) }),
  run: appendBatch,
  heldLocks: heldGroups,
})

/** Checked items of one caller, all or nothing. */
type AppendRequest = readonly NewItemRow[]

function unitsOf(items: AppendRequest): number {
  let units = 0
  for (const { payload, group } of items) units += group.length + (payload?.length ?? 0)
  return units
}

/**
 * Appends in the order given, creating groups that do not exist. A request that is refused stores nothing and takes no id:
 * `invalid_input` for an item without what its group's mode needs (at `/3/member` for the fourth).
 * Throws `sequence_exhausted` when one request goes beyond the last id; a batch that is not careful throws when
 * a group comes near it. Then the transaction must be rolled back, and the requests run carefully, in smaller batches.
 */
async function appendBatch(
  tx: Tx,
  memory: GroupMemory,
  requests: readonly AppendRequest[],
  batch?: BatchRun,
): Promise<(Appended[] | RecentnError)[]> {
  const counts = new Map<string, number>()
  for (const items of requests) {
    for (const { group } of items) counts.set(group, (counts.get(group) ?? 0) + 1)
  }
  if (batch === undefined) {
    memory.changes(tx, [...counts.keys()])
    return await appendTo(tx, memory, await lockBatch(tx, memory.policies, counts.keys()), requests, null)
  }
  memory.appendsTo(tx, counts.keys())
  const { writer, isCareful } = batch
  // A careful run relies on nothing that is remembered.
  if (isCareful) memory.windows.forget(counts.keys())
  const heads = isCareful
    ? await lockBatch(tx, memory.policies, counts.keys(), writer)
    : await lockAndTake(tx, memory.policies, counts, writer)
  return await appendTo(tx, memory, heads, requests, memory.windows)
}

/** For each request a group whose head another transaction holds, or null. */
async function heldGroups(reader: Reader, requests: readonly AppendRequest[]): Promise<(string | null)[]> {
  const held = await lockedGroups(reader, new Set(requests.flatMap((items) => items.map(({ group }) => group))))
  return requests.map((items) => items.find(({ group }) => held.has(group))?.group ?? null)
}

/** A group of which every item is refused is not even laid out by a changed policy: that change may be taken back. */
async function appendTo(
  tx: Tx,
  memory: GroupMemory,
  batch: BatchHeads,
  requests: readonly AppendRequest[],
  windows: Windows | null,
): Promise<(Appended[] | RecentnError)[]> {
  const { heads, stale, created } = batch
  // New groups are laid out by the policies of the moment already.
  const isOutdated = [...stale].some((group) => !created.has(group))
  const modeOf = isOutdated ? await modesInForce(tx, memory.policies, batch) : (group: string) => heads.get(group)?.mode
  const refused = requests.map((items) => modeFault(items, modeOf))
  const accepted = requests.filter((_, index) => refused[index] === null)
  const touched = new Set<string>()
  for (const items of accepted) for (const { group } of items) touched.add(group)
  if (isOutdated) await layOut(tx, memory.policies, batch, touched)
  const known = windows && windowsOf(windows, batch, touched)
  const rings = await ringsFor(tx, batch, touched, accepted, known)
  const bare: Appended[] = []
  const outcomes = requests.map((items, index) => {
    return refused[index] ?? items.map((item) => appendOne(rings.get(item.group) as Ring, item, bare))
  })
  await readBare(tx, bare)
  for (const chunk of chunksOfItems(rings.values())) await replaceItems(tx, chunk)
  await saveBatch(tx, batch, rings)
  if (windows && known && known.size > 0) tx.afterCommit(() => remember(windows, known, rings))
  memory.appended(tx, outcomes)
  return outcomes
}

/** `bare` gets the items because of which others are not appended, if they were read without their payload. */
function appendOne(ring: Ring, item: NewItemRow, bare: Appended[]): Appended {
  const occupant = (item.eventId === null ? null : ring.withEvent(item.eventId)) ?? ring.standing(item)
  if (occupant === null) return { row: ring.append(item), appended: true }
  if ('payload' in occupant) return { row: occupant as ItemRow, appended: false }
  const appended = { row: { ...occupant, group: item.group, payload: null, occurredAtMs: null }, appended: false }
  bare.push(appended)
  return appended
}

/** The items whose payloads were not read: before anything is written to their slots. */
async function readBare(tx: Tx, bare: readonly Appended[]): Promise<void> {
  const placeOf = ({ group, slot }: ItemRow) => `${slot} ${group}`
  const places = new Map(bare.map(({ row }) => [placeOf(row), row]))
  const items = await itemsAt(tx, [...places.values()], tx.engine.forUpdate)
  const whole = new Map(items.map((item) => [placeOf(item), item]))
  for (const appended of bare) appended.row = whole.get(placeOf(appended.row)) as ItemRow
}

function modeFault(items: readonly NewItemRow[], modeOf: (group: string) => Mode | undefined): RecentnError | null {
  let faults: Fault[] | null = null
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as NewItemRow
    const mode = modeOf(item.group)
    if (item.keep === null && (mode === 'history' || (mode === 'distinct' && item.member !== null))) continue
    for (const [field, detail] of faultsIn(item, mode)) {
      faults ??= []
      faults.push({ pointer: `/${index}/${field}`, detail })
    }
  }
  return faults && invalidInput(faults)
}

function* faultsIn(
  { member, score, keep }: NewItemRow,
  mode: Mode | undefined,
): Iterable<[field: string, detail: string]> {
  if (member === null && mode === 'distinct') yield ['member', 'is required, because the group keeps distinct members']
  if (mode !== 'top') {
    if (keep !== null) yield ['keep', 'is for groups whose mode is top']
    return
  }
  if (member === null) yield ['member', TOP]
  if (score === null) yield ['score', TOP]
}

const TOP = 'is required, because the group keeps the members with the highest scores'

/** The rows that the rings have written, in lists for one statement each. */
function chunksOfItems(rings: Iterable<Ring>): ItemRow[][] {
  const rows: ItemRow[] = []
  for (const { writes } of rings) for (const row of writes) rows.push(row)
  const unitsOfRow = ({ group, payload, member, eventId }: ItemRow) =>
    ROW_UNITS + group.length + (payload?.length ?? 0) + (member?.length ?? 0) + (eventId?.length ?? 0)
  return chunksBySize(rows, unitsOfRow, MAX_ROWS, MAX_UNITS)
}

/**
 * The write that replaces the oldest items: the only unique key is the primary key (group_key, slot). Columns that are
 * null in all rows are left out, which saves a tenth of the work for an item without a payload.
 */
async function replaceItems(tx: Tx, rows: readonly ItemRow[]): Promise<void> {
  const width = rows.reduce((most, row) => Math.max(most, widthOf(row)), REQUIRED_COLUMNS)
  const { sql, parameters } = tx.engine.insert(
    (values) => replaceItemsSql(tx, ITEM_COLUMNS.slice(0, width), values),
    rows.map((row) => itemValues(row, width)),
  )
  await tx.later(sql, parameters)
}

const replaceItemsSql = ({ tables }: Pick<Tx, 'tables'>, columns: readonly string[], values: string) =>
  `REPLACE INTO ${tables.items} (${columns.join(', ')}) VALUES ${values}`

/** How many columns the item needs, in the order of `ITEM_COLUMNS`. */
function widthOf({ member, payload, occurredAtMs, eventId, score }: ItemRow): number {
  if (score !== null) return 9
  if (eventId !== null) return 8
  if (occurredAtMs !== null) return 7
  if (payload !== null) return 6
  return member === null ? REQUIRED_COLUMNS : 5
}

/** The first `width` in the order of `ITEM_COLUMNS`. */
function itemValues(row: ItemRow, width: number): Parameter[] {
  const { group, slot, id, createdAtMs, member, payload, occurredAtMs, eventId, score } = row
  const stored = score === null ? null : storedScore(score)
  const values = [group, slot, id, createdAtMs, member, payload, occurredAtMs, eventId, stored]
  values.length = width
  return values
}
