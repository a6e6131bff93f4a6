/** The usual SQL on SQLite: INSERT, then DELETE what is beyond the last 10, in one durable transaction. */
import Database from 'better-sqlite3'
import { WINDOW } from '../items'
import type { Contender, NewItem, OpenRing, Ring } from '../types'
import { storedOf, textOf } from './insert-and-trim'
import { freshDatabase } from './recentn'

const CREATE = `CREATE TABLE IF NOT EXISTS activity (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_key TEXT NOT NULL,
  member TEXT NOT NULL,
  payload TEXT NULL,
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE INDEX IF NOT EXISTS activity_group ON activity (group_key, id);`
const MEMBER_INDEX = 'CREATE INDEX IF NOT EXISTS activity_member ON activity (member)'

async function open({ urls, purpose, fresh }: OpenRing): Promise<Ring> {
  if (fresh) await freshDatabase(urls.engine)
  const database = new Database(urls.engine.slice('sqlite:'.length))
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  database.exec(CREATE)
  if (purpose === 'erase') database.exec(MEMBER_INDEX)
  const insert = database.prepare('INSERT INTO activity (group_key, member, payload) VALUES (?, ?, ?)')
  const trim = database.prepare(`DELETE FROM activity WHERE group_key = ? AND id <= (
    SELECT id FROM activity WHERE group_key = ? ORDER BY id DESC LIMIT 1 OFFSET ${WINDOW})`)
  const select = database.prepare<[string], { member: string; payload: string | null }>(
    `SELECT member, payload, created_at FROM activity WHERE group_key = ? ORDER BY id DESC LIMIT ${WINDOW}`,
  )
  const appendOne = (group: string, item: NewItem): number => {
    const { lastInsertRowid } = insert.run(group, item.member, textOf(item))
    trim.run(group, group)
    return Number(lastInsertRowid)
  }
  const appendInOne = database.transaction(appendOne)
  const appendAll = database.transaction((items: readonly (NewItem & { group: string })[]) => {
    for (const item of items) appendOne(item.group, item)
  })
  const recent = (group: string) => select.all(group).map(storedOf)
  return {
    append: async (group, item) => {
      const id = appendInOne(group, item)
      await turn()
      return id
    },
    appendMany: async (items) => appendAll(items),
    recent: async (group) => {
      await turn()
      return recent(group)
    },
    recentMany: async (groups) => {
      await turn()
      return groups.map(recent)
    },
    erase: async (member) => database.prepare('DELETE FROM activity WHERE member = ?').run(member).changes,
    close: async () => void database.close(),
  }
}

/** The driver is synchronous: without this, timers and sockets would never get a turn. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export const insertAndTrimSqlite: Contender = {
  name: 'insert-and-trim',
  title: 'insert, then trim',
  server: 'engine',
  how: `INSERT, then DELETE beyond ${WINDOW}, one transaction; better-sqlite3, prepared`,
  gapless: false,
  unsound: false,
  open,
}
