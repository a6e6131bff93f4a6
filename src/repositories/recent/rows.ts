/**
 * Rows of recentn_groups and recentn_items as values: the columns and texts that statements select, and the one decoder
 * of each. No statements, no locks.
 *
 * Invariant: a head is always selected whole, as one text of fields in the order of `headText`. A driver decodes one
 * column many times faster than thirteen, and a text is exact whatever the driver's options make of a BIGINT. The
 * separator is a control character, which no name may contain. An empty field is NULL: no name is empty.
 *
 * A score is a finite double, stored as the whole number whose order is that of the doubles. It has the bits of the score, with all
 * but the sign turned round below zero. So three engines sort alike, and none writes a score as a text that rounds it.
 */
import type { Engine, Parameter, Reader, Row, Tx } from '../../database/engine'
import { APPENDED_ITEM, ITEM } from '../../fields/answers-groups'
import { MAX_ID } from '../../fields/rules'
import type { AppendedItem, Item, Mode, OwnSettings, PayloadForm, Settings } from '../../shared/group-types'
import { JsonText } from '../../shared/json'
import { jsonBytes } from '../../shared/json-faults'
import { chunksOf, MAX_KEYS } from '../chunks'

/** The facts that a text of a read is made of. */
export type ReadFacts = Pick<Reader, 'engine' | 'tables' | 'now'>

export interface Appended {
  row: ItemRow
  /** False for an item because of which another one was not appended. */
  appended: boolean
}

/** The head row of a group: its sequence, its layout, its own settings. */
export interface Head extends Settings {
  group: string
  incarnation: bigint
  version: bigint
  /** −1 before the first append. */
  lastId: bigint
  /** A field that is undefined follows the policy. */
  own: OwnSettings
  policyEpoch: bigint
  /** When the sweeper should look at the group; null for never. */
  sweepAtMs: number | null
  createdAtMs: number
}

export interface SeenHead extends Head {
  /** The database's time; 0 if the statement did not ask for it. */
  nowMs: number
}

/** The item in a slot, without its payload. */
export interface Occupant {
  slot: number
  id: bigint
  member: string | null
  eventId: string | null
  score: number | null
  createdAtMs: number
}

export interface ItemRow extends Occupant {
  group: string
  payload: string | null
  occurredAtMs: number | null
}

/** SQL: a line break, which both servers and SQLite read the same, whatever the session makes of backslashes. */
export const SEPARATOR = "'\n'"
/** The first field of a head's text: an item's text begins with a number. */
export const HEAD_MARK = 'head'
export const orEmpty = (column: string) => `COALESCE(${column}, '')`

/**
 * SQL: the head whose columns begin with `table`. `now` is the time to select beside it; leave it out where the statement
 * takes locks, because it may have started long before it got them.
 */
export function headText(table: keyof typeof HEAD_FIELDS = 'g.', now = "''"): string {
  return `CONCAT_WS(${SEPARATOR}, '${HEAD_MARK}', ${HEAD_FIELDS[table]}, ${now}, ${table}group_key)`
}

/** Made once: every statement has them. */
const HEAD_FIELDS = { 'g.': headFields('g.'), '': headFields('') }

function headFields(table: string): string {
  const required = ['incarnation', 'version', 'last_id', 'capacity', 'mode', 'policy_epoch', 'created_at_ms']
  const own = ['own_capacity', 'own_mode', 'own_ttl_seconds', 'own_forget_empty_seconds']
  const nullable = ['ttl_seconds', 'forget_empty_seconds', ...own, 'sweep_at_ms']
  return [...required.map((column) => table + column), ...nullable.map((column) => orEmpty(table + column))].join(', ')
}

/** Cuts the fields off one after the other, in the order of `headText`: to split the text takes twice as long. */
export function headOf(text: string): SeenHead {
  let start = HEAD_MARK.length + 1
  const next = () => {
    const end = text.indexOf('\n', start)
    const field = text.slice(start, end)
    start = end + 1
    return field
  }
  return {
    incarnation: BigInt(next()),
    version: BigInt(next()),
    lastId: BigInt(next()),
    capacity: Number(next()),
    mode: next() as Mode,
    policyEpoch: BigInt(next()),
    createdAtMs: Number(next()),
    ttlSeconds: numberIn(next()) ?? null,
    forgetEmptySeconds: numberIn(next()) ?? null,
    own: {
      capacity: numberIn(next()),
      mode: (next() || undefined) as Mode | undefined,
      ttlSeconds: ownSecondsIn(next()),
      forgetEmptySeconds: ownSecondsIn(next()),
    },
    sweepAtMs: numberIn(next()) ?? null,
    nowMs: Number(next()),
    group: text.slice(start),
  }
}

function numberIn(field: string): number | undefined {
  return field === '' ? undefined : Number(field)
}

/** The columns store "never" as 0, because null follows the policy. */
function ownSecondsIn(field: string): number | null | undefined {
  return field === '0' ? null : numberIn(field)
}

export const WRITTEN_COLUMNS = [
  ...['group_key', 'incarnation', 'version', 'last_id', 'capacity', 'mode', 'ttl_seconds', 'own_capacity', 'own_mode'],
  ...['own_ttl_seconds', 'policy_epoch', 'sweep_at_ms', 'created_at_ms'],
  ...['forget_empty_seconds', 'own_forget_empty_seconds'],
]

