/** What can be seen of feeds, against the oracle. */
import type { Change } from '../../../src/repositories/feeds/types'
import { type FeedName, KEYS } from './operations'
import { changesAfter, type Feed, liveIn, type World, waitingIn } from './oracle'
import { keyIn, type Names, type Target } from './perform'
import { consumerOf } from './reader'

const WHOLE = 1000
/** A run takes no longer than this in real time. */
const SLACK_SECONDS = 90

/** `isInside`: inside a transaction, where counts are exact. */
export interface View {
  target: Target
  names: Names
  world: World
  isInside: boolean
}

/** Of these feeds, as far as something may have changed. */
export async function compare(view: View, feeds: Iterable<FeedName>): Promise<void> {
  for (const feed of feeds) await compareFeed(view, feed)
  const { target, names, world } = view
  const listed = (await target.feeds.list({ prefix: names.own('') })).feeds.map(({ feed }) => feed)
  const begun = (['a', 'b', 'kv'] as const).filter((feed) => world.feeds[feed].hasBegun)
  expect(listed).toEqual(begun.map((feed) => names.feed(feed)))
}

export function keyed<T extends { key: string }>(names: Names, feed: FeedName, changes: readonly T[]): T[] {
  return changes.map((change) => ({ ...change, key: keyIn(names, feed, change.key) }))
}

async function compareFeed({ target, names, world, isInside }: View, feed: FeedName): Promise<void> {
  const name = names.feed(feed)
  const state = world.feeds[feed]
  const page = await target.feeds.changes(name, { limit: WHOLE })
  const expected = keyed<Change>(names, feed, state.hasBegun ? changesAfter(state, 0n) : [])
  expect({ feed, ...page }).toEqual({ feed, changes: expected, hasMore: false, cursor: page.cursor })
  for (const key of KEYS) await compareEntry({ target, names }, state, feed, key)
  const status = await target.feeds.getFeed(name)
  if (!state.hasBegun) return expect(status).toBeNull()
  const consumers = [...state.consumers].sort().map(([who, position]) => consumerOf(state, who, position))
  expect(status).toMatchObject({ feed: name, lastSyncId: state.last, consumers })
  if (!isInside) return
  const waiting = waitingIn(state)
  expect(status).toMatchObject({ entries: liveIn(state).size, unpublished: waiting.length })
  if (state.rows) return
  const oldest = Math.max(...waiting.map((entry) => world.now - ('since' in entry ? entry.since : 0)))
  if (waiting.length === 0) return expect(status?.oldestUnpublishedSeconds).toBeNull()
  expect(status?.oldestUnpublishedSeconds).toBeGreaterThanOrEqual(oldest)
  expect(status?.oldestUnpublishedSeconds).toBeLessThan(oldest + SLACK_SECONDS)
}

async function compareEntry(
  { target, names }: Pick<View, 'target' | 'names'>,
  { hasBegun, entries, rows }: Feed,
  feed: FeedName,
  key: string,
): Promise<void> {
  const name = keyIn(names, feed, key)
  const entry = await target.feeds.get(names.feed(feed), name)
  const [own, row] = [entries.get(key), rows?.get(key)]
  if (!hasBegun || (rows ? !row : !own || own.isDeleted)) return expect({ key, entry }).toEqual({ key, entry: null })
  const { value, syncId } = row ?? (own as NonNullable<typeof own>)
  const version = rows ? null : own?.version
  expect(entry).toMatchObject({ key: name, value, version, syncId, deleted: false })
}
