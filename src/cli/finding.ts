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

export type Check = [name: string, run: (database: DataSource) => Promise<Omit<Finding, 'check'>>]
