/**
 * What a read shows: heads and items in one result, each row as one text (see `rows.ts`, which says why). Owns the text
 * of an item and its decoder. The payload, which may contain the separator, is the last field. No statements, no locks.
 */
import type { Row } from '../../database/engine'
import { ITEM } from '../../fields/answers-groups'
import type { Item, PayloadForm } from '../../shared/group-types'
import { JsonText } from '../../shared/json'
import { HEAD_MARK, headOf, type ItemRow, type Occupant, orEmpty, SEPARATOR, type SeenHead } from './rows'

/** An item of which only the beginning is decoded yet: a read fetches more of a window than it shows. */
export interface ItemLine {
  group: string
  slot: number
  /** Decimal digits. */
  id: string
  text: string
  /** The offset of the fields that are not decoded. */
  rest: number
}

const itemLine = (occurredAt: string, eventId: string, payload: string) =>
  `CONCAT_WS(${SEPARATOR}, i.slot, i.id, i.group_key, i.created_at_ms, ` +
  `${occurredAt}, ${orEmpty('i.member')}, ${eventId}, ${payload}) AS line`
const [OCCURRED_AT, EVENT_ID, PAYLOAD] = [orEmpty('i.occurred_at_ms'), orEmpty('i.event_id'), orEmpty('i.payload')]

/** SQL: the item in table `i`. */
export const ITEM_LINE = itemLine(OCCURRED_AT, EVENT_ID, PAYLOAD)
/** SQL: the same as if the item had no payload. */
export const BARE_ITEM_LINE = itemLine(OCCURRED_AT, EVENT_ID, "''")
/** SQL: the same as if it had nothing but its place and its member. */
export const PLACE_LINE = itemLine("''", "''", "''")

/** The rows of one statement, decoded. */
export interface Snapshot {
  heads: Map<string, SeenHead>
  /** By group, in no order. */
  items: Map<string, ItemLine[]>
  /** By group, how many items the statement found, where it says so: it may give fewer. */
  found: Map<string, number>
}

export function snapshotOf(rows: readonly Row[]): Snapshot {
  const snapshot: Snapshot = { heads: new Map(), items: new Map(), found: new Map() }
  let last: ItemLine[] = []
  for (const row of rows) {
    const text = row.line as string
    if (text.startsWith(HEAD_MARK)) {
      const head = headOf(text)
      snapshot.heads.set(head.group, head)
      continue
    }
    const item = itemLineOf(text)
    if (last[0]?.group !== item.group) {
      last = snapshot.items.get(item.group) ?? []
      if (last.length === 0) snapshot.items.set(item.group, last)
    }
    last.push(item)
    if (row.found) snapshot.found.set(item.group, Number(row.found))
  }
  return snapshot
}

export function epochsOf({ heads }: Snapshot): bigint[] {
  return Array.from(heads.values(), ({ policyEpoch }) => policyEpoch)
}

export function itemLineOf(text: string): ItemLine {
  const slotEnd = text.indexOf('\n')
  const idEnd = text.indexOf('\n', slotEnd + 1)
  const groupEnd = text.indexOf('\n', idEnd + 1)
  return {
    group: text.slice(idEnd + 1, groupEnd),
    slot: Number(text.slice(0, slotEnd)),
    id: text.slice(slotEnd + 1, idEnd),
    text,
    rest: groupEnd + 1,
  }
}

/** Sorts the newest first. The ids are digits without leading zeros: the longer one is the greater one. */
export function newestFirst(a: ItemLine, b: ItemLine): number {
  return b.id.length - a.id.length || (a.id < b.id ? 1 : -1)
}

export function createdAtOf({ text, rest }: ItemLine): number {
  return Number(text.slice(rest, text.indexOf('\n', rest)))
}

export function memberOf({ text, rest }: ItemLine): string | null {
  const occurred = text.indexOf('\n', rest) + 1
  const member = text.indexOf('\n', occurred) + 1
  return text.slice(member, text.indexOf('\n', member)) || null
}

/** The item as a statement would show it. */
export function lineOf({ group, slot, id, createdAtMs, occurredAtMs, member, eventId, payload }: ItemRow): ItemLine {
  const place = `${slot}\n${id}\n${group}\n`
  const text = `${place}${createdAtMs}\n${occurredAtMs ?? ''}\n${member ?? ''}\n${eventId ?? ''}\n${payload ?? ''}`
  return { group, slot, id: String(id), text, rest: place.length }
}

/** The item without its payload. */
export function occupantOfLine({ slot, id, text, rest }: ItemLine): Occupant {
  const createdEnd = text.indexOf('\n', rest)
  const occurredEnd = text.indexOf('\n', createdEnd + 1)
  const memberEnd = text.indexOf('\n', occurredEnd + 1)
  return {
    slot,
    id: BigInt(id),
    member: text.slice(occurredEnd + 1, memberEnd) || null,
    eventId: text.slice(memberEnd + 1, text.indexOf('\n', memberEnd + 1)) || null,
    createdAtMs: Number(text.slice(rest, createdEnd)),
  }
}

/** The item as callers see it. */
export function itemOfLine({ group, slot, id, text, rest }: ItemLine, payloads: PayloadForm = 'value'): Item {
  const createdEnd = text.indexOf('\n', rest)
  const occurredEnd = text.indexOf('\n', createdEnd + 1)
  const memberEnd = text.indexOf('\n', occurredEnd + 1)
  const eventEnd = text.indexOf('\n', memberEnd + 1)
  // Another caller of the same statement may want payloads.
  const payload = payloads === 'none' ? '' : text.slice(eventEnd + 1)
  return ITEM.make({
    group,
    id: BigInt(id),
    slot,
    member: text.slice(occurredEnd + 1, memberEnd) || null,
    payload: payload === '' ? null : payloads === 'text' ? new JsonText(payload) : JSON.parse(payload),
    occurredAt: occurredEnd === createdEnd + 1 ? null : new Date(Number(text.slice(createdEnd + 1, occurredEnd))),
    eventId: text.slice(memberEnd + 1, eventEnd) || null,
    createdAt: new Date(Number(text.slice(rest, createdEnd))),
  })
}
