/**
 * The right answers of feeds, computed with plain maps from the words of the documentation alone. Each key has its latest
 * value and the number that it was published with, or none while it waits; where a reader stands is the last number it
 * has read and the step in which it began at 0. Slow and obvious on purpose.
 */
import type { Change } from '../../../src/shared/feed-types'
import type { FeedName, Write } from './operations'

export const KEPT_SECONDS = 1000

/** An entry, or a tombstone. */
export interface Entry {
  value: unknown
  version: number
  isDeleted: boolean
  /** Null while it waits to be published. */
  syncId: bigint | null
  /** Since when it waits. */
  since: number
  /** When it was deleted, or republished after that; it had to be published first. */
  buriedAt: number
}

/** A row of a followed table. */
export interface Row {
  value: unknown
  syncId: bigint | null
}

/** Where a reader stands. */
export interface Position {
  at: bigint
  /** The step in which it began at 0; removals before that are nothing it would miss. -1: unknown. */
  since: number
  /** The cursor that it was given. */
  cursor: bigint
}

export const START: Position = { at: 0n, since: -1, cursor: 0n }

export interface Feed {
  hasBegun: boolean
  wasDeleted: boolean
  last: bigint
  /** Its entries; in the feed of a table its tombstones, which count as long as there is no row with the key. */
  entries: Map<string, Entry>
  rows: Map<string, Row> | null
  /** Tombstones that are gone. */
  removed: { syncId: bigint; step: number }[]
  consumers: Map<string, Position>
}

export interface World {
  now: number
  step: number
  feeds: Record<FeedName, Feed>
  sequences: Map<string, bigint>
}

const feedOf = (rows: Map<string, Row> | null): Feed => ({
  hasBegun: rows !== null,
  wasDeleted: false,
  last: 0n,
  entries: new Map(),
  rows,
  removed: [],
  consumers: new Map(),
})

export function newWorld(): World {
  const feeds = { a: feedOf(null), b: feedOf(null), kv: feedOf(new Map()) }
  return { now: 0, step: 0, feeds, sequences: new Map() }
}

/** The entries published after a number, in the order of the numbers. */
export function changesAfter({ entries, rows }: Feed, at: bigint): Change[] {
  const changes: Change[] = []
  for (const [key, { value, version, isDeleted: deleted, syncId }] of entries) {
    if (syncId !== null && syncId > at && !rows?.has(key))
      changes.push({ syncId, key, value, version, deleted } as Change)
  }
  for (const [key, { value, syncId }] of rows ?? []) {
    if (syncId !== null && syncId > at) changes.push({ syncId, key, value, version: null, deleted: false })
  }
  return changes.sort((a, b) => (a.syncId < b.syncId ? -1 : 1))
}

/** The values there are, published or not. */
export function liveIn({ entries, rows }: Feed): Map<string, unknown> {
  if (rows) return new Map([...rows].map(([key, { value }]) => [key, value]))
  return new Map([...entries].flatMap(([key, { value, isDeleted }]) => (isDeleted ? [] : [[key, value]])))
}

/** A deletion that the reader may not know is lost. */
export function isExpired({ removed }: Feed, { at, since }: Position): boolean {
  return at > 0n && removed.some(({ syncId, step }) => syncId > at && step > since)
}

/** Everything that waits to be published: the entries, and the rows, by key. */
export function waitingIn({ entries, rows }: Feed): (Entry | Row)[] {
  return [...entries.values(), ...(rows?.values() ?? [])].filter(({ syncId }) => syncId === null)
}

/** The position after it, or null where it is refused. */
export function moveCursor(feed: Feed, name: string, asked: Position, isForced: boolean): Position | null {
  if (asked.at > feed.last) return null
  feed.hasBegun = true
  const before = feed.consumers.get(name) ?? START
  // "A stored cursor that is expired gives way to such a one", of a consumer that has started over.
  const givesWay = asked.at > 0n && isExpired(feed, before) && !isExpired(feed, asked)
  const position = isForced || asked.at > before.at || givesWay ? asked : before
  feed.consumers.set(name, position)
  return position
}

