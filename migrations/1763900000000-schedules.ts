import type { MigrationInterface, QueryRunner } from 'typeorm'
import { createTable, dropTables } from './1763700000000-recentn'
import { lowerVersion, raiseVersion } from './added'
import { dialect, type Types } from './dialect'
import type { TableDefinition } from './first/table'

/**
 * The table of schedules. Each statement can be run again, as in the first migration. The version is written last, and by
 * an undo first.
 */
export function recentn1763900000000(prefix: string, name: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = `${name}1763900000000`

    async up(runner: QueryRunner): Promise<void> {
      await createTable(runner, prefix, scheduleTable(await dialect(runner)))
      await raiseVersion(runner, prefix, 3)
    }

    async down(runner: QueryRunner): Promise<void> {
      await lowerVersion(runner, prefix, 2)
      await dropTables(runner, prefix, [scheduleTable(await dialect(runner))])
    }
  }
}

export function scheduleTable({ name, bytes, shortText, text, table }: Types): TableDefinition {
  return {
    name: 'schedules',
    columns: {
      schedule: `${name} NOT NULL PRIMARY KEY`,
      queue: `${name} NOT NULL`,
      cron: `${bytes(191)} NULL`,
      every_seconds: 'bigint NULL',
      time_zone: `${bytes(64)} NOT NULL`,
      missed: `${bytes(16)} NOT NULL`,
      next_tick_ms: 'bigint NOT NULL',
      due_at_ms: 'bigint NOT NULL',
      last_tick_ms: 'bigint NULL',
      last_sent_at_ms: 'bigint NULL',
      last_error: `${shortText(1000)} NULL`,
      delay_seconds: 'bigint NOT NULL',
      visibility_timeout_seconds: 'integer NULL',
      max_receives: 'integer NULL',
      priority: 'integer NOT NULL',
      message_group: `${name} NULL`,
      attributes: `${text} NULL`,
      body: `${text} NOT NULL`,
      created_at_ms: 'bigint NOT NULL',
    },
    indexes: { schedules_due: { columns: ['due_at_ms'] } },
    suffix: table,
  }
}
