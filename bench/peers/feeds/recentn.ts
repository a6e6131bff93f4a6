/** recentn's own feeds: `store.feeds`, with a publisher that runs when it is told to. */
import { openStore, type Store, type StoreOptions } from '../../../src'
import { type Entry, FEED, PAGE, pages, WRITERS } from '../../feed-load/entries'
import { Numbering } from '../../feed-load/numbering'
import { inParallel } from '../../load/callers'
import type { Urls } from '../../types'
import { databaseUrl, freshDatabase } from '../recentn'

/** Entries that wait for a publisher, as a contender keeps them. */
export interface Backlog {
  write(pages: readonly Entry[][]): Promise<void>
  /** Publishes so many at most; how many those were. */
  publish(most: number): Promise<number>
  /** Everything that is published, in the order of the numbers. */
  check(numbering: Numbering): Promise<void>
  close(): Promise<void>
}

export async function openFeedStore(urls: Urls, options: StoreOptions = { publish: false }): Promise<Store> {
  await freshDatabase(urls.engine)
  return openStore({ ...options, url: databaseUrl(urls.engine) })
}

export async function writeEntries({ feeds }: Store, entries: readonly Entry[][]): Promise<void> {
  await inParallel(WRITERS, entries, async (page) => {
    await feeds.putMany(FEED, page)
  })
}

/** Everything there is to read after a cursor. */
export async function addChanges({ feeds }: Store, numbering: Numbering, after = 0n): Promise<void> {
  for (let cursor = after; ; ) {
    const page = await feeds.changes(FEED, { after: cursor, limit: PAGE })
    numbering.add(page.changes)
    cursor = page.cursor
    if (!page.hasMore) return
  }
}

/** A feed of so many published entries, checked. */
export async function publishedFeed(store: Store, count: number): Promise<void> {
  await writeEntries(store, pages(0, count))
  await store.feeds.publish(FEED)
  const numbering = new Numbering(count)
  await addChanges(store, numbering)
  const [fault] = numbering.faults(count)
  if (fault !== undefined) throw new Error(fault)
}

export async function openBacklog(urls: Urls): Promise<Backlog> {
  const store = await openFeedStore(urls)
  return {
    write: (entries) => writeEntries(store, entries),
    publish: async () => (await store.feeds.publish(FEED)).published,
    check: (numbering) => addChanges(store, numbering),
    close: () => store.close(),
  }
}
