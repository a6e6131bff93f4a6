/**
 * The result of a read: heads and items in one result, each row as one text (see `rows.ts`, which says why). Owns the text
 * of an item and its decoder. The payload, which may contain the separator, is the last field. No statements, no locks.
 */
import type { Row } from '../../database/engine'
import { ITEM } from '../../fields/answers-groups'
import type { Item, Mode, PayloadForm } from '../../shared/group-types'
import { JsonText } from '../../shared/json'
import {
  byRank,
  HEAD_MARK,
  headOf,
  type ItemRow,
  type Occupant,
  orEmpty,
  SEPARATOR,
  type SeenHead,
  scoreOf,
  storedScore,
} from './rows'

/** An item of which only the beginning is decoded at first: a read fetches more of a window than it shows. */
export interface ItemLine {
  group: string
  slot: number
  /** Decimal digits. */
  id: string
  text: string
  /** The offset of the fields that are not decoded at first. */
  rest: number
  /** All fields but the payload; null until a caller has asked for them. */
  decoded: Decoded | null
  /** The payload of an item that is remembered and was shown; callers get copies. */
  value: unknown
}

interface Decoded extends Occupant {
  occurredAtMs: number | null
  /** The offset of the payload in the text. */
  payloadAt: number
}

const itemLine = (occurredAt: string, eventId: string, payload: string) =>
  `CONCAT_WS(${SEPARATOR}, i.slot, i.id, i.group_key, i.created_at_ms, ${orEmpty('i.score')}, ` +
  `${occurredAt}, ${orEmpty('i.member')}, ${eventId}, ${payload}) AS line`
const [OCCURRED_AT, EVENT_ID, PAYLOAD] = [orEmpty('i.occurred_at_ms'), orEmpty('i.event_id'), orEmpty('i.payload')]

/** SQL: the item in table `i`. */
export const ITEM_LINE = itemLine(OCCURRED_AT, EVENT_ID, PAYLOAD)
/** SQL: the same as if the item had no payload. */
export const BARE_ITEM_LINE = itemLine(OCCURRED_AT, EVENT_ID, "''")
/** SQL: the same as if it had nothing but its place, its score and its member. */
export const PLACE_LINE = itemLine("''", "''", "''")

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
    decoded: null,
    value: undefined,
  }
}

/** Sorts the newest first. The ids are digits without leading zeros: the longer one is the greater one. */
export function newestFirst(a: ItemLine, b: ItemLine): number {
  return b.id.length - a.id.length || (a.id < b.id ? 1 : -1)
}

/** Sorts as the mode's pages do. */
export function orderOf(mode: Mode): (a: ItemLine, b: ItemLine) => number {
  return mode === 'top' ? (a, b) => byRank(occupantOfLine(a), occupantOfLine(b)) : newestFirst
}

export function createdAtOf({ text, rest }: ItemLine): number {
  return Number(text.slice(rest, text.indexOf('\n', rest)))
}

export function memberOf({ text, rest }: ItemLine): string | null {
  const score = text.indexOf('\n', rest) + 1
  const occurred = text.indexOf('\n', score) + 1
  const member = text.indexOf('\n', occurred) + 1
  return text.slice(member, text.indexOf('\n', member)) || null
}

/** The item as a statement would show it. */
export function lineOf(row: ItemRow): ItemLine {
  const { group, slot, id, createdAtMs, score, occurredAtMs, member, eventId, payload } = row
  const place = `${slot}\n${id}\n${group}\n`
  const numbers = `${createdAtMs}\n${score === null ? '' : storedScore(score)}\n${occurredAtMs ?? ''}`
  const text = `${place}${numbers}\n${member ?? ''}\n${eventId ?? ''}\n${payload ?? ''}`
  const payloadAt = text.length - (payload?.length ?? 0)
  const decoded = { slot, id, member, eventId, createdAtMs, score, occurredAtMs, payloadAt }
  return { group, slot, id: String(id), text, rest: place.length, decoded, value: undefined }
}

export function occupantOfLine(line: ItemLine): Decoded {
  if (line.decoded !== null) return line.decoded
  const { slot, id, text, rest } = line
  const createdEnd = text.indexOf('\n', rest)
  const scoreEnd = text.indexOf('\n', createdEnd + 1)
  const occurredEnd = text.indexOf('\n', scoreEnd + 1)
  const memberEnd = text.indexOf('\n', occurredEnd + 1)
  const eventEnd = text.indexOf('\n', memberEnd + 1)
  line.decoded = {
    slot,
    id: BigInt(id),
    member: text.slice(occurredEnd + 1, memberEnd) || null,
    eventId: text.slice(memberEnd + 1, eventEnd) || null,
    createdAtMs: Number(text.slice(rest, createdEnd)),
    score: scoreEnd === createdEnd + 1 ? null : scoreOf(BigInt(text.slice(createdEnd + 1, scoreEnd))),
    occurredAtMs: occurredEnd === scoreEnd + 1 ? null : Number(text.slice(scoreEnd + 1, occurredEnd)),
    payloadAt: eventEnd + 1,
  }
  return line.decoded
}

/** The item as callers see it; `isKept`: the line is remembered, and may be shown again. */
export function itemOfLine(line: ItemLine, payloads: PayloadForm = 'value', isKept = false): Item {
  const { id, slot, member, score, eventId, createdAtMs, occurredAtMs, payloadAt } = occupantOfLine(line)
  return ITEM.make({
    group: line.group,
    id,
    slot,
    member,
    score,
    // Another caller of the same statement may want payloads.
    payload:
      payloads === 'none' || payloadAt === line.text.length ? null : payloadOf(line, payloadAt, payloads, isKept),
    occurredAt: occurredAtMs === null ? null : new Date(occurredAtMs),
    eventId,
    createdAt: new Date(createdAtMs),
  })
}

/** Longer payloads are parsed each time: what they take as values is not counted (`windows.ts`). */
const LONGEST_VALUE = 1024

function payloadOf(line: ItemLine, at: number, payloads: PayloadForm, isKept: boolean): unknown {
  if (isKept && payloads === 'value' && line.value !== undefined) return copyOf(line.value)
  const text = line.text.slice(at)
  if (payloads === 'text') return new JsonText(text)
  if (!isKept || text.length > LONGEST_VALUE) return JSON.parse(text)
  line.value = JSON.parse(text)
  return copyOf(line.value)
}

/** A copy of what `JSON.parse` has given: a few times as quick as to parse it again. */
function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf) as T
  const copy = { ...value }
  for (const key in copy) {
    const member = copy[key]
    if (typeof member === 'object' && member !== null && Object.hasOwn(copy, key)) copy[key] = copyOf(member)
  }
  return copy
}
