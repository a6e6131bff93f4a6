import type { MigrationInterface, QueryRunner } from 'typeorm'
import { DEFAULT_PREFIX } from '../src/database/tables'
import { recentn1763700000000, takenBy } from './1763700000000-recentn'
import { dialect, SQLITE } from './dialect'
import { firstTables } from './first'

/**
 * The migrations that make the tables with this prefix, in order. A migration never changes once it has been released.
 */
export function migrationsOf(prefix: string): (new () => MigrationInterface)[] {
  return [recentn1763700000000(prefix, migrationStem(prefix))]
}

/**
 * The beginning of these migrations' names, before 13 digits. The migrations of two prefixes may be in one DataSource,
 * which identifies them by their names.
 */
export function migrationStem(prefix: string): string {
  return prefix === DEFAULT_PREFIX ? 'Recentn' : `Recentn_${prefix}`
}

/** For the `migrations` of a DataSource. */
export const migrations = migrationsOf(DEFAULT_PREFIX)

/** The version of the tables that this code knows, as the table `schema` has it. */
export const SCHEMA_VERSION = 1

/** Describes the tables and views of the user's that have the names of our tables with this prefix. */
export async function takenNames(runner: QueryRunner, prefix: string): Promise<string[]> {
  return takenBy(runner, prefix, firstTables(await dialect(runner)))
}

/** The columns of each table at that version, by its name without the prefix. */
export function currentColumns(): Map<string, readonly string[]> {
  return new Map(firstTables(SQLITE).map(({ name, columns }) => [name, Object.keys(columns)]))
}
