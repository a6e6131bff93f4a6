import type { MigrationInterface, QueryRunner } from 'typeorm'
import { dialect } from './dialect'

/** What a poll is for, so that two that differ do not share their claims and cursors by having one name. */
export class PollPurposes1764300000000 implements MigrationInterface {
  readonly name = 'PollPurposes1764300000000'

  async up(runner: QueryRunner): Promise<void> {
    const { text, bytes } = await dialect(runner)
    const types = { purpose: text, where_digest: bytes(64) }
    for (const [column, type] of Object.entries(types)) {
      if (!(await hasColumn(runner, column))) await runner.query(`ALTER TABLE polls ADD COLUMN ${column} ${type} NULL`)
    }
    await runner.query('UPDATE recentn_schema SET version = 7')
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const column of ['where_digest', 'purpose']) {
      if (await hasColumn(runner, column)) await runner.query(`ALTER TABLE polls DROP COLUMN ${column}`)
    }
    await runner.query('UPDATE recentn_schema SET version = 6')
  }
}

async function hasColumn(runner: QueryRunner, column: string): Promise<boolean> {
  if (runner.connection.options.type === 'better-sqlite3') {
    const columns = await runner.query(`SELECT name FROM pragma_table_info('polls') WHERE name = '${column}'`)
    return columns.length > 0
  }
  const [{ present }] = await runner.query(
    "SELECT COUNT(*) AS present FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'polls' AND column_name = ?",
    [column],
  )
  return Number(present) > 0
}
