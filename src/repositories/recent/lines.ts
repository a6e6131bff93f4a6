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
} from './rows'

/** An item of which only the beginning is decoded at first: a read fetches more of a window than it shows. */
export interface ItemLine {
  group: string
  slot: number
  /** The id in decimal digits. */
  digits: string
  text: string
  /** The offset of the fields that are not decoded at first; 0 where the text is the payload alone. */
  rest: number
  /** The offset of the payload in the text; −1 until a caller has asked for the other fields. */
  payloadAt: number
  /** The payload of an item that is remembered and was shown; callers get copies. */
  value: unknown
}

/** The same object once it is decoded. Windows are walked through again and again, and a second object would be a second miss of the cache. */
interface DecodedLine extends ItemLine, Occupant {
  occurredAtMs: number | null
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
  const line: DecodedLine = {
    group: text.slice(idEnd + 1, groupEnd),
    slot: Number(text.slice(0, slotEnd)),
    id: 0n,
    digits: text.slice(slotEnd + 1, idEnd),
    member: null,
    eventId: null,
    score: null,
    createdAtMs: 0,
    occurredAtMs: null,
    payloadAt: -1,
    text,
    rest: groupEnd + 1,
    value: undefined,
  }
  return line
}

/** Sorts the newest first. The digits have no leading zeros: the longer ones are the greater id. */
export function newestFirst(a: ItemLine, b: ItemLine): number {
  return b.digits.length - a.digits.length || (a.digits < b.digits ? 1 : -1)
}

/** Sorts as the mode's pages do. */
export function orderOf(mode: Mode): (a: ItemLine, b: ItemLine) => number {
  return mode === 'top' ? (a, b) => byRank(decoded(a), decoded(b)) : newestFirst
}

export function createdAtOf(line: ItemLine): number {
  const { text, rest, payloadAt } = line
  return payloadAt < 0 ? Number(text.slice(rest, text.indexOf('\n', rest))) : decoded(line).createdAtMs
}

/** The item that was written, all of it decoded: its text is the payload alone. */
export function lineOf(row: ItemRow): DecodedLine {
  const { group, slot, id, createdAtMs, score, occurredAtMs, member, eventId, payload } = row
  const rest = { payloadAt: 0, text: payload ?? '', rest: 0, value: undefined }
  return { group, slot, id, digits: String(id), member, eventId, score, createdAtMs, occurredAtMs, ...rest }
}

/** About how long the texts are that a line keeps in memory. */
export function unitsOfLine(line: ItemLine): number {
  if (line.rest > 0) return line.text.length
  const { text, member, eventId } = decoded(line)
  return text.length + (member?.length ?? 0) + (eventId?.length ?? 0)
}

/** The same line, of which all fields are decoded now. */
export function decoded(encoded: ItemLine): DecodedLine {
  const line = encoded as DecodedLine
  if (line.payloadAt >= 0) return line
  const { text, rest } = line
  const createdEnd = text.indexOf('\n', rest)
  const scoreEnd = text.indexOf('\n', createdEnd + 1)
  const occurredEnd = text.indexOf('\n', scoreEnd + 1)
  const memberEnd = text.indexOf('\n', occurredEnd + 1)
  const eventEnd = text.indexOf('\n', memberEnd + 1)
  line.id = BigInt(line.digits)
  line.member = text.slice(occurredEnd + 1, memberEnd) || null
  line.eventId = text.slice(memberEnd + 1, eventEnd) || null
  line.createdAtMs = Number(text.slice(rest, createdEnd))
  line.score = scoreEnd === createdEnd + 1 ? null : scoreOf(BigInt(text.slice(createdEnd + 1, scoreEnd)))
  line.occurredAtMs = occurredEnd === scoreEnd + 1 ? null : Number(text.slice(scoreEnd + 1, occurredEnd))
  line.payloadAt = eventEnd + 1
  return line
}

/** The same list. */
export function allDecoded(lines: readonly ItemLine[]): readonly Occupant[] {
  for (const line of lines) decoded(line)
  return lines as readonly DecodedLine[]
}

/** The item as callers see it; `isKept`: the line is remembered, and may be shown again. */
export function itemOfLine(line: ItemLine, payloads: PayloadForm = 'value', isKept = false): Item {
  const { group, id, slot, member, score, eventId, createdAtMs, occurredAtMs, payloadAt } = decoded(line)
  return ITEM.make({
    group,
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
