/** Rows of the two tables as values, and the column lists that read them. */
import type { Engine, Row } from '../../database/engine'
import { JsonText, jsonBytes } from '../../json'
import { ItemResult } from '../../results/groups'
import type { AppendedItem, Item, Mode, OwnSettings, PayloadForm, Settings } from './types'

/** What an append must know of a head. */
export interface RingHead extends Settings {
  group: string
  /** −1 before the first append. */
  lastId: bigint
  /** When the sweeper should look at the group; null for not at all. */
  sweepAtMs: number | null
}

/** The head row of a group: its sequence, its layout, its own settings. */
export interface Head extends RingHead {
  incarnation: bigint
  version: bigint
  /** What is undefined follows the policy. */
  own: OwnSettings
  policyEpoch: bigint
  createdAtMs: number
}

/** Who is in a slot, without the payload. */
export interface Occupant {
  slot: number
  id: bigint
  member: string | null
  eventId: string | null
  createdAtMs: number
}

/** A row of recentn_items. */
export interface ItemRow extends Occupant {
  group: string
  payload: string | null
  occurredAtMs: number | null
}

export const HEAD_COLUMNS = [
  'group_key',
  'incarnation',
  'version',
  'last_id',
  'capacity',
  'mode',
  'ttl_seconds',
  'own_capacity',
  'own_mode',
  'own_ttl_seconds',
  'policy_epoch',
  'sweep_at_ms',
  'created_at_ms',
] as const

/** The columns of a head that is written: the number that it has in the feed of the groups goes with what that tells. */
export const WRITTEN_COLUMNS = [...HEAD_COLUMNS, 'sync_id'] as const

/** SQL: the columns of a head in table `g`, prefixed so that they stand beside an item's. */
export function headColumns(engine: Engine): string {
  const big = new Set(['incarnation', 'version', 'last_id', 'policy_epoch'])
  return HEAD_COLUMNS.map(
    (column) => `${big.has(column) ? engine.bigint(`g.${column}`) : `g.${column}`} AS head_${column}`,
  ).join(', ')
}

export function headOf(row: Row): Head {
  return {
    group: row.head_group_key as string,
    incarnation: BigInt(row.head_incarnation as string),
    version: BigInt(row.head_version as string),
    lastId: BigInt(row.head_last_id as string),
    capacity: Number(row.head_capacity),
    mode: row.head_mode as Mode,
    ttlSeconds: numberOrNull(row.head_ttl_seconds),
    own: {
      capacity: numberOrNull(row.head_own_capacity) ?? undefined,
      mode: (row.head_own_mode as Mode | null) ?? undefined,
      ttlSeconds: ownTtlOf(numberOrNull(row.head_own_ttl_seconds)),
    },
    policyEpoch: BigInt(row.head_policy_epoch as string),
    sweepAtMs: numberOrNull(row.head_sweep_at_ms),
    createdAtMs: Number(row.head_created_at_ms),
  }
}

/** The values of a head, in the order of `WRITTEN_COLUMNS`. */
export function headValues(head: Head): (string | number | bigint | null)[] {
  return [
    head.group,
    head.incarnation,
    head.version,
    head.lastId,
    head.capacity,
    head.mode,
    head.ttlSeconds,
    head.own.capacity ?? null,
    head.own.mode ?? null,
    // The column keeps "never" as 0, because null follows the policy.
    head.own.ttlSeconds === null ? 0 : (head.own.ttlSeconds ?? null),
    head.policyEpoch,
    head.sweepAtMs,
    head.createdAtMs,
    null,
  ]
}

function ownTtlOf(column: number | null): number | null | undefined {
  if (column === null) return undefined
  return column === 0 ? null : column
}

/** SQL: an occupant in table `i`. */
export function occupantColumns(engine: Engine): string {
  return `i.slot AS slot, ${engine.bigint('i.id')} AS id, i.member AS member, i.event_id AS event_id, i.created_at_ms AS created_at_ms`
}

/** SQL: an item in table `i`; without a payload as if it had none. */
export function itemColumns(engine: Engine, hasPayload = true): string {
  return `${occupantColumns(engine)}, ${hasPayload ? 'i.payload' : 'NULL'} AS payload, i.occurred_at_ms AS occurred_at_ms`
}

export function occupantOf(row: Row): Occupant {
  return {
    slot: Number(row.slot),
    id: BigInt(row.id as string),
    member: row.member as string | null,
    eventId: row.event_id as string | null,
    createdAtMs: Number(row.created_at_ms),
  }
}

export function itemRowOf(group: string, row: Row): ItemRow {
  return {
    ...occupantOf(row),
    group,
    payload: row.payload as string | null,
    occurredAtMs: numberOrNull(row.occurred_at_ms),
  }
}

/** The item as callers see it. */
export function itemOf(row: ItemRow, payloads: PayloadForm = 'value'): Item {
  const payload =
    row.payload === null ? null : payloads === 'text' ? new JsonText(row.payload) : JSON.parse(row.payload)
  const occurredAt = row.occurredAtMs === null ? null : new Date(row.occurredAtMs)
  const createdAt = new Date(row.createdAtMs)
  return new ItemResult(row.group, row.id, row.slot, row.member, payload, occurredAt, row.eventId, createdAt)
}

/** What an item takes as JSON beside its names and its payload: the names of its fields, numbers and times. */
const FRAME_BYTES = 200

/** How many bytes the item takes as JSON, about, with a payload of as many. */
export function itemBytes(
  { group, member, eventId }: Pick<ItemRow, 'group' | 'member' | 'eventId'>,
  payload: number,
): number {
  return FRAME_BYTES + jsonBytes(group) + jsonBytes(member) + jsonBytes(eventId) + payload
}

/** An appended item as its caller sees it. (Added to the object, not spread: this runs for every append.) */
export function appendedItemOf(row: ItemRow, appended: boolean, payloads?: 'value' | 'text'): AppendedItem {
  return Object.assign(itemOf(row, payloads), { appended })
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}
