import type { MigrationInterface, QueryRunner } from 'typeorm'

/**
 * Groups of recent items and their policies. Each statement can be run again, because DDL commits implicitly on
 * MySQL and a migration that was cut off must be able to go on.
 */
export class Recent1763700000000 implements MigrationInterface {
  readonly name = 'Recent1763700000000'

  async up(runner: QueryRunner): Promise<void> {
    const { name, longText, table, items } = await dialect(runner)
    await runner.query(`CREATE TABLE IF NOT EXISTS recentn_schema (
      id integer NOT NULL PRIMARY KEY, version integer NOT NULL)${table}`)
    await runner.query(`CREATE TABLE IF NOT EXISTS recent_policies (
      prefix ${name} NOT NULL PRIMARY KEY, capacity integer NOT NULL, mode varchar(8) NOT NULL, ttl_seconds bigint NULL)${table}`)
    await runner.query(`CREATE TABLE IF NOT EXISTS recent_policy_epoch (
      id integer NOT NULL PRIMARY KEY, epoch bigint NOT NULL)${table}`)
    await runner.query(`CREATE TABLE IF NOT EXISTS recent_policy_rollouts (
      prefix ${name} NOT NULL PRIMARY KEY, epoch bigint NOT NULL, after_key ${name} NOT NULL)${table}`)
    await runner.query(`CREATE TABLE IF NOT EXISTS recent_groups (
      group_key ${name} NOT NULL PRIMARY KEY,
      incarnation bigint NOT NULL,
      version bigint NOT NULL,
      last_id bigint NOT NULL,
      capacity integer NOT NULL,
      mode varchar(8) NOT NULL,
      ttl_seconds bigint NULL,
      own_capacity integer NULL,
      own_mode varchar(8) NULL,
      own_ttl_seconds bigint NULL,
      policy_epoch bigint NOT NULL,
      sweep_at_ms bigint NULL,
      created_at_ms bigint NOT NULL)${table}`)
    await runner.query(`CREATE TABLE IF NOT EXISTS recent_items (
      group_key ${name} NOT NULL,
      slot integer NOT NULL,
      id bigint NOT NULL,
      member ${name} NULL,
      payload ${longText} NULL,
      occurred_at_ms bigint NULL,
      event_id ${name} NULL,
      created_at_ms bigint NOT NULL,
      PRIMARY KEY (group_key, slot))${items}`)
    await createIndex(runner, 'recent_groups', 'recent_groups_sweep', 'sweep_at_ms')
    await createIndex(runner, 'recent_items', 'recent_items_member', 'member, created_at_ms, group_key, id')
    if (!(await runner.query('SELECT id FROM recent_policy_epoch')).length) {
      await runner.query('INSERT INTO recent_policy_epoch (id, epoch) VALUES (1, 1)')
    }
    if (!(await runner.query('SELECT id FROM recentn_schema')).length) {
      await runner.query('INSERT INTO recentn_schema (id, version) VALUES (1, 1)')
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of [
      'recent_items',
      'recent_groups',
      'recent_policy_rollouts',
      'recent_policy_epoch',
      'recent_policies',
      'recentn_schema',
    ]) {
      await runner.query(`DROP TABLE IF EXISTS ${table}`)
    }
  }
}

/**
 * Names are compared by their bytes and never padded: SQLite does so by itself, the servers each have a collation for
 * it under another name (utf8mb4_bin would take 'a' and 'a ' for the same).
 */
async function dialect(runner: QueryRunner) {
  const { type } = runner.connection.options
  if (type === 'better-sqlite3') {
    // A group's items lie together in the primary key, as InnoDB has them by itself.
    return { name: 'varchar(191)', longText: 'text', table: '', items: ' WITHOUT ROWID' }
  }
  const [{ version }] = await runner.query('SELECT VERSION() AS version')
  const collation = /mariadb/i.test(version) ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin'
  const table = ` ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE ${collation}`
  const name = `varchar(191) CHARACTER SET utf8mb4 COLLATE ${collation}`
  return { name, longText: `mediumtext CHARACTER SET utf8mb4 COLLATE ${collation}`, table, items: table }
}

async function createIndex(runner: QueryRunner, table: string, index: string, columns: string): Promise<void> {
  if (runner.connection.options.type === 'better-sqlite3') {
    await runner.query(`CREATE INDEX IF NOT EXISTS ${index} ON ${table} (${columns})`)
    return
  }
  const [{ present }] = await runner.query(
    'SELECT COUNT(*) AS present FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ?',
    [table, index],
  )
  if (Number(present) === 0) await runner.query(`CREATE INDEX ${index} ON ${table} (${columns})`)
}
