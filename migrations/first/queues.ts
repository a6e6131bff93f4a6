/** Work queues. Frozen once released. */
import type { Types } from '../dialect'
import type { TableDefinition } from './table'

export function tablesOfQueues(types: Types): TableDefinition[] {
  return [...queueTables(types), ...messageTables(types), ...settledTables(types), ...queuePlaceTables(types)]
}

function queueTables({ name, serial, table }: Types): TableDefinition[] {
  return [
    {
      name: 'queues',
      columns: {
        id: serial,
        queue: `${name} NOT NULL`,
        version: 'bigint NOT NULL',
        visibility_timeout_seconds: 'integer NOT NULL',
        max_receives: 'integer NOT NULL',
        dead_letter_queue_id: 'bigint NULL',
        on_delete: 'varchar(8) NOT NULL',
        retention_seconds: 'bigint NULL',
        paused: 'integer NOT NULL',
        cycled: 'integer NOT NULL',
        has_letters: 'integer NOT NULL DEFAULT 0',
        shortest_visibility_seconds: 'integer NOT NULL',
        created_at_ms: 'bigint NOT NULL',
      },
      indexes: {
        queues_queue: { columns: ['queue'], isUnique: true },
        queues_dead_letter: { columns: ['dead_letter_queue_id'] },
      },
      suffix: table,
    },
    { name: 'queue_drops', columns: { queue_id: 'bigint NOT NULL PRIMARY KEY' }, suffix: table },
  ]
}

function messageTables({ name, bytes, shortText, text, serial, table }: Types): TableDefinition[] {
  return [
    {
      name: 'queue_messages',
      // No column that a claim changes may be null: InnoDB then updates the row in place.
      columns: {
        id: serial,
        queue_id: 'bigint NOT NULL',
        state: 'smallint NOT NULL',
        sort_major: 'bigint NOT NULL',
        sort_minor: 'bigint NOT NULL',
        virtual_start: 'bigint NOT NULL',
        cycle_queue_id: 'bigint NOT NULL',
        visible_at_ms: 'bigint NOT NULL',
        last_received_at_ms: 'bigint NOT NULL DEFAULT 0',
        sent_at_ms: 'bigint NOT NULL',
        receipt: `${bytes(32)} NOT NULL DEFAULT '${'0'.repeat(32)}'`,
        receive_count: 'integer NOT NULL DEFAULT 0',
        priority: 'integer NOT NULL',
        max_receives: 'integer NULL',
        visibility_timeout_seconds: 'integer NULL',
        source_queue_id: 'bigint NULL',
        message_group: `${name} NULL`,
        last_error: `${shortText(1000)} NULL`,
        body: `${text} NOT NULL`,
      },
      indexes: {
        queue_messages_claim: { columns: ['queue_id', 'state', 'sort_major', 'sort_minor', 'id'] },
        queue_messages_cycle: { columns: ['cycle_queue_id', 'id'] },
      },
      suffix: table,
    },
  ]
}

function settledTables({ name, shortText, text, clustered }: Types): TableDefinition[] {
  return [
    {
      name: 'queue_archive',
      columns: {
        queue_id: 'bigint NOT NULL',
        archived_at_ms: 'bigint NOT NULL',
        id: 'bigint NOT NULL',
        priority: 'integer NOT NULL',
        receive_count: 'integer NOT NULL',
        max_receives: 'integer NULL',
        sent_at_ms: 'bigint NOT NULL',
        visible_at_ms: 'bigint NOT NULL',
        last_received_at_ms: 'bigint NOT NULL',
        message_group: `${name} NULL`,
        last_error: `${shortText(1000)} NULL`,
        body: `${text} NOT NULL`,
      },
      primaryKey: ['queue_id', 'archived_at_ms', 'id'],
      indexes: { queue_archive_id: { columns: ['id'] } },
      suffix: clustered,
    },
  ]
}

function queuePlaceTables({ name, table, clustered }: Types): TableDefinition[] {
  return [
    {
      name: 'queue_flows',
      columns: {
        queue_id: 'bigint NOT NULL',
        urgency: 'integer NOT NULL',
        message_group: `${name} NOT NULL`,
        next_start: 'bigint NOT NULL',
        virtual_time: 'bigint NOT NULL',
        top: 'bigint NOT NULL',
      },
      primaryKey: ['queue_id', 'urgency', 'message_group'],
      suffix: clustered,
    },
    {
      name: 'queue_dedups',
      columns: {
        queue_id: 'bigint NOT NULL',
        dedup_id: `${name} NOT NULL`,
        message_id: 'bigint NOT NULL',
        sent_at_ms: 'bigint NOT NULL',
      },
      primaryKey: ['queue_id', 'dedup_id'],
      indexes: { queue_dedups_sent: { columns: ['sent_at_ms'] } },
      suffix: clustered,
    },
    {
      name: 'queue_cursors',
      columns: { queue_id: 'bigint NOT NULL', cursor_name: `${name} NOT NULL`, last_id: 'bigint NOT NULL' },
      primaryKey: ['queue_id', 'cursor_name'],
      suffix: table,
    },
  ]
}
