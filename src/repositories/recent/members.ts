/**
 * What one member did in all groups, along the index recentn_items_member (member, created_at_ms, group_key, id), so that
 * nobody else's items are looked at. Takes no lock.
 */
import type { Parameter, Reader } from '../../database/engine'
import { RecentnError } from '../../errors'
import { idTextFault, MAX_TIME_MS, nameFault } from '../../fields/rules'
import { nameRange } from '../name-range'
import type { PolicyCache, PolicySet } from './policies'
import {
  type Head,
  headColumns,
  headOf,
  type ItemRow,
  itemBytes,
  itemColumns,
  itemOf,
  itemRowOf,
  occupantColumns,
  occupantOf,
} from './rows'
import type { MemberItems, MemberOptions } from './types'
import { expired, firstIdOf, keepers } from './window'

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
  const windows = new MemberWindows(reader, member)
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
      if (await windows.shows(set, head, item, Number(row.now_ms))) {
        bytes += itemBytes(item, Buffer.byteLength(item.payload ?? 'null', 'utf8'))
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

/** Which items of one member are in the windows of their groups. A group is looked at once, however many it has. */
class MemberWindows {
  readonly #reader: Reader
  readonly #member: string
  /** Of groups that are laid out by an older policy than they follow: the one item that a `distinct` window shows. */
  readonly #shown = new Map<string, { version: bigint; id: bigint | null }>()

  constructor(reader: Reader, member: string) {
    this.#reader = reader
    this.#member = member
  }

  async shows(set: PolicySet, head: Head, item: ItemRow, nowMs: number): Promise<boolean> {
    const settings = set.settingsOf(head.group, head.own)
    if (expired(item, settings, nowMs)) return false
    if (settings.capacity === head.capacity && settings.mode === head.mode) return true
    if (settings.mode === 'history') return item.id >= firstIdOf(settings, head.lastId)
    // Whether a member is among those seen last depends on the others.
    const known = this.#shown.get(head.group)
    if (known?.version === head.version) return known.id === item.id
    const sql = `SELECT ${occupantColumns(this.#reader.engine)} FROM ${this.#reader.tables.items} i WHERE i.group_key = ?`
    const occupants = (await this.#reader.rows(sql, [head.group])).map(occupantOf)
    const shown = keepers(occupants, settings, head.lastId).find(({ member }) => member === this.#member)
    this.#shown.set(head.group, { version: head.version, id: shown?.id ?? null })
    return shown?.id === item.id
  }
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
