import type { MigrationInterface, QueryRunner } from 'typeorm'
import { dialect } from './dialect'
import { firstTables } from './first'
import type { TableDefinition } from './first/table'

const PREFIX = 'recentn_'

/**
 * Every table of the first version. Each statement can be run again: DDL commits implicitly on MySQL and MariaDB, and a
 * migration that was cut off must be able to go on. The version is written last.
 */
export class Recentn1763700000000 implements MigrationInterface {
  readonly name = 'Recentn1763700000000'

  async up(runner: QueryRunner): Promise<void> {
    for (const table of firstTables(await dialect(runner))) await createTable(runner, table)
    await insertOnce(runner, `${PREFIX}policy_epoch`, 'epoch')
    await insertOnce(runner, `${PREFIX}schema`, 'version')
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of [...firstTables(await dialect(runner))].reverse()) {
      await runner.query(`DROP TABLE IF EXISTS ${PREFIX}${name}`)
    }
  }
}

async function createTable(runner: QueryRunner, table: TableDefinition): Promise<void> {
  const lines = Object.entries(table.columns).map(([name, definition]) => `${quoted(runner, name)} ${definition}`)
  if (table.primaryKey) lines.push(`PRIMARY KEY (${table.primaryKey.join(', ')})`)
  await runner.query(`CREATE TABLE IF NOT EXISTS ${PREFIX}${table.name} (${lines.join(', ')})${table.suffix}`)
  for (const [name, { columns, isUnique }] of Object.entries(table.indexes ?? {})) {
    await createIndex(runner, `${PREFIX}${table.name}`, `${PREFIX}${name}`, columns, isUnique === true)
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
  if (runner.connection.options.type === 'better-sqlite3') {
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
