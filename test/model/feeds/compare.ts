/** The visible state of feeds, against the oracle. */
import { FEEDS, type FeedName, KEYS } from './operations'
import { changesAfter, type Feed, liveIn, type World, waitingIn } from './oracle'
import type { Names, Target } from './perform'
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

/** These feeds, as a whole. All of it is one expectation, since each takes longer than a statement. */
export async function compare(view: View, feeds: Iterable<FeedName>): Promise<void> {
  const { target, names, world } = view
  const seen: unknown[] = []
  const expected: unknown[] = []
  for (const feed of feeds) {
    seen.push(await seenOf(view, feed))
    expected.push(expectedOf(view, feed))
  }
  seen.push((await target.feeds.list({ prefix: names.own('') })).feeds.map(({ feed }) => feed))
  const begun = FEEDS.filter((feed) => world.feeds[feed].hasBegun)
  expected.push(begun.map((feed) => names.feed(feed)))
  expect(seen).toEqual(expected)
}

async function seenOf({ target, names, world, isInside }: View, feed: FeedName) {
  const name = names.feed(feed)
  const { changes, hasMore } = await target.feeds.changes(name, { limit: WHOLE })
  const entries: unknown[] = []
  for (const key of KEYS) {
    const entry = await target.feeds.get(name, key)
    entries.push(entry && { ...entry, updatedAt: entry.updatedAt !== null })
  }
  const status = await target.feeds.status(name)
  if (status === null) return { feed, changes, hasMore, entries, status }
  const { entries: count, unpublished, oldestUnpublishedSeconds: oldest, ...rest } = status
  if (!isInside) return { feed, changes, hasMore, entries, status: rest }
  // Rows do not say since when they wait.
  const waits = world.feeds[feed].rows ? null : waitsAbout(world, feed, oldest)
  return { feed, changes, hasMore, entries, status: { ...rest, count, unpublished, waits } }
}

function expectedOf({ names, world, isInside }: View, feed: FeedName) {
  const state = world.feeds[feed]
  const { hasBegun } = state
  const name = names.feed(feed)
  const changes = hasBegun ? changesAfter(state, 0n) : []
  const entries = KEYS.map((key) => (hasBegun ? entryOf(state, key) : null))
  if (!hasBegun) return { feed, changes, hasMore: false, entries, status: null }
  const consumers = [...state.consumers].sort().map(([who, position]) => consumerOf(state, who, position))
  const status = { feed: name, lastSyncId: state.last, consumers }
  if (!isInside) return { feed, changes, hasMore: false, entries, status }
  const waiting = waitingIn(state)
  const waits = state.rows ? null : waiting.length > 0
  const counts = { count: liveIn(state).size, unpublished: waiting.length, waits }
  return { feed, changes, hasMore: false, entries, status: { ...status, ...counts } }
}

/** True where it has waited as long as the oldest; false for none that waits. */
function waitsAbout({ feeds, now }: World, feed: FeedName, seconds: number | null): boolean | number {
  if (seconds === null) return false
  const waiting = [...feeds[feed].entries.values()].filter(({ syncId }) => syncId === null)
  const oldest = Math.max(...waiting.map(({ since }) => now - since))
  return (seconds >= oldest && seconds < oldest + SLACK_SECONDS) || seconds
}

function entryOf({ entries, rows }: Feed, key: string) {
  const [own, row] = [entries.get(key), rows?.get(key)]
  const rest = { key, deleted: false }
  if (rows) return row ? { ...rest, ...row, version: null, updatedAt: false } : null
  if (!own || own.isDeleted) return null
  return { ...rest, value: own.value, syncId: own.syncId, version: own.version, updatedAt: true }
}
