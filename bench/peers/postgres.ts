/** The usual SQL on PostgreSQL: INSERT, then DELETE what is beyond the last 10 of the group. */
import pg from 'pg'
import { WINDOW } from '../items'
import type { Contender, OpenRing, Ring, StoredItem } from '../types'

const CONNECTIONS = 20

const CREATE = `CREATE TABLE IF NOT EXISTS activity (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  group_key VARCHAR(191) COLLATE "C" NOT NULL,
  member VARCHAR(191) COLLATE "C" NOT NULL,
  payload JSONB NULL,
  created_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp())`
const INDEX = 'CREATE INDEX IF NOT EXISTS activity_group ON activity (group_key, id)'
const MEMBER_INDEX = 'CREATE INDEX IF NOT EXISTS activity_member ON activity (member)'

const INSERT = 'INSERT INTO activity (group_key, member, payload) VALUES ($1, $2, $3) RETURNING id'
const INSERT_MANY = `INSERT INTO activity (group_key, member, payload)
  SELECT * FROM unnest($1::varchar[], $2::varchar[], $3::jsonb[])`
const TRIM = `DELETE FROM activity WHERE group_key = $1 AND id <= (
  SELECT id FROM activity WHERE group_key = $1 ORDER BY id DESC LIMIT 1 OFFSET ${WINDOW})`
const TRIM_MANY = `DELETE FROM activity WHERE id IN (SELECT id FROM (
  SELECT id, row_number() OVER (PARTITION BY group_key ORDER BY id DESC) AS place
  FROM activity WHERE group_key = ANY($1)) AS ranked WHERE place > ${WINDOW})`
const RECENT = `SELECT member, payload, created_at FROM activity WHERE group_key = $1 ORDER BY id DESC LIMIT ${WINDOW}`
const RECENT_MANY = `SELECT group_key, member, payload, created_at FROM activity WHERE group_key = ANY($1)
  ORDER BY group_key, id DESC`

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries === 20 || (error as { code?: string }).code !== '40P01') throw error
    }
  }
}

async function open({ urls, purpose, fresh }: OpenRing): Promise<Ring> {
  const pool = new pg.Pool({ connectionString: urls.postgres as string, max: CONNECTIONS })
  if (fresh) await pool.query('DROP TABLE IF EXISTS activity')
  await pool.query(CREATE)
  await pool.query(INDEX)
  if (purpose === 'erase') await pool.query(MEMBER_INDEX)
  // A name makes it a prepared statement.
  const query = (name: string, text: string, values: unknown[]) => retried(() => pool.query({ name, text, values }))
  return {
    append: async (group, item) => {
      const { rows } = await query('insert', INSERT, [group, item.member, jsonOf(item.payload)])
      await query('trim', TRIM, [group])
      return Number(rows[0]?.id)
    },
    appendMany: async (items) => {
      const groups = items.map((item) => item.group)
      const values = [groups, items.map((item) => item.member), items.map((item) => jsonOf(item.payload))]
      await query('insert-many', INSERT_MANY, values)
      await query('trim-many', TRIM_MANY, [[...new Set(groups)]])
    },
    recent: async (group) => (await query('recent', RECENT, [group])).rows as StoredItem[],
    recentMany: async (groups) => {
      const found = new Map(groups.map((group) => [group, [] as StoredItem[]]))
      const { rows } = await query('recent-many', RECENT_MANY, [groups])
      for (const row of rows) found.get(row.group_key)?.push(row)
      return groups.map((group) => found.get(group) ?? [])
    },
    erase: async (member) => (await query('erase', 'DELETE FROM activity WHERE member = $1', [member])).rowCount ?? 0,
    close: () => pool.end(),
  }
}

function jsonOf(payload: unknown): string | null {
  return payload === undefined ? null : JSON.stringify(payload)
}

export const postgres: Contender = {
  name: 'postgres',
  title: 'PostgreSQL, insert, then trim',
  server: 'postgres',
  how: `INSERT, then DELETE beyond ${WINDOW}; pg pool of ${CONNECTIONS}, READ COMMITTED, prepared`,
  gapless: false,
  unsound: false,
  open,
}
