/** How many connections of a store are in use, without asking the database. */
import type { DataSource } from 'typeorm'
import type { Gate } from './gate'

export interface ConnectionUse {
  /** As many as there may be. */
  max: number
  inUse: number
  idle: number
  /** Callers that wait for one. */
  waiting: number
}

/** mysql2's pool, as far as it is looked at; what is not there (another version) counts as nothing. */
interface Pool {
  config?: { connectionLimit?: number }
  _allConnections?: { length: number }
  _freeConnections?: { length: number }
  _connectionQueue?: { length: number }
}

/** The connections of a DataSource: the pool's, or the one of SQLite with those who wait at its gate. */
export function connectionUse(source: DataSource, gate: Gate | null): ConnectionUse {
  if (gate) {
    const busy = gate.waiting > 0 ? 1 : 0
    return { max: 1, inUse: busy, idle: 1 - busy, waiting: gate.waiting - busy }
  }
  const pool = poolOf(source)
  const { _allConnections: all, _freeConnections: free, _connectionQueue: queue, config } = pool
  const idle = free?.length ?? 0
  return {
    max: config?.connectionLimit ?? 0,
    inUse: Math.max(0, (all?.length ?? 0) - idle),
    idle,
    waiting: queue?.length ?? 0,
  }
}

/** How many connections there are at most for whoever shares them with a user's code; null for SQLite, or where it is not known. */
export function poolSizeOf(source: DataSource): number | null {
  return poolOf(source).config?.connectionLimit ?? null
}

function poolOf({ driver }: DataSource): Pool {
  return (driver as unknown as { pool?: Pool }).pool ?? {}
}