/** The values of a head, in the order of `WRITTEN_COLUMNS`. */
export function headValues({ own, ...head }: Head): Parameter[] {
  const { group, incarnation, version, lastId, capacity, mode, ttlSeconds, policyEpoch, sweepAtMs, createdAtMs } = head
  const secondsOf = (seconds: number | null | undefined) => (seconds === null ? 0 : (seconds ?? null))
  const layout = [group, incarnation, version, lastId, capacity, mode, ttlSeconds]
  const owns = [own.capacity ?? null, own.mode ?? null, secondsOf(own.ttlSeconds)]
  const forgets = [head.forgetEmptySeconds, secondsOf(own.forgetEmptySeconds)]
  return [...layout, ...owns, policyEpoch, sweepAtMs, createdAtMs, ...forgets]
}

export function occupantColumns(engine: Engine): string {
  const numbers = `i.slot AS slot, ${engine.bigint('i.id')} AS id, ${engine.bigint('i.score')} AS score`
  return `${numbers}, i.member AS member, i.event_id AS event_id, i.created_at_ms AS created_at_ms`
}

/** SQL: an item in table `i`; without its payload if `hasPayload` is false. */
export function itemColumns(engine: Engine, hasPayload = true): string {
  return `${occupantColumns(engine)}, ${hasPayload ? 'i.payload' : 'NULL'} AS payload, i.occurred_at_ms AS occurred_at_ms`
}

export function occupantOf(row: Row): Occupant {
  return {
    slot: Number(row.slot),
    id: BigInt(row.id as string),
    member: row.member as string | null,
    eventId: row.event_id as string | null,
    score: row.score === null ? null : scoreOf(BigInt(row.score as string)),
    createdAtMs: Number(row.created_at_ms),
  }
}

export function itemRowOf(group: string, row: Row): ItemRow {
  const occurredAtMs = row.occurred_at_ms === null ? null : Number(row.occurred_at_ms)
  return { ...occupantOf(row), group, payload: row.payload as string | null, occurredAtMs }
}

export const selectPlacedSql = ({ engine, tables }: Pick<Reader, 'engine' | 'tables'>, count: number) =>
  `SELECT i.group_key AS group_key, ${itemColumns(engine)} FROM ${tables.items} i${engine.useIndex('PRIMARY')} WHERE ` +
  Array(count).fill('(i.group_key = ? AND i.slot = ?)').join(' OR ')

/** The items in these slots, in any order. */
export async function itemsAt(
  reader: Reader,
  places: readonly Pick<ItemRow, 'group' | 'slot'>[],
  lock = '',
): Promise<ItemRow[]> {
  const items: ItemRow[] = []
  for (const chunk of chunksOf(places, MAX_KEYS)) {
    const parameters = chunk.flatMap(({ group, slot }) => [group, slot])
    const rows = await reader.rows(selectPlacedSql(reader, chunk.length) + lock, parameters)
    for (const row of rows) items.push(itemRowOf(row.group_key as string, row))
  }
  return items
}

/** The item of a group whose head is locked. */
export async function itemWithId(tx: Tx, group: string, id: bigint): Promise<ItemRow> {
  const where = `WHERE i.group_key = ? AND i.id = ?${tx.engine.forUpdate}`
  const [row] = await tx.rows(`SELECT ${itemColumns(tx.engine)} FROM ${tx.tables.items} i ${where}`, [group, id])
  return itemRowOf(group, row as Row)
}

export function itemOf(row: ItemRow, payloads: PayloadForm = 'value'): Item {
  return ITEM.make(shown(row, payloads, false))
}

function shown(row: ItemRow, payloads: PayloadForm, appended: boolean): AppendedItem {
  const { group, id, slot, member, score, payload: text, occurredAtMs, eventId, createdAtMs } = row
  const payload = text === null ? null : payloads === 'text' ? new JsonText(text) : JSON.parse(text)
  const occurredAt = occurredAtMs === null ? null : new Date(occurredAtMs)
  const createdAt = new Date(createdAtMs)
  return { group, id, slot, member, score, payload, occurredAt, eventId, createdAt, appended }
}

/** The bytes that an item takes as JSON beside its names and its payload: the names of its fields, numbers and times. */
export const FRAME_BYTES = 240

export function itemBytes({ group, member, eventId, payload }: ItemRow): number {
  const names = jsonBytes(group) + jsonBytes(member) + jsonBytes(eventId)
  return FRAME_BYTES + names + Buffer.byteLength(payload ?? 'null', 'utf8')
}

export function appendedItemOf({ row, appended }: Appended, payloads: PayloadForm = 'value'): AppendedItem {
  return APPENDED_ITEM.make(shown(row, payloads, appended))
}

const view = new DataView(new ArrayBuffer(8))

export function storedScore(score: number): bigint {
  view.setFloat64(0, plain(score))
  return turned(view.getBigInt64(0))
}

export function scoreOf(stored: bigint): number {
  view.setBigInt64(0, turned(stored))
  return view.getFloat64(0)
}

/** Zero has one form: minus zero is equal to it, and would be stored as less. */
export const plain = (score: number): number => score + 0

const turned = (bits: bigint): bigint => (bits < 0n ? bits ^ MAX_ID : bits)

/** Sorts the highest score first, and of equal ones the oldest. */
export function byRank(a: Pick<Occupant, 'id' | 'score'>, b: Pick<Occupant, 'id' | 'score'>): number {
  const [one, other] = [a.score ?? Number.NEGATIVE_INFINITY, b.score ?? Number.NEGATIVE_INFINITY]
  if (one !== other) return one > other ? -1 : 1
  return a.id < b.id ? -1 : 1
}
