import type { MigrationInterface, QueryRunner } from 'typeorm'
import { createTable, dropTables } from './1763700000000-recentn'
import { addColumns, dropColumns, GROUP_COLUMNS, lowerVersion, raiseVersion } from './added'
import { dialect, type Types } from './dialect'
import type { TableDefinition } from './first/table'

/**
 * How many messages of one group may be ready or in flight at once: columns of queues and messages, and a table of the groups
 * that have such messages. Each statement can be run again, as in the first migration. The version is written last, and by
 * an undo first.
 */
export function recentn1764000000000(prefix: string, name: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = `${name}1764000000000`

    async up(runner: QueryRunner): Promise<void> {
      await addColumns(runner, prefix, GROUP_COLUMNS)
      await createTable(runner, prefix, messageGroupTable(await dialect(runner)))
      await raiseVersion(runner, prefix, 4)
    }

    async down(runner: QueryRunner): Promise<void> {
      await lowerVersion(runner, prefix, 3)
      await dropTables(runner, prefix, [messageGroupTable(await dialect(runner))])
      await dropColumns(runner, prefix, GROUP_COLUMNS)
    }
  }
}

export function messageGroupTable({ name, clustered }: Types): TableDefinition {
  return {
    name: 'queue_message_groups',
    columns: {
      queue_id: 'bigint NOT NULL',
      message_group: `${name} NOT NULL`,
      limit_id: 'bigint NOT NULL',
      taken: 'integer NOT NULL',
    },
    primaryKey: ['queue_id', 'message_group'],
    suffix: clustered,
  }
}
