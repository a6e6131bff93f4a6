import type { MigrationInterface, QueryRunner } from 'typeorm'
import { addedColumns } from './added'
import { dialect } from './dialect'
import { standing } from './standing'

/**
 * The attributes of messages: a column that is null for a message without any, so that its row stays as it is. Each
 * statement can be run again, as in the first migration. The version is written last, and by an undo first;
 * a process that is late does not lower what a faster one has written.
 */
export function recentn1763800000000(prefix: string, name: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = `${name}1763800000000`

    async up(runner: QueryRunner): Promise<void> {
      for (const { table, column, definition, isThere } of await columnsOf(runner, prefix)) {
        if (!isThere) await runner.query(`ALTER TABLE ${table} ADD COLUMN ${column} ${definition}`)
      }
      await runner.query(`UPDATE ${prefix}schema SET version = 2 WHERE id = 1 AND version < 2`)
    }

    /** Leaves alone what is not recentn's, and what is gone already. */
    async down(runner: QueryRunner): Promise<void> {
      const schema = await found(runner, [`${prefix}schema`])
      if (schema.size > 0) await runner.query(`UPDATE ${prefix}schema SET version = 1 WHERE id = 1`)
      for (const { table, column, isThere } of await columnsOf(runner, prefix)) {
        if (isThere) await runner.query(`ALTER TABLE ${table} DROP COLUMN ${column}`)
      }
    }
  }
}

function found(runner: QueryRunner, names: readonly string[]) {
  const isSqlite = runner.connection.options.type === 'better-sqlite3'
  return standing((sql) => runner.query(sql), isSqlite, names)
}

async function columnsOf(runner: QueryRunner, prefix: string) {
  const added = Object.entries(addedColumns(await dialect(runner)))
  const tables = await found(
    runner,
    added.map(([table]) => prefix + table),
  )
  return added.flatMap(([plain, columns]) => {
    const table = prefix + plain
    return Object.entries(columns).map(([column, definition]) => {
      return { table, column, definition, isThere: tables.get(table)?.columns.has(column) === true }
    })
  })
}
