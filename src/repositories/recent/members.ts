/**
 * What one member did in all groups, along the index recentn_items_member (member, created_at_ms, group_key, id), so that
 * nobody else's items are looked at. Takes no lock.
 */
import type { Parameter, Reader } from '../../database/engine'
import { RecentnError } from '../../errors'
import { idTextFault, MAX_TIME_MS, nameFault } from '../../rules'
import { nameRange } from '../name-range'
import type { PolicyCache, PolicySet } from './policies'
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

/** Rows of one statement: what bounds the memory of a page of large payloads. */
const CHUNK = 64

/** A place in the index. */
export interface Place {
  createdAtMs: number
  group: string
  id: bigint
}

/** SQL condition: in groups whose names begin with `prefix`; the index has the names. */
export function groupsIn(prefix: string): { where: string; parameters: Parameter[] } {
  if (prefix === '') return { where: '', parameters: [] }
  const { where, parameters } = nameRange('i.group_key', '', prefix)
  return { where: ` AND ${where}`, parameters }
}

export const selectMemberSql = (
  reader: Pick<Reader, 'engine' | 'tables' | 'now'>,
  after: boolean,
  { groups = '', hasPayloads = true } = {},
) =>
  `SELECT ${headColumns(reader.engine)}, ${itemColumns(reader.engine, hasPayloads)}, ${reader.now} AS now_ms ` +
  `FROM ${reader.tables.items} i${reader.engine.useIndex(reader.tables.index.itemsMember)} JOIN ${reader.tables.groups} g ON g.group_key = i.group_key WHERE i.member = ?` +
  `${groups}${after ? ` AND ${placeCondition('<')}` : ''} ORDER BY i.created_at_ms DESC, i.group_key DESC, i.id DESC LIMIT ?`

/** Row constructors are no range to MySQL, so the comparison is spelled out; the first part is what the index uses. */
export function placeCondition(sign: '<' | '>'): string {
  return (
    `i.created_at_ms ${sign}= ? AND (i.created_at_ms ${sign} ? OR (i.created_at_ms = ? AND ` +
    `(i.group_key ${sign} ? OR (i.group_key = ? AND i.id ${sign} ?))))`
  )
}

export function placeParameters({ createdAtMs, group, id }: Place): Parameter[] {
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
  const wanted = { groups: groups.where, hasPayloads: page.payloads !== 'none' }
  let place = page.after === undefined ? null : placeOf(page.after)
  for (let bytes = 0; ; ) {
    const rows = await reader.rows(selectMemberSql(reader, place !== null, wanted), [
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
  const sql = `SELECT ${occupantColumns(reader.engine)} FROM ${reader.tables.items} i WHERE i.group_key = ?`
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
