/** One consumer that reads a feed of many changes, page after page, values parsed, again from the start at its end. */
import { performance } from 'node:perf_hooks'
import { createPool, type RowDataPacket } from 'mysql2/promise'
import type { Store } from '../../src'
import { FEED, PAGE } from '../feed-load/entries'
import { Numbering } from '../feed-load/numbering'
import { openFeedStore, publishedFeed } from '../peers/feeds/recentn'
import { databaseUrl } from '../peers/recentn'
import type { Job, Outcome, Participant } from '../types'
import { type FeedWorkload, outcome } from './workload'

const CHANGES = 200_000
const CONSUMER = 'mirror'
const SELECT = `SELECT sync_id, entry_key, version, deleted, value FROM recentn_feed_entries
  WHERE feed_id = ? AND sync_id > ? ORDER BY sync_id LIMIT ${PAGE}`

interface Page {
  changes: { syncId: bigint; key: string; value: unknown }[]
  cursor: bigint
}
/** The page after a cursor. */
type Read = (after: bigint) => Promise<Page>
interface Reader {
  read: Read
  close(): Promise<void>
}

function readerOf(name: string, store: Store, job: Job): Promise<Reader> | Reader {
  if (name === 'select') return selecting(job)
  if (name === 'recentn') {
    return { read: (after) => store.feeds.changes(FEED, { after, limit: PAGE }), close: async () => {} }
  }
  const read = async (after: bigint) => {
    // From the start again: backwards it goes only by force.
    if (after === 0n) await store.feeds.moveCursor(FEED, CONSUMER, 0n, { force: true })
    const page = await store.feeds.changes(FEED, { consumer: CONSUMER, limit: PAGE })
    await store.feeds.moveCursor(FEED, CONSUMER, page.cursor)
    return page
  }
  return { read, close: async () => {} }
}

/** As one writes it by hand: the same rows, with their numbers as bigints. */
async function selecting(job: Job): Promise<Reader> {
  const pool = createPool(databaseUrl(job.urls.engine))
  const [[feed]] = await pool.query<RowDataPacket[]>('SELECT id FROM recentn_feeds WHERE feed = ?', [FEED])
  const read = async (after: bigint) => {
    const [rows] = await pool.query<RowDataPacket[]>(SELECT, [feed?.id, after])
    const changes = rows.map(({ sync_id, entry_key, version, deleted, value }) => ({
      syncId: BigInt(sync_id),
      key: entry_key as string,
      value: deleted === 1 ? null : (JSON.parse(value) as unknown),
      version: version as number,
      deleted: deleted === 1,
    }))
    return { changes, cursor: changes.at(-1)?.syncId ?? after }
  }
  return { read, close: () => pool.end() }
}

async function run(job: Job, { name }: Participant): Promise<Outcome> {
  const count = job.quick ? 3000 : CHANGES
  const store = await openFeedStore(job.urls)
  try {
    await publishedFeed(store, count)
    const { read, close } = await readerOf(name, store, job)
    const numbering = new Numbering(count)
    for (let after = 0n; after < BigInt(count); ) {
      const page = await read(after)
      if (page.cursor === after) break
      numbering.add(page.changes)
      after = page.cursor
    }
    const faults = numbering.faults(count)
    const { rate, changes, wrong } = await readOn(read, count, job)
    if (wrong > 0) faults.push(`${wrong} pages were not the ${PAGE} changes after their cursor`)
    await close()
    return outcome(
      rate,
      faults,
      `${changes} changes in pages of ${PAGE}; all ${count} compared before, their ids after`,
    )
  } finally {
    await store.close()
  }
}

/** What is compared before is not compared again, so that the consumer does nothing but read; each page's ends are. */
async function readOn(read: Read, count: number, { warmUpMs, ms }: Job) {
  let changes = 0
  let wrong = 0
  let after = 0n
  let start = performance.now()
  let isWarm = false
  for (;;) {
    const page = await read(after)
    const due = Math.min(PAGE, count - Number(after))
    const ends = [page.changes[0]?.syncId, page.changes.at(-1)?.syncId]
    const right = page.changes.length === due && ends[0] === after + 1n && ends[1] === after + BigInt(due)
    if (!right) wrong++
    changes += page.changes.length
    after = right && page.cursor < BigInt(count) ? page.cursor : 0n
    const now = performance.now()
    if (!isWarm && now >= start + warmUpMs) {
      isWarm = true
      changes = 0
      start = now
    } else if (isWarm && now >= start + ms) return { rate: (changes * 1000) / (now - start), changes, wrong }
  }
}

export const feedRead: FeedWorkload = {
  of: 'feeds',
  name: 'feed-read',
  title: `one consumer reads 200,000 changes in pages of ${PAGE}, values parsed`,
  unit: 'changes/s',
  contenders: ['recentn', 'stored', 'select'],
  quick: ['recentn', 'stored', 'select'],
  run,
}
