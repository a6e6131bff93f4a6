/** How many connections of a store are in use, and when one is made, without asking the database. */
import type { EventEmitter } from 'node:events'
import type { DataSource } from 'typeorm'

export interface ConnectionUse {
  max: number
  inUse: number
  idle: number
  waiting: number
}

/** The parts of mysql2's pool that are read; a part that another version lacks counts as 0. */
interface DriverPool extends Partial<Pick<EventEmitter, 'on' | 'off'>> {
  config?: { connectionLimit?: number }
  _allConnections?: PooledConnections
  _freeConnections?: { length: number }
  _connectionQueue?: { length: number }
}

interface DriverPoolCluster {
  _nodes?: { MASTER?: { pool?: DriverPool } }
}

interface PooledConnections {
  length: number
  get?(index: number): { threadId?: number | null } | undefined
}

/** The connections of a DataSource: those of its pool, or SQLite's one connection with the callers at its gate. */
export function connectionUse(
  source: DataSource,
  { gate, pool: { turns } }: { gate: { readonly waiting: number } | null; pool: { readonly turns: number } },
): ConnectionUse {
  if (gate) {
    const busy = gate.waiting > 0 ? 1 : 0
    return { max: 1, inUse: busy, idle: 1 - busy, waiting: gate.waiting - busy }
  }
  const { _allConnections: all, _freeConnections: free, _connectionQueue: queue, config } = poolOf(source)
  const idle = free?.length ?? 0
  return {
    max: config?.connectionLimit ?? 0,
    inUse: Math.max(0, (all?.length ?? 0) - idle),
    idle,
    waiting: (queue?.length ?? 0) + turns,
  }
}

/** Calls the listener when a connection was made: what it leads to may be an older copy of the database. Answers with how that ends. */
export function onConnection(source: DataSource, listener: () => void): () => void {
  const pool = poolOf(source)
  pool.on?.('connection', listener)
  return () => pool.off?.('connection', listener)
}

/** The most connections of a pool, which a user's code may share; null for SQLite, or if it is not known. */
export function poolSizeOf(source: DataSource): number | null {
  return poolOf(source).config?.connectionLimit ?? null
}

/** Whether no connection of a pool has reached the server; false if it is not known. */
export function isUnconnected(source: DataSource): boolean {
  const { _allConnections: all } = poolOf(source)
  if (!all?.get) return false
  // Null until the server has greeted.
  for (let index = 0; index < all.length; index++) if (all.get(index)?.threadId != null) return false
  return true
}

/** The pool of a DataSource: with replication the primary's, because the store uses only that. */
function poolOf({ driver }: DataSource): DriverPool {
  const { pool, poolCluster } = driver as unknown as { pool?: DriverPool; poolCluster?: DriverPoolCluster }
  return pool ?? poolCluster?._nodes?.MASTER?.pool ?? {}
}
