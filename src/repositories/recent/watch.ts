/**
 * What a stream of a group's changes looks at: heads, to see that something changed; who is in the windows, without
 * payloads; and the items in given slots. Each statement shows one moment, as the reads of pages do. Takes no lock.
 */
import type { Reader, Row, Session, Statement } from '../../database/engine'
import { chunksOf } from '../chunks'
import { createdAtOf, type HeadLine, headLine, type ItemLine, memberOf, orEmpty, SEPARATOR, sightOf } from './lines'
import type { PolicyCache } from './policies'
import { type ItemRow, itemColumns, itemRowOf } from './rows'
import type { Settings } from './types'
import { visible } from './window'

/** Of a group, what shows whether its window may have changed. */
export interface WatchedHead {
  group: string
  /** Decimal digits; empty for a group that does not exist. */
  incarnation: string
  version: string
  lastId: bigint
  /** Those in force. */
  settings: Settings
  /** The database's time. */
  nowMs: number
}

/** Where an item of a window is. */
export interface Place {
  id: bigint
  slot: number
  createdAtMs: number
}

export interface WatchedWindow extends WatchedHead {
  /** Of the items that readers see: oldest first. */
  places: Place[]
}

/** Names of one statement: a list that is too long turns into a scan. */
const CHUNK = 250

/** An item as `lines.ts` reads it, without what is not looked at. */
const PLACE_LINE =
  `CONCAT_WS(${SEPARATOR}, i.slot, i.id, i.group_key, i.created_at_ms, '', ${orEmpty('i.member')}, '', '') AS line, ` +
  'NULL AS now_ms'

export function watchedHeadsSql(
  { engine, tables, now }: Pick<Reader, 'engine' | 'tables' | 'now'>,
  groups: readonly string[],
): Statement {
  const { sql, parameters } = engine.values([groups])
  // The time of each head, also where it is only a policy that makes its items expire.
  return {
    sql:
      `SELECT ${headLine(now)}, ${now} AS now_ms FROM ${tables.groups} g${engine.useIndex('PRIMARY')} ` +
      `WHERE g.group_key IN ${sql}`,
    parameters,
  }
}

export function watchedWindowsSql(
  reader: Pick<Reader, 'engine' | 'tables' | 'now'>,
  groups: readonly string[],
): Statement {
  const heads = watchedHeadsSql(reader, groups)
  const { engine } = reader
  const { sql, parameters } = engine.values([groups])
  const items = `SELECT ${PLACE_LINE} FROM ${reader.tables.items} i${engine.useIndex('PRIMARY')} WHERE i.group_key IN ${sql}`
  return {
    sql: `${heads.sql}\nUNION ALL\n${items}`,
    parameters: [...heads.parameters, ...parameters],
  }
}

export const selectPlacedSql = ({ engine, tables }: Pick<Reader, 'engine' | 'tables'>, count: number) =>
  `SELECT i.group_key AS group_key, ${itemColumns(engine)} FROM ${tables.items} i${engine.useIndex('PRIMARY')} WHERE ` +
  Array(count).fill('(i.group_key = ? AND i.slot = ?)').join(' OR ')

/** The reads of who watches groups. */
export class WatchReads {
  constructor(
    readonly session: Session,
    readonly policies: PolicyCache,
  ) {}

  /** The heads of the groups, in their order. */
  heads(groups: readonly string[]): Promise<WatchedHead[]> {
    return this.session.read(async (reader) => {
      const rows: Row[] = []
      for (const chunk of chunksOf(groups, CHUNK)) {
        const { sql, parameters } = watchedHeadsSql(reader, chunk)
        for (const row of await reader.rows(sql, parameters)) rows.push(row)
      }
      return headsIn(reader, this.policies, groups, rows, sightOf(rows).heads)
    })
  }

  /** Who is in the windows of the groups, in their order: up to 250 of them, all at one moment. */
  windows(groups: readonly string[]): Promise<WatchedWindow[]> {
    return this.session.read(async (reader) => {
      const { sql, parameters } = watchedWindowsSql(reader, groups)
      const rows = await reader.rows(sql, parameters)
      const { heads, items } = sightOf(rows)
      const watched = await headsIn(reader, this.policies, groups, rows, heads)
      return watched.map((head) => ({ ...head, places: placesIn(head, items.get(head.group) ?? []) }))
    })
  }

  /** The items that are in these slots now, in no order: who was there before may be gone. */
  items(slots: readonly { group: string; slot: number }[]): Promise<ItemRow[]> {
    return this.session.read(async (reader) => {
      const parameters = slots.flatMap(({ group, slot }) => [group, slot])
      const rows = await reader.rows(selectPlacedSql(reader, slots.length), parameters)
      return rows.map((row) => itemRowOf(row.group_key as string, row))
    })
  }
}

async function headsIn(
  reader: Reader,
  policies: PolicyCache,
  groups: readonly string[],
  rows: readonly Row[],
  heads: ReadonlyMap<string, HeadLine>,
): Promise<WatchedHead[]> {
  const epochs = [...heads.values()].map(({ policyEpoch }) => policyEpoch)
  const set = await policies.current(reader, epochs)
  const nowMs = Number(rows.find((row) => row.now_ms !== null)?.now_ms ?? 0)
  return groups.map((group) => {
    const head = heads.get(group)
    const settings = set.settingsOf(group, head?.own ?? {})
    if (!head) return { group, incarnation: '', version: '', lastId: -1n, settings, nowMs }
    const { incarnation, version, lastId } = head
    return { group, incarnation, version, lastId, settings, nowMs }
  })
}

function placesIn({ settings, lastId, nowMs }: WatchedHead, lines: readonly ItemLine[]): Place[] {
  const occupants = lines.map((line) => ({
    id: BigInt(line.id),
    slot: line.slot,
    createdAtMs: createdAtOf(line),
    member: memberOf(line),
    eventId: null,
  }))
  return visible(occupants, settings, lastId, nowMs).reverse()
}
