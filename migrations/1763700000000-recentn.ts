import type { MigrationInterface, QueryRunner } from 'typeorm'
import { type AddedColumns, addedColumns } from './added'
import { dialect } from './dialect'
import { firstTables } from './first'
import type { TableDefinition } from './first/table'
import { describe, isOurs, refuseNames, standing } from './standing'

/**
 * Every table of the first version, with names that begin with `prefix`. Each statement can be run again: DDL commits
 * implicitly on MySQL and MariaDB, and a migration that was cut off must be able to go on. The version is written last.
 */
export function recentn1763700000000(prefix: string, name: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = `${name}1763700000000`

    /** Throws `database_refused`, before anything is made, where a name is taken by a table of the user's. */
    async up(runner: QueryRunner): Promise<void> {
      const types = await dialect(runner)
      const tables = firstTables(types)
      refuseNames(await takenBy(runner, prefix, { tables, added: addedColumns(types) }))
      for (const table of tables) await createTable(runner, prefix, table)
      await insertOnce(runner, `${prefix}policy_epoch`, 'epoch')
      await insertOnce(runner, `${prefix}schema`, 'version')
    }

    /** Drops the tables that are recentn's. The version goes first: what is left then counts as half made. */
    async down(runner: QueryRunner): Promise<void> {
      const types = await dialect(runner)
      await dropTables(runner, prefix, firstTables(types), addedColumns(types))
    }
  }
}

function isSqlite(runner: QueryRunner): boolean {
  return runner.connection.options.type === 'better-sqlite3'
}

export function standingOf(runner: QueryRunner, prefix: string, tables: readonly TableDefinition[]) {
  const names = tables.flatMap(({ name, indexes = {} }) => [name, ...(isSqlite(runner) ? Object.keys(indexes) : [])])
  return standing(
    (sql) => runner.query(sql),
    isSqlite(runner),
    names.map((name) => prefix + name),
  )
}

/** What is in the way of these tables and their indexes, for people. */
export async function takenBy(
  runner: QueryRunner,
  prefix: string,
  { tables, added }: { tables: readonly TableDefinition[]; added: AddedColumns },
): Promise<string[]> {
  const found = await standingOf(runner, prefix, tables)
  const taken = tables.flatMap((table) => {
    const name = prefix + table.name
    const known = found.get(name)
    const indexes = Object.keys(table.indexes ?? {}).flatMap((index) => {
      const other = found.get(prefix + index)
      return other && !(other.kind === 'index' && other.owner === name) ? [describe(prefix + index, other)] : []
    })
    return known && !isOurs(known, table, added[table.name]) ? [describe(name, known), ...indexes] : indexes
  })
  const missing = tables.filter(({ name }) => !found.has(prefix + name))
  const schema = `${prefix}schema`
  // The version is written when all tables are there: a row without them is somebody else's, or the rest was dropped.
  if (taken.length === 0 && missing.length > 0 && found.has(schema)) {
    const rows: unknown[] = await runner.query(`SELECT id FROM ${schema}`)
    if (rows.length > 0) taken.push(`${schema} (a table with rows, while ${prefix}${missing[0]?.name} is not there)`)
  }
  return taken
}

export async function createTable(runner: QueryRunner, prefix: string, table: TableDefinition): Promise<void> {
  const lines = Object.entries(table.columns).map(([name, definition]) => `${quoted(runner, name)} ${definition}`)
  if (table.primaryKey) lines.push(`PRIMARY KEY (${table.primaryKey.join(', ')})`)
  await runner.query(`CREATE TABLE IF NOT EXISTS ${prefix}${table.name} (${lines.join(', ')})${table.suffix}`)
  for (const [name, { columns, isUnique }] of Object.entries(table.indexes ?? {})) {
    await createIndex(runner, prefix + table.name, prefix + name, columns, isUnique === true)
  }
}

/** Leaves alone what is not recentn's, and what is gone already. */
export async function dropTables(
  runner: QueryRunner,
  prefix: string,
  tables: readonly TableDefinition[],
  added: AddedColumns = {},
): Promise<void> {
  const found = await standingOf(runner, prefix, tables)
  for (const table of tables) {
    const known = found.get(prefix + table.name)
    if (known && isOurs(known, table, added[table.name]))
      await runner.query(`DROP TABLE IF EXISTS ${prefix}${table.name}`)
  }
}

/** On SQLite TypeORM recognizes a column that numbers its rows only by a quoted name. */
function quoted(runner: QueryRunner, name: string): string {
  return runner.connection.driver.escape(name)
}

async function createIndex(
  runner: QueryRunner,
  table: string,
  index: string,
  columns: readonly string[],
  isUnique: boolean,
): Promise<void> {
  const create = `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX`
  if (isSqlite(runner)) {
    await runner.query(`${create} IF NOT EXISTS ${index} ON ${table} (${columns.join(', ')})`)
    return
  }
  const [{ present }] = await runner.query(
    'SELECT COUNT(*) AS present FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ?',
    [table, index],
  )
  if (Number(present) === 0) await runner.query(`${create} ${index} ON ${table} (${columns.join(', ')})`)
}

/** The one row of a table with one row: its number begins at 1. */
async function insertOnce(runner: QueryRunner, table: string, column: string): Promise<void> {
  if ((await runner.query(`SELECT id FROM ${table}`)).length > 0) return
  await runner.query(`INSERT INTO ${table} (id, ${column}) VALUES (1, 1)`)
}
