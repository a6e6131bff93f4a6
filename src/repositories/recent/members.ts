/**
 * What one member did in all groups, and its erasure: both along the index recent_items_member
 * (member, created_at_ms, group_key, id), so that neither looks at anybody else's items.
 */
import type { Parameter, Reader, Session, Tx } from '../../database/engine'
import { RecentnError } from '../../errors'
import { idTextFault, MAX_TIME_MS, nameFault } from '../../rules'
import { nameRange } from '../name-range'
import { lockHeads, saveHeads } from './heads'
import type { PolicyCache, PolicySet } from './policies'
import { deleteSlots, obeyPolicies } from './reslot'
import {
  type Head,
  headColumns,
  headOf,
  type ItemRow,
  itemColumns,
  itemOf,
  itemRowOf,
  occupantColumns,
  occupantOf,
} from './rows'
import type { MemberItems, MemberOptions } from './types'
import { expired, keepers } from './window'

const INDEX = 'recent_items_member'

/** Rows of one statement: what bounds the memory of a page of large payloads. */
const CHUNK = 64

/** Items of one transaction of an erasure: few enough that nobody waits long, and no list turns into a scan. */
const ERASED_AT_ONCE = 200

/** A place in the index. */
interface Place {
  createdAtMs: number
  group: string
  id: bigint
}

/** SQL condition: in groups whose names begin with `prefix`; the index has the names. */
function groupsIn(prefix: string): { where: string; parameters: Parameter[] } {
  if (prefix === '') return { where: '', parameters: [] }
  const { where, parameters } = nameRange('i.group_key', '', prefix)
  return { where: ` AND ${where}`, parameters }
}

export const selectMemberSql = (reader: Pick<Reader, 'engine' | 'now'>, after: boolean, groups = '') =>
  `SELECT ${headColumns(reader.engine)}, ${itemColumns(reader.engine)}, ${reader.now} AS now_ms ` +
  `FROM recent_items i${reader.engine.useIndex(INDEX)} JOIN recent_groups g ON g.group_key = i.group_key WHERE i.member = ?` +
  `${groups}${after ? ` AND ${placeCondition('<')}` : ''} ORDER BY i.created_at_ms DESC, i.group_key DESC, i.id DESC LIMIT ?`

/** Row constructors are no range to MySQL, so the comparison is spelled out; the first part is what the index uses. */
function placeCondition(sign: '<' | '>'): string {
  return (
    `i.created_at_ms ${sign}= ? AND (i.created_at_ms ${sign} ? OR (i.created_at_ms = ? AND ` +
    `(i.group_key ${sign} ? OR (i.group_key = ? AND i.id ${sign} ?))))`
  )
}

function placeParameters({ createdAtMs, group, id }: Place): Parameter[] {
  return [createdAtMs, createdAtMs, createdAtMs, group, group, id]
}

/** The member's items that are in their windows, newest first. */
export async function memberItems(
  reader: Reader,
  policies: PolicyCache,
  member: string,
  page: MemberOptions & { limit: number },
): Promise<MemberItems> {
  const items: ItemRow[] = []
  const groups = groupsIn(page.prefix ?? '')
  let place = page.after === undefined ? null : placeOf(page.after)
  for (let bytes = 0; ; ) {
    const rows = await reader.rows(selectMemberSql(reader, place !== null, groups.where), [
      member,
      ...groups.parameters,
      ...(place ? placeParameters(place) : []),
      CHUNK,
    ])
    const set = await policies.current(
      reader,
      rows.map((row) => headOf(row).policyEpoch),
    )
    for (const row of rows) {
      const head = headOf(row)
      const item = itemRowOf(head.group, row)
      if (await isShown(reader, set, head, item, Number(row.now_ms))) {
        bytes += Buffer.byteLength(item.payload ?? '', 'utf8')
        const full =
          items.length === page.limit || (items.length > 0 && bytes > (page.maxBytes ?? Number.POSITIVE_INFINITY))
        if (full)
          return { items: items.map((shown) => itemOf(shown, page.payloads)), nextAfter: place && cursorOf(place) }
        items.push(item)
      }
      place = item
    }
    if (rows.length < CHUNK) return { items: items.map((shown) => itemOf(shown, page.payloads)), nextAfter: null }
  }
}

async function isShown(reader: Reader, set: PolicySet, head: Head, item: ItemRow, nowMs: number): Promise<boolean> {
  const settings = set.settingsOf(head.group, head.own)
  if (expired(item, settings, nowMs)) return false
  if (settings.capacity === head.capacity && settings.mode === head.mode) return true
  // The group is still laid out by an older policy: whether the item is shown depends on the others.
  const sql = `SELECT ${occupantColumns(reader.engine)} FROM recent_items i WHERE i.group_key = ?`
  const occupants = (await reader.rows(sql, [head.group])).map(occupantOf)
  return keepers(occupants, settings, head.lastId).some(({ id }) => id === item.id)
}

function cursorOf({ createdAtMs, group, id }: Place): string {
  return Buffer.from(JSON.stringify([createdAtMs, group, String(id)]), 'utf8').toString('base64url')
}

