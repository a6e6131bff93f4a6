import type { MigrationInterface, QueryRunner } from 'typeorm'
import { createIndex, dialect, hasIndex } from './dialect'

/** Feeds. Each statement can be run again, as in all migrations. */
export class Feeds1764000000000 implements MigrationInterface {
  readonly name = 'Feeds1764000000000'

  async up(runner: QueryRunner): Promise<void> {
    const { name, text, serial, table, clustered } = await dialect(runner)
    await runner.query(`CREATE TABLE IF NOT EXISTS sequences (
      kind varchar(8) NOT NULL, sequence_name ${name} NOT NULL, value bigint NOT NULL, horizon bigint NOT NULL,
      PRIMARY KEY (kind, sequence_name))${clustered}`)
    await runner.query(`CREATE TABLE IF NOT EXISTS feeds (
      ${serial},
      feed ${name} NOT NULL,
      followed_table ${name} NULL,
      created_at_ms bigint NOT NULL)${table}`)
    await createIndex(runner, 'feeds', 'feeds_feed', 'feed', 'UNIQUE ')
    await runner.query(`CREATE TABLE IF NOT EXISTS feed_entries (
      feed_id bigint NOT NULL,
      entry_key ${name} NOT NULL,
      sync_id bigint NOT NULL,
      version bigint NOT NULL,
      deleted smallint NOT NULL,
      updated_at_ms bigint NOT NULL,
      unpublished_since_ms bigint NOT NULL,
      value ${text} NOT NULL,
      PRIMARY KEY (feed_id, entry_key))${clustered}`)
    await createIndex(runner, 'feed_entries', 'feed_entries_sync', 'feed_id, sync_id, unpublished_since_ms, deleted')
    await runner.query(`CREATE TABLE IF NOT EXISTS feed_tombstones (
      deleted_at_ms bigint NOT NULL, feed_id bigint NOT NULL, entry_key ${name} NOT NULL,
      PRIMARY KEY (deleted_at_ms, feed_id, entry_key))${clustered}`)
    await runner.query(`CREATE TABLE IF NOT EXISTS feed_consumers (
      feed_id bigint NOT NULL, consumer ${name} NOT NULL, cursor_id bigint NOT NULL, knows_horizon bigint NOT NULL,
      updated_at_ms bigint NOT NULL,
      PRIMARY KEY (feed_id, consumer))${clustered}`)
    await runner.query(`CREATE TABLE IF NOT EXISTS feed_drops (feed_id bigint NOT NULL PRIMARY KEY)${table}`)
    await addSyncId(runner)
    await runner.query('UPDATE recentn_schema SET version = 4')
  }

  async down(runner: QueryRunner): Promise<void> {
    const { connection } = runner
    const isSqlite = connection.options.type === 'better-sqlite3'
    if (await hasColumn(runner)) {
      if (isSqlite) await runner.query('DROP INDEX IF EXISTS recent_groups_sync')
      else if (await hasIndex(runner, 'recent_groups', 'recent_groups_sync')) {
        await runner.query('DROP INDEX recent_groups_sync ON recent_groups')
      }
      await runner.query('ALTER TABLE recent_groups DROP COLUMN sync_id')
    }
    const tables = ['feed_drops', 'feed_consumers', 'feed_tombstones', 'feed_entries', 'feeds']
    for (const table of [...tables, 'sequences']) await runner.query(`DROP TABLE IF EXISTS ${table}`)
    await runner.query('UPDATE recentn_schema SET version = 3')
  }
}

/** The column that the feed `recent-groups` is numbered in. Without such a feed it stays null. */
async function addSyncId(runner: QueryRunner): Promise<void> {
  if (!(await hasColumn(runner))) {
    await runner.query('ALTER TABLE recent_groups ADD COLUMN sync_id bigint NULL')
  }
  await createIndex(runner, 'recent_groups', 'recent_groups_sync', 'sync_id')
}

async function hasColumn(runner: QueryRunner): Promise<boolean> {
  if (runner.connection.options.type === 'better-sqlite3') {
    const columns = await runner.query("SELECT name FROM pragma_table_info('recent_groups') WHERE name = 'sync_id'")
    return columns.length > 0
  }
  const [{ present }] = await runner.query(
    "SELECT COUNT(*) AS present FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'recent_groups' AND column_name = 'sync_id'",
  )
  return Number(present) > 0
}
