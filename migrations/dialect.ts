/** How the engines spell what migrations from 1764000000000 on have in common. Frozen with the first of them. */
import type { QueryRunner } from 'typeorm'

export interface Types {
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
export async function dialect(runner: QueryRunner): Promise<Types> {
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

export async function hasIndex(runner: QueryRunner, table: string, index: string): Promise<boolean> {
  const [{ present }] = await runner.query(
    'SELECT COUNT(*) AS present FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ? AND index_name = ?',
    [table, index],
  )
  return Number(present) > 0
}

export async function createIndex(
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