/** Removes the tombstones whose time has passed, except those that a transaction holds. */
export function sweep(world: World, isHeld: (feed: FeedName, key: string) => boolean): void {
  for (const [name, { entries, removed }] of Object.entries(world.feeds) as [FeedName, Feed][]) {
    for (const [key, { isDeleted, syncId, buriedAt }] of [...entries]) {
      if (!isDeleted || syncId === null || buriedAt + KEPT_SECONDS > world.now || isHeld(name, key)) continue
      entries.delete(key)
      removed.push({ syncId, step: world.step })
    }
  }
}

/** A write, and what it answers: versions, counts, numbers; or the code of the error. */
export function apply(world: World, write: Write, value: unknown): unknown {
  const { feeds, now, sequences } = world
  switch (write.kind) {
    case 'put':
      return putAll(world, feeds[write.feed], [write.key], () => value)[0]
    case 'putMany':
      return putAll(world, feeds[write.feed], write.keys, (nth) => `${value}.${nth}`)
    case 'delete':
      return bury(feeds[write.feed], write.key, now)
    case 'republish':
      return republish(feeds[write.feed], now, (key) => write.keys.includes(key))
    case 'republishPrefix':
      return republish(feeds[write.feed], now, (key) => key.startsWith(write.prefix))
    case 'row':
      feeds.kv.rows?.set(write.key, { value, syncId: null })
      return null
    case 'removeRow':
      feeds.kv.rows?.delete(write.key)
      return bury(feeds.kv, write.key, now)
    case 'next': {
      const last = sequences.get(write.name) ?? 0n
      sequences.set(write.name, last + BigInt(write.count))
      return last + 1n
    }
    case 'drop':
      return dropFeed(feeds[write.feed], world.step)
    case 'refused':
      return 'invalid_input'
  }
}

/** When an entry that is written waits for the publisher: one that waits already continues to wait. */
const waitsSince = (before: Entry | undefined, now: number) => (before && before.syncId === null ? before.since : now)

function putAll({ now }: World, feed: Feed, keys: readonly string[], made: (nth: number) => unknown): number[] {
  feed.hasBegun = true
  const versions = new Map<string, number>()
  for (const [nth, key] of keys.entries()) {
    const before = feed.entries.get(key)
    // If a key is given twice, the last value stays, as one put.
    const version = versions.get(key) ?? (before?.version ?? 0) + 1
    versions.set(key, version)
    const since = waitsSince(before, now)
    feed.entries.set(key, { value: made(nth), version, isDeleted: false, syncId: null, since, buriedAt: 0 })
  }
  return keys.map((key) => versions.get(key) as number)
}

/** The version of the tombstone; null where there is no entry. */
function bury({ entries, rows }: Feed, key: string, now: number): number | null {
  const before = entries.get(key)
  if (rows === null && (before === undefined || before.isDeleted)) return null
  const version = (before?.version ?? 0) + 1
  const since = waitsSince(before, now)
  entries.set(key, { value: null, version, isDeleted: true, syncId: null, since, buriedAt: now })
  return version
}

function republish({ hasBegun, entries, rows }: Feed, now: number, isWanted: (key: string) => boolean): unknown {
  if (!hasBegun) return 'feed_not_found'
  const keys = [...new Set([...entries.keys(), ...(rows?.keys() ?? [])])].filter(isWanted)
  for (const key of keys) {
    const [entry, row] = [entries.get(key), rows?.get(key)]
    const buriedAt = entry?.syncId === null ? entry.buriedAt : now
    if (entry) entries.set(key, { ...entry, syncId: null, since: waitsSince(entry, now), buriedAt })
    if (row) row.syncId = null
  }
  return keys.length
}

function dropFeed(feed: Feed, step: number): boolean {
  if (!feed.hasBegun) return false
  feed.hasBegun = false
  feed.wasDeleted = true
  feed.entries.clear()
  feed.consumers.clear()
  // All cursors are expired, also the one at the last number: so one is left out.
  if (feed.last > 0n) feed.removed.push({ syncId: ++feed.last, step })
  return true
}
