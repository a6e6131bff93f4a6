/**
 * Publishers as people write them by hand, on the same server: a `kv` table with a nullable sync column under a unique
 * index, and a `sequences` row. One takes an entry in each transaction, as it was published; the other five hundred,
 * still with one UPDATE of the sequence and one of the row for each. mysql2, prepared statements, READ COMMITTED. Both
 * lock the sequence row first, without which two of them give one number twice.
 */
import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { FEED, PAGE } from '../../feed-load/entries'
import type { Numbering } from '../../feed-load/numbering'
import type { Urls } from '../../types'
import { databaseUrl, freshDatabase } from '../recentn'
import type { Backlog } from './recentn'

const CREATE = [
  `CREATE TABLE kv (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    k VARCHAR(191) CHARACTER SET ascii NOT NULL,
    v MEDIUMTEXT CHARACTER SET utf8mb4 NOT NULL,
    feed_sync_id BIGINT NULL,
    version BIGINT NOT NULL,
    UNIQUE KEY kv_key (k),
    UNIQUE KEY kv_feed_sync_id (feed_sync_id)
  ) ENGINE=InnoDB`,
  `CREATE TABLE hand_sequences (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name VARCHAR(191) CHARACTER SET ascii NOT NULL,
    value BIGINT NOT NULL,
    UNIQUE KEY hand_sequences_name (name)
  ) ENGINE=InnoDB`,
]
const NEXT = 'SELECT value FROM hand_sequences WHERE name = ? FOR UPDATE'
const ADVANCE = 'UPDATE hand_sequences SET value = ? WHERE name = ?'
const NUMBER = 'UPDATE kv SET feed_sync_id = ?, version = version + 1 WHERE id = ?'
const INSERT = 'INSERT INTO kv (k, v, feed_sync_id, version) VALUES ?'
const AFTER = `SELECT k, v, feed_sync_id FROM kv WHERE feed_sync_id > ? ORDER BY feed_sync_id LIMIT ${PAGE}`

/** One transaction of up to `size` entries; how many it published. */
async function publishOnce(connection: Connection, size: number): Promise<number> {
  await connection.beginTransaction()
  const [[sequence]] = await connection.execute<RowDataPacket[]>(NEXT, [FEED])
  const unpublished = `SELECT id FROM kv WHERE feed_sync_id IS NULL LIMIT ${size}`
  const [rows] = await connection.execute<RowDataPacket[]>(unpublished)
  let value = Number(sequence?.value)
  for (const { id } of rows) {
    value++
    await connection.execute(ADVANCE, [value, FEED])
    await connection.execute(NUMBER, [value, id])
  }
  await connection.commit()
  return rows.length
}

export async function openByHand(urls: Urls, size: number): Promise<Backlog> {
  await freshDatabase(urls.engine)
  const connection = await mysql.createConnection(databaseUrl(urls.engine))
  await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
  for (const statement of CREATE) await connection.query(statement)
  await connection.query('INSERT INTO hand_sequences (name, value) VALUES (?, 0)', [FEED])
  return {
    write: async (pages) => {
      for (const page of pages) {
        await connection.query(INSERT, [page.map(({ key, value }) => [key, JSON.stringify(value), null, 1])])
      }
    },
    publish: async (most) => {
      let published = 0
      while (published < most) published += await publishOnce(connection, size)
      return published
    },
    check: (numbering) => check(connection, numbering),
    close: async () => connection.destroy(),
  }
}

async function check(connection: Connection, numbering: Numbering): Promise<void> {
  for (let after = 0; ; ) {
    const [rows] = await connection.query<RowDataPacket[]>(AFTER, [after])
    if (rows.length === 0) return
    numbering.add(rows.map((row) => ({ key: row.k, value: JSON.parse(row.v), syncId: BigInt(row.feed_sync_id) })))
    after = rows.at(-1)?.feed_sync_id
  }
}
