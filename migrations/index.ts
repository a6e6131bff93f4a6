import type { MigrationInterface, QueryRunner } from 'typeorm'
import { DEFAULT_PREFIX } from '../src/database/tables'
import { recentn1763700000000, takenBy } from './1763700000000-recentn'
import { recentn1763800000000 } from './1763800000000-attributes'
import { recentn1763900000000, scheduleTable } from './1763900000000-schedules'
import { messageGroupTable, recentn1764000000000 } from './1764000000000-group-concurrency'
import { recentn1764100000000, reminderTable } from './1764100000000-bounds-and-reminders'
import { doorTables, recentn1764200000000 } from './1764200000000-door'
import { limitTables, recentn1764300000000 } from './1764300000000-limits-and-keys'
import { receiverTable, recentn1764400000000 } from './1764400000000-receivers'
import { addedColumns } from './added'
import { dialect, SQLITE, type Types } from './dialect'
import { firstTables } from './first'
import type { TableDefinition } from './first/table'

/**
 * The migrations that make the tables with this prefix, in order. A migration never changes once it has been released.
 */
export function migrationsOf(prefix: string): (new () => MigrationInterface)[] {
  const stem = migrationStem(prefix)
  return [
    recentn1763700000000(prefix, stem),
    recentn1763800000000(prefix, stem),
    recentn1763900000000(prefix, stem),
    recentn1764000000000(prefix, stem),
    recentn1764100000000(prefix, stem),
    recentn1764200000000(prefix, stem),
    recentn1764300000000(prefix, stem),
    recentn1764400000000(prefix, stem),
  ]
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
export const SCHEMA_VERSION = 8

function laterTables(types: Types): TableDefinition[] {
  return [
    scheduleTable(types),
    messageGroupTable(types),
    reminderTable(types),
    ...doorTables(types),
    ...limitTables(types),
    receiverTable(types),
  ]
}

/** Describes the tables and views of the user's that have the names of our tables with this prefix. */
export async function takenNames(runner: QueryRunner, prefix: string): Promise<string[]> {
  const types = await dialect(runner)
  const added = addedColumns(types)
  const first = await takenBy(runner, prefix, { tables: firstTables(types), added })
  return [...first, ...(await takenBy(runner, prefix, { tables: laterTables(types), added }))]
}

/** The columns of a table at that version. */
export interface KnownColumns {
  all: readonly string[]
  /** Those of them that later migrations have added. */
  added: readonly string[]
}

/** By the table's name without the prefix. */
export function currentColumns(): Map<string, KnownColumns> {
  const later = addedColumns(SQLITE)
  return new Map(
    [...firstTables(SQLITE), ...laterTables(SQLITE)].map(({ name, columns }) => {
      const added = Object.keys(later[name] ?? {})
      return [name, { all: [...Object.keys(columns), ...added], added }]
    }),
  )
}
