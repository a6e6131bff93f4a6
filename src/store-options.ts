/** What may be given to a store, and what is said of a database that can't be opened. */
import type { DataSourceOptions } from 'typeorm'
import { locationOf } from './database/connect'
import type { Engine } from './database/engine'
import { translated } from './database/retries'
import { invalidInput, RecentnError } from './errors'
import { integerFault, MAX_CAPACITY, MAX_TTL_SECONDS, tablePrefixFault } from './rules'
import { MAX_LANES } from './runtime/batching/appends'
import type { StoreOptions } from './store-types'

/** What goes wrong in the background, where nobody asked to be told. */
export function warn(error: unknown, doing: string): void {
  process.emitWarning(`recentn could not ${doing}: ${String(error)}`)
}

export function checkOptions({ tablePrefix, defaultCapacity, batching = {}, feeds = {} }: StoreOptions): void {
  const given: [string, unknown, number][] = [
    ['defaultCapacity', defaultCapacity, MAX_CAPACITY],
    ['batching.lanes', batching.lanes, MAX_LANES],
    ['batching.maxPendingItems', batching.maxPendingItems, Number.MAX_SAFE_INTEGER],
    ['batching.maxPendingBytes', batching.maxPendingBytes, Number.MAX_SAFE_INTEGER],
    ['feeds.tombstoneSeconds', feeds.tombstoneSeconds, MAX_TTL_SECONDS],
  ]
  const faults = given.flatMap(([parameter, value, max]) => {
    const detail = value === undefined ? null : integerFault(value, 1, max)
    return detail === null ? [] : [{ parameter, detail }]
  })
  const prefixDetail = tablePrefix === undefined ? null : tablePrefixFault(tablePrefix)
  if (prefixDetail !== null) faults.push({ parameter: 'tablePrefix', detail: prefixDetail })
  if (faults.length > 0) throw invalidInput(faults)
}

/** What is no fault of the network is one of the address, the password, the privileges or the file: worth no retry. */
export function openingFault(engine: Engine, options: DataSourceOptions, error: unknown): unknown {
  const told = translated(error, engine)
  const isFile = options.type === 'better-sqlite3'
  if (told instanceof RecentnError && !(isFile && told.code === 'database_unavailable')) return told
  const reason = (error as Error).message
  return new RecentnError('database_refused', `${locationOf(options)} can't be used: ${reason}`, { cause: error })
}
