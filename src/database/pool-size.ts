/** How many connections a DataSource has at most, for whoever shares them with a user's code. */
import type { DataSource } from 'typeorm'

/** What mysql2 has when nobody says anything. */
const UNSAID = 10

/** Null for SQLite, where all statements wait for one another anyway, and where no number can be made out. */
export function poolSizeOf({ options }: DataSource): number | null {
  if (options.type !== 'mysql' && options.type !== 'mariadb') return null
  const { connectionLimit } = Object(options.extra) as { connectionLimit?: unknown }
  const size = Number(connectionLimit ?? options.poolSize ?? UNSAID)
  return size >= 1 ? size : null
}
