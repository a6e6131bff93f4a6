/**
 * Publishing in the model. Which numbers entries get is for the publisher to say. The oracle knows which are to be
 * numbered, and that each number is new and greater than all that were there before; then it learns them.
 */
import type { Store } from '../../../src/index'
import type { FeedName } from './operations'
import type { Feed, World } from './oracle'
import type { Names } from './perform'

const WHOLE = 1000

interface Publishing {
  store: Store
  names: Names
  world: World
  /** Whether an open transaction has written it (a row's is `feed.row/key`): it is passed over. */
  isHeld(lock: string): boolean
}

type Numbered = { syncId: bigint | null }

export async function publish(
  { store, names, world, isHeld }: Publishing,
  feeds: readonly FeedName[],
  only: FeedName | null,
): Promise<void> {
  const due = feeds.map((feed) => {
    const due = <T extends Numbered>(of: string, map: Map<string, T>) =>
      [...map].filter(([key, { syncId }]) => syncId === null && !isHeld(`${of}/${key}`))
    const { entries, rows } = world.feeds[feed]
    return { feed, entries: due(feed, entries), rows: due(`${feed}.row`, rows ?? new Map()) }
  })
  const count = due.reduce((sum, { entries, rows }) => sum + entries.length + rows.length, 0)
  expect(await store.feeds.publish(only === null ? undefined : names.feed(only))).toEqual({ published: count })
  for (const { feed, entries, rows } of due) {
    if (entries.length + rows.length > 0) await learn({ store, names }, world.feeds[feed], feed, { entries, rows })
  }
}

async function learn(
  { store, names }: Pick<Publishing, 'store' | 'names'>,
  state: Feed,
  feed: FeedName,
  { entries, rows }: Record<'entries' | 'rows', [string, Numbered][]>,
): Promise<void> {
  const { changes } = await store.feeds.changes(names.feed(feed), { after: state.last, limit: WHOLE })
  const seen = new Map(changes.map(({ key, syncId }) => [key, syncId]))
  for (const [key, row] of rows) row.syncId = seen.get(key) ?? 0n
  for (const [key, entry] of entries) {
    entry.syncId = (state.rows?.has(key) ? await hiddenNumber(store, names.feed(feed), key) : seen.get(key)) ?? 0n
  }
  const numbers = [...entries, ...rows].map(([, { syncId }]) => syncId as bigint)
  expect(new Set(numbers).size).toBe(numbers.length)
  for (const number of numbers) expect(number).toBeGreaterThan(state.last)
  for (const number of numbers) if (number > state.last) state.last = number
}

/** That of a tombstone whose key has a row, which no reader sees. */
async function hiddenNumber(store: Store, feed: string, key: string): Promise<bigint> {
  const [row] = await store.dataSource.query(
    'SELECT sync_id FROM recentn_feed_entries WHERE entry_key = ? AND feed_id = (SELECT id FROM recentn_feeds WHERE feed = ?)',
    [key, feed],
  )
  return BigInt(row.sync_id)
}
