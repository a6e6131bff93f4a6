import type { MigrationInterface, QueryRunner } from 'typeorm'
import { createTable, dropTables } from './1763700000000-recentn'
import { lowerVersion, raiseVersion } from './added'
import { dialect, type Types } from './dialect'
import type { TableDefinition } from './first/table'

/** Who receives from queues. Each statement can be run again, as in the first migration. */
export function recentn1764400000000(prefix: string, name: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = `${name}1764400000000`

    async up(runner: QueryRunner): Promise<void> {
      await createTable(runner, prefix, receiverTable(await dialect(runner)))
      await raiseVersion(runner, prefix, 8)
    }

    async down(runner: QueryRunner): Promise<void> {
      await lowerVersion(runner, prefix, 7)
      await dropTables(runner, prefix, [receiverTable(await dialect(runner))])
    }
  }
}

export function receiverTable({ name, clustered }: Types): TableDefinition {
  return {
    name: 'queue_receivers',
    columns: {
      queue_id: 'bigint NOT NULL',
      receiver_id: 'bigint NOT NULL',
      name: `${name} NOT NULL`,
      since_ms: 'bigint NOT NULL',
      seen_at_ms: 'bigint NOT NULL',
      asked_at_ms: 'bigint NOT NULL',
      received: 'bigint NOT NULL',
    },
    primaryKey: ['queue_id', 'receiver_id'],
    suffix: clustered,
  }
}
