/**
 * The tables of an old version, with many rows, are migrated while an admin, or a proxy such as Vitess, ends each connection whose
 * transaction or statement takes longer than 2 seconds. A migration that it ends continues where it was when a store is opened again.
 */

import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { DataSource } from 'typeorm'
import { SCHEMA_VERSION } from '../../migrations'
import { openStore, RecentnError, type Store } from '../../src/index'
import { migrations } from '../../src/typeorm'
import { userSource } from '../contract/context'
import { type Database, describeEngine, freshDatabase } from '../support/engines'
import { whereReadable } from '../support/sessions'
import { pause } from '../support/timing'

const ROWS = 200_000
const QUEUES = 20_000
const OLD_SECONDS = 2
/** How long a transaction that the admin spares keeps a table from being changed. */
const HELD_SECONDS = 5

const DIGITS = Array.from({ length: 10 }, (_, n) => `SELECT ${n} AS n`).join(' UNION ALL ')
const numbers = (most: number) =>
  `SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n + 100000 * f.n AS n ` +
  `FROM ${[...'abcdef'].map((name) => `(${DIGITS}) ${name}`).join(' CROSS JOIN ')} HAVING n < ${most}`

/** The tables of the first version, and what the first version may have written. */
async function fill(url: string): Promise<void> {
  const { options } = userSource(url)
  const first = migrations.slice(0, 1)
  const source = new DataSource({
    ...options,
    entities: [],
    migrations: first,
    migrationsTableName: 'recentn_migrations',
  })
  await source.initialize()
  try {
    await source.runMigrations({ transaction: 'none' })
    for (const sql of [
      `INSERT INTO recentn_queues (queue, version, visibility_timeout_seconds, max_receives, on_delete, paused, cycled, shortest_visibility_seconds, created_at_ms) SELECT CONCAT('q', n), 1, 30, 5, 'delete', 0, 0, 43200, 1 FROM (${numbers(QUEUES)}) numbers`,
      `INSERT INTO recentn_queue_flows (queue_id, urgency, message_group, next_start, virtual_time, top) SELECT id, 0, '', 0, 0, 0 FROM recentn_queues`,
      `INSERT INTO recentn_queue_messages (queue_id, state, sort_major, sort_minor, virtual_start, cycle_queue_id, visible_at_ms, sent_at_ms, priority, body) SELECT (SELECT id FROM recentn_queues WHERE queue = 'q0'), 0, 0, n, n, 0, 0, 1, 0, '{"n":1}' FROM (${numbers(ROWS)}) numbers`,
      `INSERT INTO recentn_groups (group_key, incarnation, version, last_id, capacity, mode, policy_epoch, created_at_ms) SELECT CONCAT('g', n), 1, 1, 0, 100, 'history', 1, 1 FROM (${numbers(ROWS)}) numbers`,
      `INSERT INTO recentn_items (group_key, slot, id, payload, created_at_ms) SELECT CONCAT('g', n), 0, 0, '1', 1 FROM (${numbers(ROWS)}) numbers`,
    ]) {
      await source.query(sql)
    }
  } finally {
    await source.destroy()
  }
}

const OLD = `
  SELECT p.ID AS id FROM information_schema.PROCESSLIST p LEFT JOIN information_schema.innodb_trx t ON t.trx_mysql_thread_id = p.ID
  WHERE p.DB = DATABASE() AND (TIMESTAMPDIFF(SECOND, t.trx_started, SYSDATE()) >= ${OLD_SECONDS} OR (p.COMMAND = 'Query' AND p.TIME >= ${OLD_SECONDS}))`

describe.each(['mariadb', 'mysql'] as const)('migrations', (engine) => {
  describeEngine(engine, 'whose connections are killed', () => {
    const undo: (() => Promise<unknown>)[] = []
    let database: Database
    const connection = async (): Promise<Connection> => {
      const one = await createConnection(database.url.replace(/^mariadb:/, 'mysql:'))
      undo.push(async () => one.destroy())
      return one
    }

    beforeAll(async () => {
      database = await freshDatabase(engine)
      undo.push(() => database.drop())
    })
    afterAll(async () => {
      for (const step of undo.reverse()) await step()
    })

    it(`of tables with ${ROWS} rows continue where they were`, async () => {
      await fill(database.url)
      const [admin, holder] = [await connection(), await connection()]
      // As a backup, which the admin spares: no column can be added before its end.
      await holder.beginTransaction()
      await holder.query('SELECT id FROM recentn_queue_messages LIMIT 1')
      const [[{ id: spared }]] = (await holder.query('SELECT CONNECTION_ID() AS id')) as unknown as [[{ id: number }]]
      let isOn = true
      let kills = 0
      const killer = (async () => {
        while (isOn) {
          const rows = await whereReadable(admin.query<RowDataPacket[]>(OLD).then(([all]) => all))
          for (const { id } of rows.filter((row) => row.id !== spared)) {
            kills++
            await admin.query(`KILL ${id}`).catch(() => {})
          }
          await pause(150)
        }
      })()
      const held = pause(HELD_SECONDS * 1000).then(() => holder.rollback())
      const refused: unknown[] = []
      let store: Store | null = null
      try {
        while (store === null && refused.length < 20) {
          store = await openStore({ url: database.url, sweep: false, publish: false }).catch((error: unknown) => {
            refused.push(error instanceof RecentnError ? error.code : error)
            return null
          })
        }
      } finally {
        isOn = false
        await killer
        await held
      }
      if (store !== null) undo.push(() => (store as Store).close())
      expect([...new Set(refused)]).toEqual(['database_unavailable'])
      expect(kills).toBeGreaterThan(0)
      const counted = async (table: string) => {
        const [rows] = await holder.query<RowDataPacket[]>(`SELECT COUNT(*) AS count FROM recentn_${table}`)
        return rows[0]?.count
      }
      expect(await Promise.all(['queue_messages', 'groups', 'items', 'queues', 'migrations'].map(counted))).toEqual([
        ...[ROWS, ROWS, ROWS, QUEUES, SCHEMA_VERSION],
      ])
      expect((await store?.queues.receive('q0', { limit: 2 }))?.map(({ body }) => body)).toEqual([{ n: 1 }, { n: 1 }])
      expect((await store?.groups.append(`g${ROWS - 1}`, { payload: 2 }))?.id).toBe(1n)
    }, 240_000)
  })
})