function placeOf(cursor: string): Place {
  try {
    const place = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown
    if (Array.isArray(place) && place.length === 3) {
      const [createdAtMs, group, id] = place as [unknown, unknown, unknown]
      const isTime = Number.isInteger(createdAtMs) && Math.abs(createdAtMs as number) <= 2 * MAX_TIME_MS
      if (isTime && nameFault(group) === null && idTextFault(id) === null) {
        return { createdAtMs: createdAtMs as number, group: group as string, id: BigInt(id as string) }
      }
    }
  } catch {
    // Not JSON: told below.
  }
  const detail = 'must be the nextAfter of an answer to the same request'
  throw new RecentnError('invalid_input', `after: ${detail}`, { faults: [{ parameter: 'after', detail }] })
}

export const selectErasableSql = (reader: Pick<Reader, 'engine'>, after: boolean, groups = '') =>
  `SELECT i.group_key AS group_key, ${occupantColumns(reader.engine)} FROM recent_items i${reader.engine.useIndex(INDEX)} ` +
  `WHERE i.member = ? AND i.created_at_ms <= ?${groups}${after ? ` AND ${placeCondition('>')}` : ''} ` +
  'ORDER BY i.created_at_ms, i.group_key, i.id LIMIT ?'

/**
 * Erases what the member has when the call arrives, in groups whose names begin with `prefix`, a few groups a
 * transaction; resolves to the number of items. Goes through the index until it finds no more: an item that was moved
 * meanwhile is met the next time.
 */
export async function eraseMember(
  session: Session,
  policies: PolicyCache,
  member: string,
  prefix = '',
): Promise<number> {
  const [row] = await session.read((reader) => reader.rows(`SELECT ${reader.now} AS now_ms`))
  const untilMs = Number(row?.now_ms)
  for (let deleted = 0; ; ) {
    const erased = await eraseOnce(session, policies, { member, untilMs, prefix })
    if (erased === 0) return deleted
    deleted += erased
  }
}

interface Erasure {
  member: string
  untilMs: number
  prefix: string
}

async function eraseOnce(
  session: Session,
  policies: PolicyCache,
  { member, untilMs, prefix }: Erasure,
): Promise<number> {
  const groups = groupsIn(prefix)
  let deleted = 0
  for (let at: Place | null = null; ; ) {
    const from: Place | null = at
    const places = await session.read(async (reader) => {
      const after = from ? placeParameters(from) : []
      const sql = selectErasableSql(reader, from !== null, groups.where)
      const rows = await reader.rows(sql, [member, untilMs, ...groups.parameters, ...after, ERASED_AT_ONCE])
      return rows.map((found) => ({ ...occupantOf(found), group: found.group_key as string }))
    })
    if (places.length > 0) deleted += await session.write((tx) => eraseIn(tx, policies, member, untilMs, places))
    if (places.length < ERASED_AT_ONCE) return deleted
    at = places.at(-1) ?? null
  }
}

/** Erases in these slots. Who is in them may have changed before the heads were locked, so it looks again. */
async function eraseIn(
  tx: Tx,
  policies: PolicyCache,
  member: string,
  untilMs: number,
  places: readonly Slot[],
): Promise<number> {
  const groups = places.map(({ group }) => group)
  const { heads, ...moment } = await lockHeads(tx, groups)
  const slots = await slotsAmong(tx, places, member, untilMs)
  const touched = new Map(slots.map(({ group }) => [group, heads.get(group) as Head]))
  const moved = [...touched.values()].filter(({ policyEpoch }) => policyEpoch !== moment.epoch)
  await obeyPolicies(tx, policies, { heads: touched, ...moment })
  let deleted = 0
  for (const { group } of moved) deleted += await deleteSlots(tx, group, await slotsOf(tx, group, member, untilMs))
  const others = slots.filter(({ group }) => !moved.some((head) => head.group === group))
  if (others.length > 0) deleted += await tx.run(`DELETE FROM recent_items WHERE ${oneOf(others)}`, valuesOf(others))
  for (const head of touched.values()) head.version += 1n
  await saveHeads(tx, [...touched.values()])
  return deleted
}

interface Slot {
  group: string
  slot: number
}

/** Those of the slots that still have an old item of the member. */
async function slotsAmong(tx: Tx, places: readonly Slot[], member: string, untilMs: number): Promise<Slot[]> {
  const sql =
    `SELECT group_key, slot FROM recent_items WHERE (${oneOf(places)}) ` +
    `AND member = ? AND created_at_ms <= ?${tx.engine.forUpdate}`
  const rows = await tx.rows(sql, [...valuesOf(places), member, untilMs])
  return rows.map(({ group_key, slot }) => ({ group: group_key as string, slot: Number(slot) }))
}

/** By the whole primary key of each: a list of pairs is a range only to some optimizers. */
function oneOf(places: readonly Slot[]): string {
  return Array(places.length).fill('(group_key = ? AND slot = ?)').join(' OR ')
}

function valuesOf(places: readonly Slot[]): Parameter[] {
  return places.flatMap(({ group, slot }) => [group, slot])
}

async function slotsOf(tx: Tx, group: string, member: string, untilMs: number): Promise<number[]> {
  const sql = `SELECT i.slot AS slot FROM recent_items i WHERE i.group_key = ? AND i.member = ? AND i.created_at_ms <= ?${tx.engine.forUpdate}`
  return (await tx.rows(sql, [group, member, untilMs])).map(({ slot }) => Number(slot))
}
