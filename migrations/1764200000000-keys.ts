import type { MigrationInterface, QueryRunner } from 'typeorm'

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

/** Names are compared by their bytes and never padded, as in the tables of the recent items. */
async function dialect(runner: QueryRunner) {
  if (runner.connection.options.type === 'better-sqlite3') {
    return { name: 'varchar(191)', bytes: (length: number) => `varchar(${length})`, table: '' }
  }
  const [{ version }] = await runner.query('SELECT VERSION() AS version')
  const collation = /mariadb/i.test(version) ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin'
  return {
    name: `varchar(191) CHARACTER SET utf8mb4 COLLATE ${collation}`,
    bytes: (length: number) => `varchar(${length}) CHARACTER SET ascii COLLATE ascii_bin`,
    table: ` ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE ${collation}`,
  }
}
