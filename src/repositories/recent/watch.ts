/**
 * The reads of a stream of a group's changes: heads, to see that something changed; the items of the windows, without
 * payloads; and the items in given slots.
 *
 * Invariant: what one call returns is what one statement showed. Takes no lock.
 */
import type { Reader, Session, Statement } from '../../database/engine'
import type { Settings } from '../../shared/group-types'
import { chunksOf, MAX_KEYS } from '../chunks'
import { decoded, type ItemLine, PLACE_LINE, type Snapshot, snapshotOf } from './lines'
import type { PolicyCache } from './policies'
import { headText, type ItemRow, itemsAt, type ReadFacts } from './rows'
import { visible } from './window'

/** The part of a head that shows whether the group's window may have changed. */
export interface WatchedHead {
  group: string
  /** Decimal digits; empty for a group that does not exist. */
  incarnation: string
  version: string
  lastId: bigint
  settings: Settings
  /** The database's time. */
  nowMs: number
}

export interface ItemPlace {
  id: bigint
  slot: number
  createdAtMs: number
}

export interface WatchedWindow extends WatchedHead {
  /** The items that readers see, oldest first. */
  places: ItemPlace[]
}

export function watchedHeadsSql({ engine, tables, now }: ReadFacts, groups: readonly string[]): Statement {
  const { sql, parameters } = engine.values([groups])
  const heads = `SELECT ${headText('g.', now)} AS line FROM ${tables.groups} g${engine.useIndex('PRIMARY')} `
  return { sql: `${heads}WHERE g.group_key IN ${sql}`, parameters }
}

export function watchedWindowsSql(reader: ReadFacts, groups: readonly string[]): Statement {
  const { engine, tables } = reader
  const heads = watchedHeadsSql(reader, groups)
  const { sql, parameters } = engine.values([groups])
  const items = `SELECT ${PLACE_LINE} FROM ${tables.items} i${engine.useIndex('PRIMARY')} WHERE i.group_key IN ${sql}`
  return { sql: `${heads.sql}\nUNION ALL\n${items}`, parameters: [...heads.parameters, ...parameters] }
}

export class WatchReads {
  constructor(
    readonly session: Session,
    readonly policies: PolicyCache,
  ) {}

  heads(groups: readonly string[]): Promise<WatchedHead[]> {
    return this.session.read(async (reader) => {
      const rows = []
      for (const chunk of chunksOf(groups, MAX_KEYS)) {
        const { sql, parameters } = watchedHeadsSql(reader, chunk)
        for (const row of await reader.rows(sql, parameters)) rows.push(row)
      }
      return watchedHeads(reader, this.policies, groups, snapshotOf(rows))
    })
  }

  /** The windows of up to 250 groups, in their order, all at one moment. */
  windows(groups: readonly string[]): Promise<WatchedWindow[]> {
    return this.session.read(async (reader) => {
      const { sql, parameters } = watchedWindowsSql(reader, groups)
      const snapshot = snapshotOf(await reader.rows(sql, parameters))
      const heads = await watchedHeads(reader, this.policies, groups, snapshot)
      return heads.map((head) => ({ ...head, places: placesIn(head, snapshot.items.get(head.group) ?? []) }))
    })
  }

  /** The items that are in these slots now, in no order: those that were there before may be gone. */
  items(slots: readonly { group: string; slot: number }[]): Promise<ItemRow[]> {
    return this.session.read((reader) => itemsAt(reader, slots))
  }
}

async function watchedHeads(
  reader: Reader,
  policies: PolicyCache,
  groups: readonly string[],
  snapshot: Snapshot,
): Promise<WatchedHead[]> {
  const set = await policies.current(reader, snapshot.heads.values())
  const nowMs = snapshot.heads.values().next().value?.nowMs ?? 0
  return groups.map((group) => {
    const head = snapshot.heads.get(group)
    const settings = set.settingsOf(group, head?.own ?? {})
    if (!head) return { group, incarnation: '', version: '', lastId: -1n, settings, nowMs }
    const { incarnation, version, lastId } = head
    return { group, incarnation: String(incarnation), version: String(version), lastId, settings, nowMs }
  })
}

function placesIn({ settings, lastId, nowMs }: WatchedHead, lines: readonly ItemLine[]): ItemPlace[] {
  const shown = visible(lines.map(decoded), settings, lastId, nowMs)
  return settings.mode === 'top' ? shown.sort((a, b) => (a.id < b.id ? -1 : 1)) : shown.reverse()
}
