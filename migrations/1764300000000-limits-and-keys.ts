import type { MigrationInterface, QueryRunner } from 'typeorm'
import { createTable, dropTables } from './1763700000000-recentn'
import { addColumns, dropColumns, LIMIT_COLUMNS, lowerVersion, raiseVersion } from './added'
import { dialect, type Types } from './dialect'
import type { TableDefinition } from './first/table'

/**
 * What limits, keys, scores and rates need. Each statement can be run again, as in the first migration. The version is
 * written last, and by an undo first.
 */
export function recentn1764300000000(prefix: string, name: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = `${name}1764300000000`

    async up(runner: QueryRunner): Promise<void> {
      await addColumns(runner, prefix, LIMIT_COLUMNS)
      for (const table of limitTables(await dialect(runner))) await createTable(runner, prefix, table)
      await raiseVersion(runner, prefix, 7)
    }

    async down(runner: QueryRunner): Promise<void> {
      await lowerVersion(runner, prefix, 6)
      await dropTables(runner, prefix, limitTables(await dialect(runner)))
      await dropColumns(runner, prefix, LIMIT_COLUMNS)
    }
  }
}

export function limitTables(types: Types): TableDefinition[] {
  return [keyTable(types), historyTable(types), turnsTable(types)]
}

/** How queues have been: rings of two lengths. */
function historyTable({ clustered }: Types): TableDefinition {
  return {
    name: 'queue_history',
    columns: {
      step_seconds: 'integer NOT NULL',
      slot: 'integer NOT NULL',
      queue_id: 'bigint NOT NULL',
      at_ms: 'bigint NOT NULL',
      sent: 'bigint NOT NULL DEFAULT 0',
      acked: 'bigint NOT NULL DEFAULT 0',
      failed: 'bigint NOT NULL DEFAULT 0',
      ready: 'bigint NULL',
      in_flight: 'bigint NULL',
      delayed_messages: 'bigint NULL',
      blocked: 'bigint NULL',
      died: 'bigint NULL',
      oldest_age_seconds: 'bigint NULL',
    },
    primaryKey: ['step_seconds', 'slot', 'queue_id'],
    suffix: clustered,
  }
}

/** The keys of messages that wait or are in flight. */
function keyTable({ name, clustered }: Types): TableDefinition {
  return {
    name: 'queue_keys',
    columns: {
      queue_id: 'bigint NOT NULL',
      message_key: `${name} NOT NULL`,
      message_id: 'bigint NOT NULL',
      ahead_id: 'bigint NOT NULL',
    },
    primaryKey: ['queue_id', 'message_key'],
    suffix: clustered,
  }
}

/** The turns of queues and message groups with rates. */
function turnsTable({ name, bytes, clustered }: Types): TableDefinition {
  return {
    name: 'queue_turns',
    columns: {
      queue_id: 'bigint NOT NULL',
      message_group: `${name} NOT NULL`,
      limit_id: 'bigint NOT NULL',
      waiting: 'integer NOT NULL',
      receives: `${bytes(1000)} NOT NULL`,
      held_until_ms: 'bigint NOT NULL',
      kept_until_ms: 'bigint NOT NULL',
    },
    primaryKey: ['queue_id', 'message_group'],
    indexes: { queue_turns_kept: { columns: ['kept_until_ms'] } },
    suffix: clustered,
  }
}
