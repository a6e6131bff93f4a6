/** Whether publishing gets slower with the number of entries that are published already. */
import { performance } from 'node:perf_hooks'
import type { Store } from '../../src'
import { type Entry, entryOf, FEED, keyOf, PAGE } from '../feed-load/entries'
import { Numbering } from '../feed-load/numbering'
import { addChanges, openFeedStore, publishedFeed, writeEntries } from '../peers/feeds/recentn'
import { median } from '../run'
import type { Job, Outcome, Participant } from '../types'
import { type FeedWorkload, outcome } from './workload'

const FEW = 10_000
const MANY = 5_000_000
/** Entries of one publish run. */
const RUN = 10_000
const RUNS = 9
/** The first of which nobody counts. */
const WARM_UPS = 2

async function run(job: Job, { name }: Participant): Promise<Outcome> {
  const each = job.quick ? 1000 : RUN
  const few = job.quick ? 1000 : FEW
  const before = name === 'few' ? few : job.quick ? 10_000 : MANY
  const store = await openFeedStore(job.urls)
  try {
    await publishedFeed(store, few)
    await multiply(store, few, before)
    const marks = marksOf(name, each, before)
    const faults: string[] = []
    const seconds: number[] = []
    for (let round = 0; round < RUNS; round++) {
      await writeEntries(store, inPages(marks))
      const start = performance.now()
      const { published } = await store.feeds.publish(FEED)
      if (round >= WARM_UPS) seconds.push((performance.now() - start) / 1000)
      const after = BigInt(before + round * each)
      const numbering = new Numbering(before + each, after)
      await addChanges(store, numbering, after)
      faults.push(...numbering.faults(each))
      if (published !== each) faults.push(`${published} entries are said to be published, ${each} were`)
    }
    const ms = (median(seconds) * 1000).toFixed(0)
    const note = `${before} published before; ${seconds.length} runs of ${each} in ${ms} ms each; numbered without gap`
    return outcome(each / median(seconds), faults, note)
  } finally {
    await store.close()
  }
}

/** Beside each other and behind the others, or one here and one there among them. */
function marksOf(name: string, count: number, before: number): number[] {
  const step = Math.floor(before / count)
  return Array.from({ length: count }, (_, at) => (name === 'scattered' ? at * step : before + at))
}

function inPages(marks: readonly number[]): Entry[][] {
  const all = Array.from({ length: Math.ceil(marks.length / PAGE) }, (_, page) => page * PAGE)
  return all.map((start) => marks.slice(start, start + PAGE).map(entryOf))
}

/**
 * Copies the published entries until there are `count`, each copy with the keys and the sync ids that follow: to write and
 * publish five million would take minutes. Key and text of the n-th are made of n, as entries.ts and letters.ts say.
 */
async function multiply({ dataSource }: Store, few: number, count: number): Promise<void> {
  const isSqlite = dataSource.options.type === 'better-sqlite3'
  const [{ id }] = await dataSource.query('SELECT id FROM recentn_feeds')
  const zero = Number(keyOf(0).slice('user-'.length))
  const mark = `(CAST(SUBSTR(entry_key, 6) AS ${isSqlite ? 'INTEGER' : 'SIGNED'}) - ${zero} + ?)`
  const letter = `CONCAT('{"to":"user-', ${mark} % 10007, '@example.org","subject":"Your order is on its way","text":"It left today as parcel ', ${mark}, '","mark":', ${mark}, '}')`
  const index = isSqlite ? null : await indexOf(dataSource)
  if (index) await dataSource.query('DROP INDEX recentn_feed_entries_sync ON recentn_feed_entries')
  for (let offset = few; offset < count; offset += few) {
    await dataSource.query(
      `INSERT INTO recentn_feed_entries (feed_id, entry_key, sync_id, version, deleted, updated_at_ms, unpublished_since_ms, value)
       SELECT feed_id, CONCAT('user-', ${mark} + ${zero}), sync_id + ?, version, deleted, updated_at_ms, unpublished_since_ms, ${letter}
       FROM recentn_feed_entries WHERE feed_id = ${id} AND entry_key < ? ORDER BY entry_key`,
      [...Array(5).fill(offset), keyOf(few)],
    )
  }
  if (index) await dataSource.query(`CREATE INDEX recentn_feed_entries_sync ON recentn_feed_entries (${index})`)
  await dataSource.query('UPDATE recentn_sequences SET value = ? WHERE sequence_name = ?', [count, FEED])
  if (!isSqlite) await dataSource.query('ANALYZE TABLE recentn_feed_entries')
}

/** Its columns: dropped and built again it is as good, in a fraction of the time. */
async function indexOf(dataSource: Store['dataSource']): Promise<string> {
  const [{ columns }] = await dataSource.query(
    `SELECT GROUP_CONCAT(column_name ORDER BY seq_in_index) AS columns FROM information_schema.statistics
     WHERE table_schema = DATABASE() AND table_name = 'recentn_feed_entries' AND index_name = 'recentn_feed_entries_sync'`,
  )
  return columns
}

export const feedGrowth: FeedWorkload = {
  of: 'feeds',
  name: 'feed-growth',
  title: 'publish 10,000 entries with 5 million published before, against 10,000',
  unit: 'entries/s',
  fixed: true,
  contenders: ['recentn', 'scattered', 'few'],
  quick: ['recentn', 'scattered', 'few'],
  run,
}
