/**
 * The leanest statements that number recentn's own entries: the sequence is locked, a batch is numbered along the index,
 * the sequence is set, and that is committed, all in one round trip. There is no look at what else there is to publish.
 */
import Database from 'better-sqlite3'
import type { Connection, ResultSetHeader } from 'mysql2/promise'
import { openStore } from '../../../src'
import { FEED, PAGE } from '../../feed-load/entries'
import type { Urls } from '../../types'
import { addChanges, type Backlog, openFeedStore, writeEntries } from '../feeds/recentn'
import { databaseUrl } from '../recentn'
import { openConnection } from './connection'

/** Numbers the next entries, at most a page; how many those were. */
interface Publisher {
  publish(): Promise<number>
  close(): unknown
}

export async function openLimit(urls: Urls): Promise<Backlog> {
  let publisher: Publisher | null = null
  return {
    write: async (entries) => {
      const store = await openFeedStore(urls)
      await writeEntries(store, entries)
      // While publishing is measured no store is open.
      await store.close()
      publisher = urls.engine.startsWith('sqlite:') ? sqlitePublisher(urls.engine) : await serverPublisher(urls.engine)
    },
    publish: async (most) => {
      let published = 0
      while (published < most) {
        const count = (await publisher?.publish()) ?? 0
        if (count === 0) break
        published += count
      }
      return published
    },
    check: async (numbering) => {
      const store = await openStore({ url: databaseUrl(urls.engine), publish: false })
      await addChanges(store, numbering)
      await store.close()
    },
    close: async () => void (await publisher?.close()),
  }
}

const SEQUENCE = `kind = 'feed' AND sequence_name = '${FEED}'`

async function serverPublisher(engine: string): Promise<Publisher> {
  const connection = await openConnection(engine)
  await connection.query(`SELECT id INTO @feed FROM recentn_feeds WHERE feed = '${FEED}'`)
  // What is numbered stays in the index until it is purged: each batch begins where the last one ended.
  await connection.query('SET @place = 0')
  const batch =
    `BEGIN; SELECT LAST_INSERT_ID(value) INTO @n FROM recentn_sequences WHERE ${SEQUENCE} FOR UPDATE; ` +
    'UPDATE recentn_feed_entries FORCE INDEX (recentn_feed_entries_sync) SET sync_id = LAST_INSERT_ID(LAST_INSERT_ID() + 1) ' +
    'WHERE feed_id = @feed AND sync_id = 0 AND unpublished_since_ms >= @place ' +
    `ORDER BY unpublished_since_ms, deleted, entry_key LIMIT ${PAGE}; SET @n = LAST_INSERT_ID(); ` +
    `UPDATE recentn_sequences SET value = @n WHERE ${SEQUENCE}; ` +
    'SELECT unpublished_since_ms INTO @place FROM recentn_feed_entries WHERE feed_id = @feed AND sync_id = @n; COMMIT'
  return { publish: () => numbered(connection, batch), close: () => connection.destroy() }
}

async function numbered(connection: Connection, batch: string): Promise<number> {
  const [answers] = await connection.query<ResultSetHeader[]>(batch)
  return answers[2]?.affectedRows ?? 0
}

/** Prepared statements, as each row is one call in the process. */
function sqlitePublisher(engine: string): Publisher {
  const database = new Database(engine.slice('sqlite:'.length))
  database.pragma('synchronous = FULL')
  const feed = database.prepare('SELECT id FROM recentn_feeds WHERE feed = ?').pluck().get(FEED)
  const last = database.prepare(`SELECT value FROM recentn_sequences WHERE ${SEQUENCE}`).pluck()
  const next = database
    .prepare(
      'SELECT entry_key FROM recentn_feed_entries INDEXED BY recentn_feed_entries_sync WHERE feed_id = ? AND sync_id = 0 ' +
        `ORDER BY unpublished_since_ms, deleted, entry_key LIMIT ${PAGE}`,
    )
    .pluck()
  const set = database.prepare('UPDATE recentn_feed_entries SET sync_id = ? WHERE feed_id = ? AND entry_key = ?')
  const save = database.prepare(`UPDATE recentn_sequences SET value = ? WHERE ${SEQUENCE}`)
  const publish = database.transaction((): number => {
    const keys = next.all(feed)
    let value = last.get() as number
    for (const key of keys) set.run(++value, feed, key)
    save.run(value)
    return keys.length
  })
  return { publish: async () => publish.immediate(), close: () => database.close() }
}
