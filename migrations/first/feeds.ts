/** Feeds, and the sequences that number them. Frozen once released. */
import type { Types } from '../dialect'
import type { TableDefinition } from './table'

export function tablesOfFeeds(types: Types): TableDefinition[] {
  return [...feedTables(types), ...feedEntryTables(types)]
}

function feedTables({ name, serial, table, clustered }: Types): TableDefinition[] {
  return [
    {
      name: 'sequences',
      columns: {
        kind: 'varchar(8) NOT NULL',
        sequence_name: `${name} NOT NULL`,
        value: 'bigint NOT NULL',
        horizon: 'bigint NOT NULL',
      },
      primaryKey: ['kind', 'sequence_name'],
      suffix: clustered,
    },
    {
      name: 'feeds',
      columns: {
        id: serial,
        feed: `${name} NOT NULL`,
        followed_table: `${name} NULL`,
        created_at_ms: 'bigint NOT NULL',
      },
      indexes: { feeds_feed: { columns: ['feed'], isUnique: true } },
      suffix: table,
    },
  ]
}

function feedEntryTables({ name, text, table, clustered }: Types): TableDefinition[] {
  return [
    {
      name: 'feed_entries',
      columns: {
        feed_id: 'bigint NOT NULL',
        entry_key: `${name} NOT NULL`,
        sync_id: 'bigint NOT NULL',
        version: 'bigint NOT NULL',
        deleted: 'smallint NOT NULL',
        updated_at_ms: 'bigint NOT NULL',
        unpublished_since_ms: 'bigint NOT NULL',
        value: `${text} NOT NULL`,
      },
      primaryKey: ['feed_id', 'entry_key'],
      indexes: { feed_entries_sync: { columns: ['feed_id', 'sync_id', 'unpublished_since_ms', 'deleted'] } },
      suffix: clustered,
    },
    {
      name: 'feed_tombstones',
      columns: { deleted_at_ms: 'bigint NOT NULL', feed_id: 'bigint NOT NULL', entry_key: `${name} NOT NULL` },
      primaryKey: ['deleted_at_ms', 'feed_id', 'entry_key'],
      suffix: clustered,
    },
    {
      name: 'feed_consumers',
      columns: {
        feed_id: 'bigint NOT NULL',
        consumer: `${name} NOT NULL`,
        cursor_id: 'bigint NOT NULL',
        knows_horizon: 'bigint NOT NULL',
        updated_at_ms: 'bigint NOT NULL',
      },
      primaryKey: ['feed_id', 'consumer'],
      suffix: clustered,
    },
    { name: 'feed_drops', columns: { feed_id: 'bigint NOT NULL PRIMARY KEY' }, suffix: table },
  ]
}
