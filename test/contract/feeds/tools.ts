/** Shared by the suites of feeds: a feed for each test, reading one to its end, and the facts in its changes. */
import { openStore, type Store, type Transaction } from '../../../src/index'
import type { Change, Changes } from '../../../src/shared/feed-types'
import { sweepFeeds } from '../../support/opened'
import { moment } from '../../support/timing'
import type { Context } from '../context'

export interface FeedTools {
  /** Moves the database's time. */
  pass(seconds: number): void
  /** The name of a new feed. */
  named(): string
  /** A new feed with a value for each key, published. */
  filled(keys: readonly string[], value?: unknown): Promise<string>
  /** Publishes one feed, and answers how many entries that were. */
  published(feed: string): Promise<number>
  /** All changes after a cursor, page by page. */
  readOn(feed: string, after?: bigint, limit?: number, store?: Store): Promise<Changes>
  /** The knowledge of a consumer that read everything: the last value of each key that is not deleted. */
  known(feed: string): Promise<Record<string, unknown>>
  /** The last sync id that a reader of everything sees. */
  lastOf(feed: string): Promise<bigint>
}

export function feedTools(context: Context): FeedTools {
  const feeds = () => context.store.feeds
  const tools: FeedTools = {
    pass: (seconds) => {
      context.clock.offsetMs += seconds * 1000
    },
    named: () => context.unique('f'),
    async filled(keys, value = 1) {
      const feed = tools.named()
      for (let from = 0; from < keys.length; from += 1000) {
        await feeds().putMany(
          feed,
          keys.slice(from, from + 1000).map((key) => ({ key, value })),
        )
      }
      await tools.published(feed)
      return feed
    },
    published: async (feed) => (await feeds().publish(feed)).published,
    async readOn(feed, after = 0n, limit = 1000, store = context.store) {
      const changes: Change[] = []
      for (let cursor = after; ; ) {
        const page = await store.feeds.changes(feed, { after: cursor, limit })
        changes.push(...page.changes)
        if (page.changes.length > limit) throw new Error(`${page.changes.length} changes in a page of ${limit}`)
        if (!page.hasMore) return { changes, cursor: page.cursor, hasMore: false }
        if (page.cursor === cursor) throw new Error(`the cursor stays at ${cursor}, and there is more`)
        cursor = page.cursor
      }
    },
    async known(feed) {
      return knowledgeOf((await tools.readOn(feed)).changes)
    },
    async lastOf(feed) {
      return (await tools.readOn(feed)).changes.at(-1)?.syncId ?? 0n
    },
  }
  return tools
}

export const keysOf = (changes: readonly { key: string }[]): string[] => changes.map(({ key }) => key)

export const valuesOf = (changes: readonly { value: unknown }[]): unknown[] => changes.map(({ value }) => value)

export const syncIdsOf = (changes: readonly Change[]): bigint[] => changes.map(({ syncId }) => syncId)

export function knowledgeOf(changes: readonly Change[]): Record<string, unknown> {
  const known = new Map<string, unknown>()
  for (const { key, value, deleted } of changes) {
    if (deleted) known.delete(key)
    else known.set(key, value)
  }
  return Object.fromEntries(known)
}

/** Each number is greater than the one before it, and than `after`. */
export function expectGrowing(ids: readonly bigint[], after = 0n): void {
  let last = after
  const wrong = ids.filter((id) => {
    const isGreater = id > last
    last = id
    return !isGreater
  })
  expect(wrong).toEqual([])
}

/** One round after the other, until nothing is left to remove. */
export async function sweptFeeds(store: Store): Promise<void> {
  while ((await sweepFeeds(store)).more);
}

/** Gives the tests of a `describe` a store that keeps tombstones for that time. */
export function useForgetting(context: Context, tombstoneSeconds: number, give: (store: Store) => void): void {
  let store: Store
  beforeAll(async () => {
    const clockOffsetMs = () => context.clock.offsetMs
    store = await openStore({
      url: context.url,
      sweep: false,
      publish: false,
      clockOffsetMs,
      feeds: { tombstoneSeconds },
    })
    give(store)
  })
  afterAll(() => store.close())
}

/** Runs `work` while a transaction is open that has done `before`. */
export async function whileOpen(
  context: Context,
  before: (tx: Transaction) => Promise<unknown>,
  work: () => Promise<unknown>,
): Promise<void> {
  const [begin, end] = [moment(), moment()]
  const open = context.store.transaction(async (tx) => {
    await before(tx)
    begin.come()
    await end.reached
  })
  // Where it fails before that, it has its error to tell.
  await Promise.race([begin.reached, open])
  try {
    await work()
  } finally {
    end.come()
    await open
  }
}
