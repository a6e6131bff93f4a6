/** Polls of tables of the user, and the claims that have no place in the table itself. Frozen once released. */
import type { Types } from '../dialect'
import type { TableDefinition } from './table'

export function pollTables({ name, bytes, text, serial, table, clustered }: Types): TableDefinition[] {
  return [
    {
      name: 'polls',
      columns: {
        id: serial,
        poll: `${name} NOT NULL`,
        cursor_value: `${text} NULL`,
        created_at_ms: 'bigint NOT NULL',
        // The purpose of the poll, so that two different polls of one name do not share claims and a cursor.
        purpose: `${text} NULL`,
        where_digest: `${bytes(64)} NULL`,
      },
      indexes: { polls_poll: { columns: ['poll'], isUnique: true } },
      suffix: table,
    },
    {
      name: 'poll_claims',
      columns: {
        poll_id: 'bigint NOT NULL',
        row_key: `${bytes(64)} NOT NULL`,
        state: 'smallint NOT NULL',
        due_at_ms: 'bigint NOT NULL',
        claim_key: `${bytes(22)} NOT NULL`,
        attempts: 'integer NOT NULL',
        first_claimed_at_ms: 'bigint NOT NULL',
        row_values: `${text} NOT NULL`,
        error: `${text} NULL`,
      },
      primaryKey: ['poll_id', 'row_key'],
      indexes: { poll_claims_due: { columns: ['poll_id', 'state', 'due_at_ms', 'row_key'] } },
      suffix: clustered,
    },
  ]
}
