/**
 * The usual SQL: INSERT, then DELETE what is beyond the last 10 of the group, on the same server as recentn. Two
 * autocommitted statements at READ COMMITTED; a deadlock is tried again.
 */
import mysql, { type Pool, type ResultSetHeader, type RowDataPacket } from 'mysql2/promise'
import { WINDOW } from '../items'
import type { Contender, NewItem, OpenRing, Ring, StoredItem } from '../types'
import { databaseUrl, freshDatabase } from './recentn'

export const CONNECTIONS = 20

const CREATE = `CREATE TABLE IF NOT EXISTS activity (
  id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  group_key VARCHAR(191) CHARACTER SET ascii NOT NULL,
  member VARCHAR(191) CHARACTER SET ascii NOT NULL,
  payload TEXT CHARACTER SET utf8mb4 NULL,
  created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  KEY activity_group (group_key, id)
) ENGINE=InnoDB`
const MEMBER_INDEX = 'CREATE INDEX activity_member ON activity (member)'

const INSERT = 'INSERT INTO activity (group_key, member, payload) VALUES (?, ?, ?)'
const INSERT_MANY = 'INSERT INTO activity (group_key, member, payload) VALUES ?'
const TRIM = `DELETE FROM activity WHERE group_key = ? AND id <= (
  SELECT id FROM (SELECT id FROM activity WHERE group_key = ? ORDER BY id DESC LIMIT 1 OFFSET ${WINDOW}) AS beyond)`
const TRIM_MANY = `DELETE activity FROM activity JOIN (
  SELECT id, ROW_NUMBER() OVER (PARTITION BY group_key ORDER BY id DESC) AS place FROM activity WHERE group_key IN (?)
) AS ranked USING (id) WHERE place > ${WINDOW}`
const RECENT = `SELECT member, payload, created_at FROM activity WHERE group_key = ? ORDER BY id DESC LIMIT ${WINDOW}`
const RECENT_MANY =
  'SELECT group_key, member, payload, created_at FROM activity WHERE group_key IN (?) ORDER BY group_key, id DESC'

export async function openPool(urls: OpenRing['urls'], fresh: boolean, create: string[]): Promise<Pool> {
  if (fresh) await freshDatabase(urls.engine)
  const pool = mysql.createPool({ uri: databaseUrl(urls.engine), connectionLimit: CONNECTIONS })
  pool.pool.on('connection', (connection) => {
    connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
  })
  if (fresh) for (const statement of create) await pool.query(statement)
  return pool
}

export function textOf(item: NewItem): string | null {
  return item.payload === undefined ? null : JSON.stringify(item.payload)
}

export function storedOf(row: { member: string; payload: string | null }): StoredItem {
  return { member: row.member, payload: row.payload === null ? null : JSON.parse(row.payload) }
}

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const { errno } = error as { errno?: number }
      if (tries === 20 || (errno !== 1213 && errno !== 1205)) throw error
    }
  }
}

async function open({ urls, purpose, fresh }: OpenRing): Promise<Ring> {
  const pool = await openPool(urls, fresh, purpose === 'erase' ? [CREATE, MEMBER_INDEX] : [CREATE])
  return {
    append: async (group, item) => {
      const [result] = await retried(() => pool.execute<ResultSetHeader>(INSERT, [group, item.member, textOf(item)]))
      await retried(() => pool.execute(TRIM, [group, group]))
      return result.insertId
    },
    appendMany: async (items) => {
      const rows = items.map((item) => [item.group, item.member, textOf(item)])
      await retried(() => pool.query(INSERT_MANY, [rows]))
      await retried(() => pool.query(TRIM_MANY, [[...new Set(items.map((item) => item.group))]]))
    },
    recent: async (group) => {
      const [rows] = await pool.execute<RowDataPacket[]>(RECENT, [group])
      return rows.map((row) => storedOf(row as never))
    },
    recentMany: (groups) => recentMany(pool, groups),
    erase: async (member) => {
      const [result] = await pool.execute<ResultSetHeader>('DELETE FROM activity WHERE member = ?', [member])
      return result.affectedRows
    },
    close: () => pool.end(),
  }
}

async function recentMany(pool: Pool, groups: readonly string[]): Promise<StoredItem[][]> {
  const found = new Map(groups.map((group) => [group, [] as StoredItem[]]))
  const [rows] = await pool.query<RowDataPacket[]>(RECENT_MANY, [groups])
  for (const row of rows) found.get(String(row.group_key))?.push(storedOf(row as never))
  return groups.map((group) => found.get(group) ?? [])
}

export const insertAndTrim: Contender = {
  name: 'insert-and-trim',
  title: 'insert, then trim',
  server: 'engine',
  how: `INSERT, then DELETE beyond ${WINDOW}; mysql2 pool of ${CONNECTIONS}, READ COMMITTED, prepared`,
  gapless: false,
  unsound: false,
  open,
}
