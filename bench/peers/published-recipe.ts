/**
 * The recipe that recentn comes from, as it was published: the next id is read and written in one REPLACE. Under
 * concurrency it loses appends, or deadlocks: both are counted, neither is tried again.
 *
 * Source: Sheeri K. Cabral, "MySQL Queues, part II — groups of queues" (2007), after Baron Schwartz, "How to implement
 * a queue in SQL" (2007).
 */
import type { RowDataPacket } from 'mysql2/promise'
import { WINDOW } from '../items'
import type { Contender, OpenRing, Ring } from '../types'
import { CONNECTIONS, openPool, storedOf, textOf } from './insert-and-trim'

const CREATE = `CREATE TABLE IF NOT EXISTS q (
  id BIGINT NOT NULL,
  modulo BIGINT NOT NULL,
  kind VARCHAR(191) CHARACTER SET ascii NOT NULL,
  member VARCHAR(191) CHARACTER SET ascii NOT NULL,
  payload TEXT CHARACTER SET utf8mb4 NULL,
  created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (id, kind),
  UNIQUE KEY (modulo, kind),
  KEY (kind, id)
) ENGINE=InnoDB`

const APPEND = `REPLACE INTO q (id, modulo, kind, member, payload)
  SELECT COALESCE(MAX(id), -1) + 1, (COALESCE(MAX(id), -1) + 1) MOD ${WINDOW}, ?, ?, ? FROM q WHERE kind = ?`
const RECENT = `SELECT member, payload FROM q WHERE kind = ? ORDER BY id DESC LIMIT ${WINDOW}`
const RECENT_MANY = 'SELECT kind, member, payload FROM q WHERE kind IN (?) ORDER BY kind, id DESC'
const TAKEN =
  'SELECT COALESCE(SUM(top + 1), 0) + 0e0 AS taken FROM (SELECT MAX(id) AS top FROM q GROUP BY kind) AS tops'

/** Deadlock, lock wait, duplicate key, record has changed: what the recipe is known for. */
const REFUSALS = new Set([1213, 1205, 1062, 1020])

async function open({ urls, fresh }: OpenRing): Promise<Ring> {
  const pool = await openPool(urls, fresh, [CREATE])
  return {
    append: async (group, item) => {
      try {
        await pool.execute(APPEND, [group, item.member, textOf(item), group])
        return 0
      } catch (error) {
        if (REFUSALS.has((error as { errno?: number }).errno ?? 0)) return -1
        throw error
      }
    },
    appendMany: null,
    recent: async (group) => {
      const [rows] = await pool.execute<RowDataPacket[]>(RECENT, [group])
      return rows.map((row) => storedOf(row as never))
    },
    recentMany: async (groups) => {
      const [rows] = await pool.query<RowDataPacket[]>(RECENT_MANY, [groups])
      return groups.map((group) => rows.filter((row) => row.kind === group).map((row) => storedOf(row as never)))
    },
    taken: async () => {
      const [rows] = await pool.query<RowDataPacket[]>(TAKEN)
      return Number(rows[0]?.taken)
    },
    close: () => pool.end(),
  }
}

export const publishedRecipe: Contender = {
  name: 'published-recipe',
  title: 'the published recipe',
  server: 'engine',
  how: `REPLACE … SELECT MAX(id) + 1; mysql2 pool of ${CONNECTIONS}, READ COMMITTED; refusals are not tried again`,
  gapless: false,
  unsound: true,
  open,
}
