import type { MigrationInterface, QueryRunner } from 'typeorm'
import { createTable, dropTables } from './1763700000000-recentn'
import { lowerVersion, raiseVersion } from './added'
import { dialect, type Types } from './dialect'
import type { TableDefinition } from './first/table'

/**
 * The door for plain SQL: tables into which anybody may insert what is to be sent or appended. Each statement can be run
 * again, as in the first migration. The version is written last, and by an undo first.
 */
export function recentn1764200000000(prefix: string, name: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = `${name}1764200000000`

    async up(runner: QueryRunner): Promise<void> {
      for (const table of doorTables(await dialect(runner))) await createTable(runner, prefix, table)
      await raiseVersion(runner, prefix, 6)
    }

    async down(runner: QueryRunner): Promise<void> {
      await lowerVersion(runner, prefix, 5)
      await dropTables(runner, prefix, doorTables(await dialect(runner)))
    }
  }
}

/** All columns that a writer may leave out have a default. */
export function doorTables({ name, serial, shortText, text, table }: Types): TableDefinition[] {
  const judged = { stuck: 'smallint NOT NULL DEFAULT 0', error: `${shortText(1000)} NULL` }
  return [
    {
      name: 'sends',
      columns: {
        id: serial,
        queue: `${name} NOT NULL`,
        body: `${text} NOT NULL`,
        delay_seconds: 'bigint NOT NULL DEFAULT 0',
        priority: 'integer NOT NULL DEFAULT 0',
        message_group: `${name} NULL`,
        dedup_id: `${name} NULL`,
        attributes: `${text} NULL`,
        ...judged,
      },
      indexes: { sends_waiting: { columns: ['stuck', 'queue', 'id'] } },
      suffix: table,
    },
    {
      name: 'appends',
      columns: {
        id: serial,
        group_key: `${name} NOT NULL`,
        member: `${name} NULL`,
        payload: `${text} NULL`,
        occurred_at_ms: 'bigint NULL',
        event_id: `${name} NULL`,
        ...judged,
      },
      indexes: { appends_waiting: { columns: ['stuck', 'group_key', 'id'] } },
      suffix: table,
    },
  ]
}
