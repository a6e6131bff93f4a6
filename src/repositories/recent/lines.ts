/**
 * Rows as lines: a head, or an item, as one text of fields. A driver decodes one column many times faster than twenty,
 * and a text is exact whatever the driver's options make of a BIGINT. The separator is a control character, which no
 * name may have; the payload, which may have anything, comes last. A field that is empty is NULL: no name and no JSON
 * text is empty. No statements here, only their columns, and what reads them.
 */
import type { Row } from '../../database/engine'
import { JsonText } from '../../json'
import { ItemResult } from '../../results/groups'
import type { Item, Mode, OwnSettings, PayloadForm, Settings } from './types'

/** A head as reads need it. */
export interface HeadLine extends Settings {
  group: string
  /** Decimal digits: they only ever go into a tag. */
  incarnation: string
  version: string
  lastId: bigint
  own: OwnSettings
  policyEpoch: bigint
  /** The database's time, where the group's items expire. */
  nowMs: number
}

/** An item of which only the beginning is read yet: of a window more is read than shown. */
export interface ItemLine {
  group: string
  slot: number
  /** Decimal digits. */
  id: string
  text: string
  /** Where the rest begins. */
  rest: number
}

/** What both servers and SQLite take for a line break, whatever the session makes of backslashes. */
export const SEPARATOR = "'\n'"
const HEAD = 'head'
export const orEmpty = (column: string) => `COALESCE(${column}, '')`

/** SQL: the head in table `g`. */
export function headLine(now: string): string {
  const fields = [
    `'${HEAD}'`,
    'g.incarnation',
    'g.version',
    'g.last_id',
    'g.capacity',
    'g.mode',
    orEmpty('g.ttl_seconds'),
    orEmpty('g.own_capacity'),
    orEmpty('g.own_mode'),
    orEmpty('g.own_ttl_seconds'),
    'g.policy_epoch',
    `CASE WHEN g.ttl_seconds IS NULL THEN '' ELSE ${now} END`,
    'g.group_key',
  ]
  return `CONCAT_WS(${SEPARATOR}, ${fields.join(', ')}) AS line`
}

const itemLine = (payload: string) =>
  `CONCAT_WS(${SEPARATOR}, i.slot, i.id, i.group_key, i.created_at_ms, ` +
  `${['i.occurred_at_ms', 'i.member', 'i.event_id'].map(orEmpty).join(', ')}, ${payload}) AS line`

/** SQL: the item in table `i`. */
export const ITEM_LINE = itemLine(orEmpty('i.payload'))
/** SQL: the same item as if it had no payload. */
export const BARE_ITEM_LINE = itemLine("''")

/** What one statement of such rows showed. */
export interface Sight {
  heads: Map<string, HeadLine>
  /** By group, in no order. */
  items: Map<string, ItemLine[]>
}

export function sightOf(rows: readonly Row[]): Sight {
  const sight: Sight = { heads: new Map(), items: new Map() }
  let last: ItemLine[] = []
  for (const row of rows) {
    const text = row.line as string
    if (text.startsWith(HEAD)) {
      const head = headOf(text)
      sight.heads.set(head.group, head)
      continue
    }
    const item = itemLineOf(text)
    if (last[0]?.group !== item.group) {
      last = sight.items.get(item.group) ?? []
      if (last.length === 0) sight.items.set(item.group, last)
    }
    last.push(item)
  }
  return sight
}

function headOf(text: string): HeadLine {
  const fields = text.split('\n') as string[]
  const [, incarnation, version, lastId, capacity, mode, ttl, ownCapacity, ownMode, ownTtl, epoch, now, group] =
    fields as [string, string, string, string, string, string, string, string, string, string, string, string, string]
  return {
    group,
    incarnation,
    version,
    lastId: BigInt(lastId),
    capacity: Number(capacity),
    mode: mode as Mode,
    ttlSeconds: ttl === '' ? null : Number(ttl),
    own: {
      capacity: ownCapacity === '' ? undefined : Number(ownCapacity),
      mode: ownMode === '' ? undefined : (ownMode as Mode),
      // The column keeps "never" as 0, because null follows the policy.
      ttlSeconds: ownTtl === '' ? undefined : ownTtl === '0' ? null : Number(ownTtl),
    },
    policyEpoch: BigInt(epoch),
    nowMs: Number(now),
  }
}

function itemLineOf(text: string): ItemLine {
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

/** Newest first. Decimal digits without leading zeros: the longer is the greater. */
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

/** The item as callers see it. */
export function itemOfLine({ group, slot, id, text, rest }: ItemLine, payloads: PayloadForm = 'value'): Item {
  const createdEnd = text.indexOf('\n', rest)
  const occurredEnd = text.indexOf('\n', createdEnd + 1)
  const memberEnd = text.indexOf('\n', occurredEnd + 1)
  const eventEnd = text.indexOf('\n', memberEnd + 1)
  // Another caller of the same statement may want payloads.
  const payload = payloads === 'none' ? '' : text.slice(eventEnd + 1)
  return new ItemResult(
    group,
    BigInt(id),
    slot,
    text.slice(occurredEnd + 1, memberEnd) || null,
    payload === '' ? null : payloads === 'text' ? new JsonText(payload) : JSON.parse(payload),
    occurredEnd === createdEnd + 1 ? null : new Date(Number(text.slice(createdEnd + 1, occurredEnd))),
    text.slice(memberEnd + 1, eventEnd) || null,
    new Date(Number(text.slice(rest, createdEnd))),
  )
}
