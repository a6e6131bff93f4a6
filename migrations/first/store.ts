/** What every store has. Frozen once released. */
import type { Types } from '../dialect'
import type { TableDefinition } from './table'

export function ownTables({ name, bytes, table, ascii }: Types): TableDefinition[] {
  return [
    {
      name: 'schema',
      columns: { id: 'integer NOT NULL PRIMARY KEY', version: 'integer NOT NULL' },
      suffix: table,
    },
    {
      // By these a process finds out whether a batch arrived whose commit was cut off.
      name: 'writers',
      columns: {
        writer: 'varchar(64) NOT NULL PRIMARY KEY',
        batch: 'bigint NOT NULL',
        seen_at_ms: 'bigint NOT NULL',
      },
      suffix: ascii,
    },
    {
      name: 'keys',
      columns: {
        id: `${bytes(16)} NOT NULL PRIMARY KEY`,
        secret_hash: `${bytes(64)} NOT NULL`,
        label: `${name} NOT NULL`,
        scopes: `${bytes(64)} NOT NULL`,
        name_prefix: `${name} NULL`,
        created_at_ms: 'bigint NOT NULL',
        last_used_at_ms: 'bigint NULL',
        revoked_at_ms: 'bigint NULL',
      },
      suffix: table,
    },
  ]
}
