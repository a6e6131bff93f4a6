/**
 * The items of one member in all groups, along the index recentn_items_member (member, created_at_ms, group_key, id), so that
 * no other member's items are read. And one item of a group, which is shown by the same rule. Takes no lock.
 */
import type { Parameter, Reader, Row } from '../../database/engine'
import { maxBytesOf } from '../../fields/options'
import { idTextFault, MAX_TIME_MS, nameFault } from '../../fields/rules'
import { RecentnError } from '../../shared/errors'
import type { Item, MemberItems, MemberOptions, PayloadOptions } from '../../shared/group-types'
import { nameRange } from '../name-range'
import type { Runnable } from '../runners'
import type { GroupMemory } from './memory'
import type { PolicyCache, PolicySet } from './policies'
import {
  headOf,
  headText,
  type ItemRow,
  itemBytes,
  itemColumns,
  itemOf,
  itemRowOf,
  occupantColumns,
  occupantOf,
  type ReadFacts,
  type SeenHead,
} from './rows'
import { expired, firstIdOf, visible } from './window'

/** Rows of one statement, which bounds the memory of a page of large payloads. */
const CHUNK = 64

export interface IndexPlace {
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

/** MySQL makes no range of row constructors, so the comparison is spelled out; its first part is what the index uses. */
export function placeCondition(sign: '<' | '>'): string {
  return (
    `i.created_at_ms ${sign}= ? AND (i.created_at_ms ${sign} ? OR (i.created_at_ms = ? AND ` +
    `(i.group_key ${sign} ? OR (i.group_key = ? AND i.id ${sign} ?))))`
  )
}

export function placeParameters({ createdAtMs, group, id }: IndexPlace): Parameter[] {
  return [createdAtMs, createdAtMs, createdAtMs, group, group, id]
}

export const selectMemberSql = (
  { engine, tables, now }: ReadFacts,
  after: boolean,
  { groups = '', hasPayloads = true } = {},
) =>
  `SELECT ${headText('g.', now)} AS line, i.group_key AS group_key, ${itemColumns(engine, hasPayloads)} ` +
  `FROM ${tables.items} i${engine.useIndex(tables.index.itemsMember)} JOIN ${tables.groups} g ON g.group_key = i.group_key ` +
  `WHERE i.member = ?${groups}${after ? ` AND ${placeCondition('<')}` : ''} ` +
  'ORDER BY i.created_at_ms DESC, i.group_key DESC, i.id DESC LIMIT ?'

/** The member's items that are in their windows, newest first. */
export const MEMBER_ITEMS: Runnable<GroupMemory, MemberRequest, MemberItems> = {
  alone: (session, { policies }, request) => session.read((reader) => memberItems(reader, policies, request)),
}

interface MemberRequest extends MemberOptions {
  member: string
  limit: number
}

async function memberItems(reader: Reader, policies: PolicyCache, request: MemberRequest): Promise<MemberItems> {
  const { member, limit, prefix = '', before, payloads } = request
  const maxBytes = maxBytesOf(request)
  const items: ItemRow[] = []
  const groups = groupsIn(prefix)
  let place = before === undefined ? null : placeOf(before)
  const windows = new MemberWindows(reader, member)
  for (let bytes = 0; ; ) {
    const sql = selectMemberSql(reader, place !== null, { groups: groups.where, hasPayloads: payloads !== 'none' })
    const from = place === null ? [] : placeParameters(place)
    const rows = await reader.rows(sql, [member, ...groups.parameters, ...from, CHUNK])
    const heads = rows.map(({ line }) => headOf(line as string))
    const set = await policies.current(reader, heads)
    for (const [n, head] of heads.entries()) {
      const item = itemRowOf(head.group, rows[n] as Row)
      if (await windows.shows(set, head, item)) {
        bytes += itemBytes(item)
        const isFull = items.length === limit || (items.length > 0 && bytes > maxBytes)
        if (isFull)
          return { items: items.map((shown) => itemOf(shown, payloads)), nextBefore: place && cursorOf(place) }
        items.push(item)
      }
      place = item
    }
    if (rows.length < CHUNK) return { items: items.map((shown) => itemOf(shown, payloads)), nextBefore: null }
  }
}

/** Which items of one member (null: without a member) are in the windows of their groups. It reads a window once, however many items it has. */
class MemberWindows {
  /** The one item that a `distinct` or `top` window shows, of groups that are laid out by another policy than they follow. */
  readonly #shown = new Map<string, { version: bigint; id: bigint | null }>()

  constructor(
    private readonly reader: Reader,
    private readonly member: string | null,
  ) {}

  async shows(set: PolicySet, head: SeenHead, item: ItemRow): Promise<boolean> {
    const settings = set.settingsOf(head.group, head.own)
    if (expired(item, settings, head.nowMs)) return false
    if (settings.capacity === head.capacity && settings.mode === head.mode) return true
    if (settings.mode === 'history') return item.id >= firstIdOf(settings, head.lastId)
    // Whether a member is among those seen last depends on the others.
    const known = this.#shown.get(head.group)
    if (known?.version === head.version) return known.id === item.id
    const sql = `SELECT ${occupantColumns(this.reader.engine)} FROM ${this.reader.tables.items} i WHERE i.group_key = ?`
    const occupants = (await this.reader.rows(sql, [head.group])).map(occupantOf)
    const shown = visible(occupants, settings, head.lastId, head.nowMs).find(({ member }) => member === this.member)
    this.#shown.set(head.group, { version: head.version, id: shown?.id ?? null })
    return shown?.id === item.id
  }
}

/**
 * Head and item in one statement, by the primary key where the slot follows from the id; a `distinct` or `top` group is searched,
 * because no index has the ids. Parameters: the id, the group and the id, and the group and the id again.
 */
export function selectItemSql({ engine, tables, now }: ReadFacts): string {
  const select =
    `SELECT ${headText('g.', now)} AS line, ${itemColumns(engine)} ` +
    `FROM ${tables.groups} g JOIN ${tables.items} i ON i.group_key = g.group_key`
  const where = 'WHERE g.group_key = ? AND i.id = ?'
  return (
    `${select} AND i.slot = ? % g.capacity ${where} AND g.mode = 'history'\nUNION ALL\n` +
    `${select} ${where} AND g.mode <> 'history'`
  )
}

export async function readItem(
  reader: Reader,
  policies: PolicyCache,
  group: string,
  id: bigint,
  { payloads }: PayloadOptions,
): Promise<Item | null> {
  const [row] = await reader.rows(selectItemSql(reader), [id, group, id, group, id])
  if (!row) return null
  const head = headOf(row.line as string)
  const item = itemRowOf(group, row)
  const set = await policies.current(reader, [head])
  return (await new MemberWindows(reader, item.member).shows(set, head, item)) ? itemOf(item, payloads) : null
}

/** The place of a row that selects all three as text or numbers. */
export function placeIn({ created_at_ms, group_key, id }: Row): IndexPlace {
  return { createdAtMs: Number(created_at_ms), group: group_key as string, id: BigInt(id as string) }
}

function cursorOf({ createdAtMs, group, id }: IndexPlace): string {
  return Buffer.from(JSON.stringify([createdAtMs, group, String(id)]), 'utf8').toString('base64url')
}

function placeOf(cursor: string): IndexPlace {
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
    // Not JSON: reported below.
  }
  const detail = 'must be the nextBefore of an answer to the same request'
  throw new RecentnError('invalid_input', `before: ${detail}`, { faults: [{ parameter: 'before', detail }] })
}
