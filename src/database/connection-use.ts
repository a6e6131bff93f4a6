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
  _allConnections?: Connections
  _freeConnections?: { length: number }
  _connectionQueue?: { length: number }
}

interface Cluster {
  _nodes?: { MASTER?: { pool?: Pool } }
}

interface Connections {
  length: number
  get?(index: number): { threadId?: number | null } | undefined
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

/** How many connections a pool may have, and how many have reached the server; null for what is not known. */
export function connectionState(source: DataSource): { max: number | null; connected: number | null } {
  const { _allConnections: all } = poolOf(source)
  let connected: number | null = all?.get ? 0 : null
  for (let index = 0; index < (all?.length ?? 0); index++) {
    // Null until the server has greeted.
    if (connected !== null && all?.get?.(index)?.threadId != null) connected++
  }
  return { max: poolSizeOf(source), connected }
}

/** Of a replicated DataSource the primary's: the store works there alone. */
function poolOf({ driver }: DataSource): Pool {
  const { pool, poolCluster } = driver as unknown as { pool?: Pool; poolCluster?: Cluster }
  return pool ?? poolCluster?._nodes?.MASTER?.pool ?? {}
}
