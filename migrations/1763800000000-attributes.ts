import type { MigrationInterface, QueryRunner } from 'typeorm'
import { addColumns, attributeColumns, dropColumns, lowerVersion, raiseVersion } from './added'
import { dialect } from './dialect'

/**
 * The attributes of messages: a column that is null for a message without any, so that its row stays as it is. Each
 * statement can be run again, as in the first migration. The version is written last, and by an undo first.
 */
export function recentn1763800000000(prefix: string, name: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = `${name}1763800000000`

    async up(runner: QueryRunner): Promise<void> {
      await addColumns(runner, prefix, attributeColumns(await dialect(runner)))
      await raiseVersion(runner, prefix, 2)
    }

    /** Leaves alone what is not recentn's, and what is gone already. */
    async down(runner: QueryRunner): Promise<void> {
      await lowerVersion(runner, prefix, 1)
      await dropColumns(runner, prefix, attributeColumns(await dialect(runner)))
    }
  }
}
