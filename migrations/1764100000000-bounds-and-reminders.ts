import type { MigrationInterface, QueryRunner } from 'typeorm'
import { createTable, dropTables } from './1763700000000-recentn'
import { addColumns, BOUND_COLUMNS, dropColumns, lowerVersion, raiseVersion } from './added'
import { dialect, type Types } from './dialect'
import type { TableDefinition } from './first/table'

/**
 * Bounds on what grows: the maximum number of messages of a queue, and after how long an empty group is forgotten; what a dead
 * letter keeps; and reminders: when to look at a queue or a feed, of those that are there at once. Each statement can be run
 * again, as in the first migration. The version is written last, and by an undo first.
 */
export function recentn1764100000000(prefix: string, name: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = `${name}1764100000000`

    async up(runner: QueryRunner): Promise<void> {
      await addColumns(runner, prefix, BOUND_COLUMNS)
      await createTable(runner, prefix, reminderTable(await dialect(runner)))
      for (const [kind, table] of [
        [1, 'queues'],
        [2, 'feeds'],
      ]) {
        await runner.query(
          `INSERT INTO ${prefix}reminders (kind, subject_id, due_at_ms) SELECT ${kind}, id, 0 FROM ${prefix}${table}`,
        )
      }
      await raiseVersion(runner, prefix, 5)
    }

    async down(runner: QueryRunner): Promise<void> {
      await lowerVersion(runner, prefix, 4)
      await dropTables(runner, prefix, [reminderTable(await dialect(runner))])
      await dropColumns(runner, prefix, BOUND_COLUMNS)
    }
  }
}

export function reminderTable({ serial, table }: Types): TableDefinition {
  return {
    name: 'reminders',
    columns: {
      id: serial,
      kind: 'smallint NOT NULL',
      subject_id: 'bigint NOT NULL',
      due_at_ms: 'bigint NOT NULL',
    },
    indexes: { reminders_due: { columns: ['kind', 'due_at_ms', 'subject_id'] } },
    suffix: table,
  }
}
