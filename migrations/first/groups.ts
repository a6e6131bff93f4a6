/** Groups of recent items, and their policies. Frozen once released. */
import type { Types } from '../dialect'
import type { TableDefinition } from './table'

export function tablesOfGroups(types: Types): TableDefinition[] {
  return [...policyTables(types), ...groupTables(types)]
}

function policyTables({ name, table }: Types): TableDefinition[] {
  return [
    {
      name: 'policies',
      columns: {
        prefix: `${name} NOT NULL PRIMARY KEY`,
        capacity: 'integer NOT NULL',
        mode: 'varchar(8) NOT NULL',
        ttl_seconds: 'bigint NULL',
      },
      suffix: table,
    },
    {
      name: 'policy_epoch',
      columns: { id: 'integer NOT NULL PRIMARY KEY', epoch: 'bigint NOT NULL' },
      suffix: table,
    },
    {
      name: 'policy_rollouts',
      columns: { prefix: `${name} NOT NULL PRIMARY KEY`, epoch: 'bigint NOT NULL', after_key: `${name} NOT NULL` },
      suffix: table,
    },
  ]
}

function groupTables({ name, text, table, clustered }: Types): TableDefinition[] {
  return [
    {
      name: 'groups',
      columns: {
        group_key: `${name} NOT NULL PRIMARY KEY`,
        incarnation: 'bigint NOT NULL',
        version: 'bigint NOT NULL',
        last_id: 'bigint NOT NULL',
        capacity: 'integer NOT NULL',
        mode: 'varchar(8) NOT NULL',
        ttl_seconds: 'bigint NULL',
        own_capacity: 'integer NULL',
        own_mode: 'varchar(8) NULL',
        own_ttl_seconds: 'bigint NULL',
        policy_epoch: 'bigint NOT NULL',
        sweep_at_ms: 'bigint NULL',
        created_at_ms: 'bigint NOT NULL',
        // The group's number in the feed `recent-groups`; null without such a feed.
        sync_id: 'bigint NULL',
      },
      indexes: { groups_sweep: { columns: ['sweep_at_ms'] }, groups_sync: { columns: ['sync_id'] } },
      suffix: table,
    },
    {
      name: 'items',
      columns: {
        group_key: `${name} NOT NULL`,
        slot: 'integer NOT NULL',
        id: 'bigint NOT NULL',
        member: `${name} NULL`,
        payload: `${text} NULL`,
        occurred_at_ms: 'bigint NULL',
        event_id: `${name} NULL`,
        created_at_ms: 'bigint NOT NULL',
      },
      primaryKey: ['group_key', 'slot'],
      indexes: { items_member: { columns: ['member', 'created_at_ms', 'group_key', 'id'] } },
      suffix: clustered,
    },
  ]
}
