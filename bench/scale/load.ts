/**
 * Fills the tables with full groups, by INSERT … SELECT from MariaDB's sequence tables: ten million appends would take
 * the better part of an hour. One group is made through the store, and every other row is a copy of its rows with
 * another name and other numbers, so that nothing here knows what else a row consists of. Secondary indexes are
 * dropped and built again, which is how one would restore such a table.
 */
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import type { Store } from '../../src'

const TEMPLATE = 'article:template'
/** Rows of one statement, and of its transaction. */
const ROWS = 500_000

export interface Index {
  table: string
  name: string
  columns: string
}

/** Names of one length, so that the rows come in the order of the primary key. */
export function groupName(index: number): string {
  return `article:${String(index).padStart(8, '0')}`
}

/** Makes `groups` full groups; item i of group g was made of g · capacity + i, as items.ts says. */
export async function load(store: Store, url: string, groups: number, capacity: number): Promise<void> {
  await store.policies.put('article:', { capacity, mode: 'history' })
  await store.groups.append(TEMPLATE, { member: 'user-0', payload: {} })
  const connection = await createConnection(url)
  try {
    const indexes = await secondaryIndexes(connection)
    for (const { table, name } of indexes) await connection.query(`DROP INDEX ${name} ON ${table}`)
    await copyRows(connection, groups, capacity)
    for (const { table, name, columns } of indexes) {
      await connection.query(`CREATE INDEX ${name} ON ${table} (${columns})`)
    }
    await connection.query('ANALYZE TABLE recentn_groups, recentn_items')
  } finally {
    connection.destroy()
  }
  await store.groups.drop(TEMPLATE)
}

async function copyRows(connection: Connection, groups: number, capacity: number): Promise<void> {
  const name = "CONCAT('article:', LPAD(g.seq, 8, '0'))"
  const op = `(g.seq * ${capacity} + i.seq)`
  const step = Math.max(1, Math.floor(ROWS / capacity))
  for (let from = 0; from < groups; from += step) {
    const sequence = `seq_${from}_to_${Math.min(groups, from + step) - 1}`
    await copy(connection, 'recentn_groups', `JOIN ${sequence} g`, {
      group_key: name,
      incarnation: 't.incarnation + g.seq + 1',
      version: `t.version + ${capacity - 1}`,
      last_id: String(capacity - 1),
    })
    await copy(connection, 'recentn_items', `JOIN ${sequence} g JOIN seq_0_to_${capacity - 1} i`, {
      group_key: name,
      slot: 'i.seq',
      id: 'i.seq',
      member: `CONCAT('user-', ${op} MOD 10007)`,
      payload: `CONCAT('{"page":"/articles/', ${op}, '","ref":"home"}')`,
    })
  }
}

async function copy(connection: Connection, table: string, joins: string, changed: Record<string, string>) {
  const columns = (await columnsOf(connection, table)).map((column) => [column, changed[column] ?? `t.${column}`])
  const into = columns.map(([column]) => column).join(', ')
  const values = columns.map(([, value]) => value).join(', ')
  await connection.query(
    `INSERT INTO ${table} (${into}) SELECT STRAIGHT_JOIN ${values} FROM ${table} t ${joins} WHERE t.group_key = ?`,
    [TEMPLATE],
  )
}

async function columnsOf(connection: Connection, table: string): Promise<string[]> {
  const [rows] = await connection.query<RowDataPacket[]>(`SHOW COLUMNS FROM ${table}`)
  return rows.map((row) => String(row.Field))
}

/** All indexes of the two tables but the primary keys. */
export async function secondaryIndexes(connection: Connection): Promise<Index[]> {
  const [rows] = await connection.query<RowDataPacket[]>(
    `SELECT table_name AS \`table\`, index_name AS name, GROUP_CONCAT(column_name ORDER BY seq_in_index) AS columns
     FROM information_schema.statistics
     WHERE table_schema = DATABASE() AND table_name IN ('recentn_items', 'recentn_groups') AND index_name <> 'PRIMARY'
     GROUP BY table_name, index_name ORDER BY table_name DESC, index_name`,
  )
  return rows.map(({ table, name, columns }) => ({ table, name, columns }))
}

/** Megabytes of data and of secondary indexes. */
export async function megabytes(url: string): Promise<{ data: number; indexes: number }> {
  const connection = await createConnection(url)
  try {
    const [rows] = await connection.query<RowDataPacket[]>(
      `SELECT SUM(data_length) / 1048576 AS data, SUM(index_length) / 1048576 AS indexes
       FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN ('recentn_items', 'recentn_groups')`,
    )
    return { data: Math.round(Number(rows[0]?.data)), indexes: Math.round(Number(rows[0]?.indexes)) }
  } finally {
    connection.destroy()
  }
}
