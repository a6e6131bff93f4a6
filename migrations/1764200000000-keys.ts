import type { MigrationInterface, QueryRunner } from 'typeorm'
import { dialect } from './dialect'

/** API keys. Each statement can be run again, as in all migrations. */
export class Keys1764200000000 implements MigrationInterface {
  readonly name = 'Keys1764200000000'

  async up(runner: QueryRunner): Promise<void> {
    const { name, bytes, table } = await dialect(runner)
    await runner.query(`CREATE TABLE IF NOT EXISTS recentn_keys (
      id ${bytes(16)} NOT NULL PRIMARY KEY,
      secret_hash ${bytes(64)} NOT NULL,
      label ${name} NOT NULL,
      scopes ${bytes(64)} NOT NULL,
      name_prefix ${name} NULL,
      created_at_ms bigint NOT NULL,
      last_used_at_ms bigint NULL,
      revoked_at_ms bigint NULL)${table}`)
    await runner.query('UPDATE recentn_schema SET version = 6')
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE IF EXISTS recentn_keys')
    await runner.query('UPDATE recentn_schema SET version = 5')
  }
}
