import type { MigrationInterface, QueryRunner } from 'typeorm'

/** What tells a process whether a batch arrived whose commit was cut off. Can be run again, as all of them. */
export class Writers1763800000000 implements MigrationInterface {
  readonly name = 'Writers1763800000000'

  async up(runner: QueryRunner): Promise<void> {
    const table =
      runner.connection.options.type === 'better-sqlite3' ? '' : ' ENGINE=InnoDB DEFAULT CHARACTER SET ascii'
    await runner.query(`CREATE TABLE IF NOT EXISTS recentn_writers (
      writer varchar(64) NOT NULL PRIMARY KEY, batch bigint NOT NULL, seen_at_ms bigint NOT NULL)${table}`)
    await runner.query('UPDATE recentn_schema SET version = 2')
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE IF EXISTS recentn_writers')
    await runner.query('UPDATE recentn_schema SET version = 1')
  }
}
