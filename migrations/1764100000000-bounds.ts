import type { MigrationInterface, QueryRunner } from 'typeorm'
import { addColumns, BOUND_COLUMNS, dropColumns, lowerVersion, raiseVersion } from './added'

/**
 * Bounds on what grows: the maximum number of messages of a queue, and after how long an empty group is forgotten. And
 * what a dead letter keeps. The version is written last, and by an undo first.
 */
export function recentn1764100000000(prefix: string, name: string): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = `${name}1764100000000`

    async up(runner: QueryRunner): Promise<void> {
      await addColumns(runner, prefix, BOUND_COLUMNS)
      await raiseVersion(runner, prefix, 5)
    }

    async down(runner: QueryRunner): Promise<void> {
      await lowerVersion(runner, prefix, 4)
      await dropColumns(runner, prefix, BOUND_COLUMNS)
    }
  }
}
