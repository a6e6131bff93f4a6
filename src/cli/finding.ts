/** What `recentn doctor` finds, and what finds it. */
import type { DataSource } from 'typeorm'

export interface Finding {
  check: string
  /** `unknown` is what could not be looked at. */
  state: 'ok' | 'warning' | 'wrong' | 'unknown'
  found: string
  /** What to do about it. */
  mend?: string
}

/** The name of the table of an entity: the store's prefix is in it. */
export function tableOf(database: DataSource, entity: string): string {
  return database.getMetadata(entity).tableName
}

export type Check = [name: string, run: (database: DataSource) => Promise<Omit<Finding, 'check'>>]
