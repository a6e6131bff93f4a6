import type { MigrationInterface, QueryRunner } from 'typeorm'

/** Work queues. Each statement can be run again, as in all migrations. */
export class Queues1763900000000 implements MigrationInterface {
  readonly name = 'Queues1763900000000'

  async up(runner: QueryRunner): Promise<void> {
    const types = await dialect(runner)
    await createQueues(runner, types)
    await createMessages(runner, types)
    const { name, text, table, clustered } = types
    await runner.query(`CREATE TABLE IF NOT EXISTS queue_archive (
      queue_id bigint NOT NULL,
      archived_at_ms bigint NOT NULL,
      id bigint NOT NULL,
      priority integer NOT NULL,
      receive_count integer NOT NULL,
      max_receives integer NULL,
      sent_at_ms bigint NOT NULL,
      visible_at_ms bigint NOT NULL,
      last_received_at_ms bigint NOT NULL,
      message_group ${name} NULL,
      last_error ${text.short} NULL,
      body ${text.long} NOT NULL,
      PRIMARY KEY (queue_id, archived_at_ms, id))${clustered}`)
    await createIndex(runner, 'queue_archive', 'queue_archive_id', 'id')
    await runner.query(`CREATE TABLE IF NOT EXISTS queue_flows (
      queue_id bigint NOT NULL, urgency integer NOT NULL, message_group ${name} NOT NULL,
      next_start bigint NOT NULL, virtual_time bigint NOT NULL, top bigint NOT NULL,
      PRIMARY KEY (queue_id, urgency, message_group))${clustered}`)
    await runner.query(`CREATE TABLE IF NOT EXISTS queue_dedups (
      queue_id bigint NOT NULL, dedup_id ${name} NOT NULL, message_id bigint NOT NULL, sent_at_ms bigint NOT NULL,
      PRIMARY KEY (queue_id, dedup_id))${clustered}`)
    await createIndex(runner, 'queue_dedups', 'queue_dedups_sent', 'sent_at_ms')
    await runner.query(`CREATE TABLE IF NOT EXISTS queue_cursors (
      queue_id bigint NOT NULL, cursor_name ${name} NOT NULL, last_id bigint NOT NULL,
      PRIMARY KEY (queue_id, cursor_name))${table}`)
    await runner.query('UPDATE recentn_schema SET version = 3')
  }

  async down(runner: QueryRunner): Promise<void> {
    const tables = ['queue_cursors', 'queue_dedups', 'queue_flows', 'queue_archive', 'queue_messages', 'queue_drops']
    for (const table of [...tables, 'queues']) await runner.query(`DROP TABLE IF EXISTS ${table}`)
    await runner.query('UPDATE recentn_schema SET version = 2')
  }
}

interface Types {
  name: string
  text: { short: string; long: string }
  receipt: string
  /** The column `id`: a BIGINT that numbers the rows and is never used again. */
  serial: string
  table: string
  /** A table whose rows lie in its primary key, as InnoDB has them by itself. */
  clustered: string
}

async function createQueues(runner: QueryRunner, { name, serial, table }: Types): Promise<void> {
  await runner.query(`CREATE TABLE IF NOT EXISTS queues (
    ${serial},
    queue ${name} NOT NULL,
    version bigint NOT NULL,
    visibility_timeout_seconds integer NOT NULL,
    max_receives integer NOT NULL,
    dead_letter_queue_id bigint NULL,
    on_delete varchar(8) NOT NULL,
    retention_seconds bigint NULL,
    paused integer NOT NULL,
    cycled integer NOT NULL,
    has_letters integer NOT NULL DEFAULT 0,
    shortest_visibility_seconds integer NOT NULL,
    created_at_ms bigint NOT NULL)${table}`)
  await createIndex(runner, 'queues', 'queues_queue', 'queue', 'UNIQUE ')
  await createIndex(runner, 'queues', 'queues_dead_letter', 'dead_letter_queue_id')
  await runner.query(`CREATE TABLE IF NOT EXISTS queue_drops (queue_id bigint NOT NULL PRIMARY KEY)${table}`)
}

/** What a claim changes is never null, so that InnoDB changes the row in its place. */
async function createMessages(runner: QueryRunner, { name, text, receipt, serial, table }: Types): Promise<void> {
  await runner.query(`CREATE TABLE IF NOT EXISTS queue_messages (
    ${serial},
    queue_id bigint NOT NULL,
    state smallint NOT NULL,
    sort_major bigint NOT NULL,
    sort_minor bigint NOT NULL,
    virtual_start bigint NOT NULL,
    cycle_queue_id bigint NOT NULL,
    visible_at_ms bigint NOT NULL,
    last_received_at_ms bigint NOT NULL DEFAULT 0,
    sent_at_ms bigint NOT NULL,
    receipt ${receipt} NOT NULL DEFAULT '${'0'.repeat(32)}',
    receive_count integer NOT NULL DEFAULT 0,
    priority integer NOT NULL,
    max_receives integer NULL,
    visibility_timeout_seconds integer NULL,
    source_queue_id bigint NULL,
    message_group ${name} NULL,
    last_error ${text.short} NULL,
    body ${text.long} NOT NULL)${table}`)
  await createIndex(runner, 'queue_messages', 'queue_messages_claim', 'queue_id, state, sort_major, sort_minor, id')
  await createIndex(runner, 'queue_messages', 'queue_messages_cycle', 'cycle_queue_id, id')
}

/** Names are compared by their bytes and never padded, as in the tables of the recent items. */
async function dialect(runner: QueryRunner): Promise<Types> {
  const { type } = runner.connection.options
  if (type === 'better-sqlite3') {
    return {
      name: 'varchar(191)',
      text: { short: 'varchar(1000)', long: 'text' },
      receipt: 'varchar(32)',
      // Quoted, as TypeORM looks for it when it reads the schema.
      serial: '"id" integer PRIMARY KEY AUTOINCREMENT NOT NULL',
      table: '',
      clustered: ' WITHOUT ROWID',
    }
  }
  const [{ version }] = await runner.query('SELECT VERSION() AS version')
  const collation = /mariadb/i.test(version) ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin'
  const characters = `CHARACTER SET utf8mb4 COLLATE ${collation}`
  const table = ` ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE ${collation}`
  return {
    name: `varchar(191) ${characters}`,
    text: { short: `varchar(1000) ${characters}`, long: `mediumtext ${characters}` },
    receipt: 'varchar(32) CHARACTER SET ascii COLLATE ascii_bin',
    serial: 'id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY',
    table,
    clustered: table,
  }
}

async function createIndex(
  runner: QueryRunner,
  table: string,
  index: string,
  columns: string,
  kind: 'UNIQUE ' | '' = '',
): Promise<void> {
  if (runner.connection.options.type === 'better-sqlite3') {
    await runner.query(`CREATE ${kind}INDEX IF NOT EXISTS ${index} ON ${table} (${columns})`)
    return
  }
  const [{ present }] = await runner.query(
    'SELECT COUNT(*) AS present FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ?',
    [table, index],
  )
  if (Number(present) === 0) await runner.query(`CREATE ${kind}INDEX ${index} ON ${table} (${columns})`)
}
