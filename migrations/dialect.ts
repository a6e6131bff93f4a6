/** The column types and table options of each engine. Frozen once released. */
import type { QueryRunner } from 'typeorm'

export interface Types {
  /** A name: compared by its bytes and never padded. */
  name: string
  /** Text of up to `length` ASCII characters. */
  bytes(length: number): string
  /** Text of up to `length` characters. */
  shortText(length: number): string
  text: string
  /** The definition of a column `id` that numbers the rows and never uses a number again. */
  serial: string
  /** SQL after the columns of a table. */
  table: string
  /** The same for a table whose rows are stored in the order of the primary key, as InnoDB always does. */
  clustered: string
  /** The same for a table of ASCII texts. */
  ascii: string
}

export const SQLITE: Types = {
  name: 'varchar(191)',
  bytes: (length) => `varchar(${length})`,
  shortText: (length) => `varchar(${length})`,
  text: 'text',
  serial: 'integer PRIMARY KEY AUTOINCREMENT NOT NULL',
  table: '',
  clustered: ' WITHOUT ROWID',
  ascii: '',
}

/**
 * SQLite compares names by their bytes by default. Each server has its own collation for that: with utf8mb4_bin,
 * 'a' and 'a ' would be equal.
 */
export async function dialect(runner: QueryRunner): Promise<Types> {
  if (runner.connection.options.type === 'better-sqlite3') return SQLITE
  const [{ version }] = await runner.query('SELECT VERSION() AS version')
  const collation = /mariadb/i.test(version) ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin'
  const characters = `CHARACTER SET utf8mb4 COLLATE ${collation}`
  const table = ` ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE ${collation}`
  return {
    name: `varchar(191) ${characters}`,
    bytes: (length) => `varchar(${length}) CHARACTER SET ascii COLLATE ascii_bin`,
    shortText: (length) => `varchar(${length}) ${characters}`,
    text: `mediumtext ${characters}`,
    serial: 'bigint NOT NULL AUTO_INCREMENT PRIMARY KEY',
    table,
    clustered: table,
    ascii: ' ENGINE=InnoDB DEFAULT CHARACTER SET ascii',
  }
}
