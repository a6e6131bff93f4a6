/** What may be given to a store, and what is said of a database that can't be opened. */
import { type DataSource, type DataSourceOptions, InstanceChecker } from 'typeorm'
import type { Engine } from '../database/engine'
import { locationOf } from '../database/location'
import { translated } from '../database/retries'
import { safeText } from '../error-text'
import { type Fault, RecentnError } from '../errors'
import { aBoolean, aFunction, anObject, aString, faultsOf, partFaults, type Rules, whole } from '../fields/option-rules'
import { MAX_CAPACITY, MAX_TTL_SECONDS, tablePrefixFault } from '../fields/rules'
import { refuse } from '../repositories/checking'
import { MAX_LANES } from './groups'
import type { OpenOptions, StoreOptions, TransactionOptions } from './types'

const MAX_CONNECTION_TIMEOUT_MS = 600_000
const MAX_POOL_SIZE = 10_000
const MAX_RETRIES = 1000

/** What goes wrong in the background, where nobody asked to be told. */
export function warn(error: unknown, doing: string): void {
  process.emitWarning(`recentn could not ${doing}: ${safeText(error)}`)
}

const STORE_RULES: Rules = {
  tablePrefix: tablePrefixFault,
  defaultCapacity: whole(1, MAX_CAPACITY),
  batching: anObject,
  sweep: aBoolean,
  publish: aBoolean,
  recentGroupsFeed: aBoolean,
  feeds: anObject,
  connectionTimeoutMs: whole(1, MAX_CONNECTION_TIMEOUT_MS),
  clockOffsetMs: aFunction,
  onBackgroundError: aFunction,
}
const OPEN_RULES: Rules = { ...STORE_RULES, url: aString, migrate: aBoolean, poolSize: whole(1, MAX_POOL_SIZE) }
const BATCHING_RULES: Rules = {
  lanes: whole(1, MAX_LANES),
  maxPendingItems: whole(1, Number.MAX_SAFE_INTEGER),
  maxPendingBytes: whole(1, Number.MAX_SAFE_INTEGER),
}
const FEEDS_RULES: Rules = { tombstoneSeconds: whole(1, MAX_TTL_SECONDS) }
const TRANSACTION_RULES: Rules = { retries: whole(0, MAX_RETRIES) }

/** Throws `invalid_input` with every fault. */
export function checkOpenOptions(options: OpenOptions): void {
  refuse([...faultsOf(options, OPEN_RULES, '', ['url']), ...storePartFaults(options)])
}

/** Throws `invalid_input` with every fault. */
export function checkAttach(dataSource: DataSource, options: StoreOptions): void {
  // Not instanceof: the user's TypeORM may be another copy of it.
  const isOpen = InstanceChecker.isDataSource(dataSource) && dataSource.isInitialized
  const detail = 'must be a DataSource of TypeORM that is initialized'
  refuse([
    ...(isOpen ? [] : [{ parameter: 'dataSource', detail }]),
    ...faultsOf(options, STORE_RULES, ''),
    ...storePartFaults(options),
  ])
}

function storePartFaults(options: StoreOptions): Fault[] {
  return [
    ...partFaults(options?.batching, BATCHING_RULES, '/batching'),
    ...partFaults(options?.feeds, FEEDS_RULES, '/feeds'),
  ]
}

/** The options. Throws `invalid_input` with every fault. */
export function checkedTransaction(work: unknown, options: TransactionOptions): TransactionOptions {
  const detail = aFunction(work)
  refuse([...(detail === null ? [] : [{ parameter: 'work', detail }]), ...faultsOf(options, TRANSACTION_RULES, '')])
  return options
}

/** What is no fault of the network is one of the address, the password, the privileges or the file: worth no retry. */
export function openingFault(engine: Engine, options: DataSourceOptions, error: unknown): unknown {
  const told = translated(error, engine, () => locationOf(options))
  const isFile = options.type === 'better-sqlite3'
  if (told instanceof RecentnError && !(isFile && told.code === 'database_unavailable')) return told
  const reason = (error as Error).message
  return new RecentnError('database_refused', `${locationOf(options)} can't be used: ${reason}`, { cause: error })
}
