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
  _allPooledConnections?: PooledConnections
  _freePooledConnections?: { length: number }
  _connectionQueue?: { length: number }
}

interface Cluster {
  _nodes?: { MASTER?: { pool?: Pool } }
}

interface PooledConnections {
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
  const { _allPooledConnections: all, _freePooledConnections: free, _connectionQueue: queue, config } = pool
  const idle = free?.length ?? 0
  return {
    max: config?.connectionLimit ?? 0,
    inUse: Math.max(0, (all?.length ?? 0) - idle),
    idle,
    waiting: queue?.length ?? 0,
  }
}

/** The most connections that the pool opens, some of them for the user's own code; null for SQLite, or where it is not known. */
export function poolSizeOf(source: DataSource): number | null {
  return poolOf(source).config?.connectionLimit ?? null
}

/** How many connections a pool may have, and how many have reached the server; null for what is not known. */
export function connectionState(source: DataSource): { max: number | null; connected: number | null } {
  const { _allPooledConnections: all } = poolOf(source)
  let connected: number | null = all?.get ? 0 : null
  for (let index = 0; index < (all?.length ?? 0); index++) {
    // Null until the server has greeted.
    if (connected !== null && all?.get?.(index)?.threadId != null) connected++
  }
  return { max: poolSizeOf(source), connected }
}

/** The primary's, where a DataSource is replicated: the store uses no other. */
function poolOf({ driver }: DataSource): Pool {
  const { pool, poolCluster } = driver as unknown as { pool?: Pool; poolCluster?: Cluster }
  return pool ?? poolCluster?._nodes?.MASTER?.pool ?? {}
}
