/** The findings of `recentn doctor`, and its checks. */
import type { DataSource } from 'typeorm'

export interface Finding {
  check: string
  /** `unknown` if the check could not be made. */
  state: 'ok' | 'warning' | 'wrong' | 'unknown'
  found: string
  /** What to do about it. */
  fix?: string
}

export type CheckResult = Omit<Finding, 'check'>
export type SqlRow = Record<string, unknown>

export function tableOf(database: DataSource, entity: string): string {
  return database.getMetadata(entity).tableName
}

export type Check = [name: string, run: (database: DataSource) => Promise<CheckResult>]
