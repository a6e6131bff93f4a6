import type { MigrationInterface, QueryRunner } from 'typeorm'

/** Polls of tables of the user's: their cursors, and the claims that have no place in the table itself. */
export class Polls1764100000000 implements MigrationInterface {
  readonly name = 'Polls1764100000000'

  async up(runner: QueryRunner): Promise<void> {
    const { name, bytes, text, serial, table, clustered } = await dialect(runner)
    await runner.query(`CREATE TABLE IF NOT EXISTS polls (
      ${serial},
      poll ${name} NOT NULL,
      cursor_value ${text} NULL,
      created_at_ms bigint NOT NULL)${table}`)
    await createIndex(runner, 'polls', 'polls_poll', 'poll', 'UNIQUE ')
    await runner.query(`CREATE TABLE IF NOT EXISTS poll_claims (
      poll_id bigint NOT NULL,
      row_key ${bytes(64)} NOT NULL,
      state smallint NOT NULL,
      due_at_ms bigint NOT NULL,
      claim_key ${bytes(22)} NOT NULL,
      attempts integer NOT NULL,
      first_claimed_at_ms bigint NOT NULL,
      row_values ${text} NOT NULL,
      error ${text} NULL,
      PRIMARY KEY (poll_id, row_key))${clustered}`)
    await createIndex(runner, 'poll_claims', 'poll_claims_due', 'poll_id, state, due_at_ms, row_key')
    await runner.query('UPDATE recentn_schema SET version = 5')
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE IF EXISTS poll_claims')
    await runner.query('DROP TABLE IF EXISTS polls')
    await runner.query('UPDATE recentn_schema SET version = 4')
  }
}

interface Types {
  name: string
  /** So many characters of ASCII. */
  bytes(length: number): string
  text: string
  /** The column `id`: a BIGINT that numbers the rows and is never used again. */
  serial: string
  table: string
  /** A table whose rows lie in its primary key, as InnoDB has them by itself. */
  clustered: string
}

/** Names are compared by their bytes and never padded, as in the tables of the recent items. */
async function dialect(runner: QueryRunner): Promise<Types> {
  if (runner.connection.options.type === 'better-sqlite3') {
    return {
      name: 'varchar(191)',
      bytes: (length) => `varchar(${length})`,
      text: 'text',
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
    bytes: (length) => `varchar(${length}) CHARACTER SET ascii COLLATE ascii_bin`,
    text: `mediumtext ${characters}`,
    serial: 'id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY',
    table,
    clustered: table,
  }
}

async function hasIndex(runner: QueryRunner, table: string, index: string): Promise<boolean> {
  const [{ present }] = await runner.query(
    'SELECT COUNT(*) AS present FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ?',
    [table, index],
  )
  return Number(present) > 0
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
  } else if (!(await hasIndex(runner, table, index))) {
    await runner.query(`CREATE ${kind}INDEX ${index} ON ${table} (${columns})`)
  }
}
