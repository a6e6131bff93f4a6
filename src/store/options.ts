/** The options of a store, and the errors about a database that can't be opened. */
import { type DataSource, type DataSourceOptions, InstanceChecker } from 'typeorm'
import type { Engine } from '../database/engine'
import { locationOf } from '../database/opening/location'
import { translated } from '../database/retries'
import { argumentFaults, faultsOf, refuse } from '../fields/field'
import { aFunction, anObject, option, storeFaults, TRANSACTION_RULES } from '../fields/options'
import { onAbort } from '../shared/backoff'
import { RecentnError } from '../shared/errors'
import { guarded } from '../shared/faults'
import { outside, performance } from '../shared/platform'
import { safeText } from '../shared/safe-text'
import type { BackgroundWork, OpenOptions, StoreOptions } from './option-types'
import type { Transaction, TransactionOptions } from './types'

export type Report = NonNullable<StoreOptions['onBackgroundError']>

/** Reports errors of the background; that the database is away only once, until it has answered again. */
export function reporter(
  { onBackgroundError = warn }: StoreOptions,
  database: { readonly answeredAt: number },
): Report {
  let reportedAt: number | null = null
  return (error, work) => {
    // A commit may be what the outage cuts off first.
    if (error instanceof RecentnError && /^(database_unavailable|outcome_unknown)$/.test(error.code)) {
      // A question of before the report may be answered after it.
      if (reportedAt !== null && database.answeredAt <= reportedAt) return
      reportedAt = performance.now()
    }
    // Perhaps in the middle of a call, whose error its caller is to get.
    guarded('onBackgroundError', () => outside(() => onBackgroundError(error, work)))
  }
}

export const keepsHistory = ({ history, sweep }: StoreOptions): boolean => history ?? sweep !== false

function warn(error: unknown, work: BackgroundWork): void {
  process.emitWarning(`recentn failed in the background (${work}): ${safeText(error)}`, { code: 'RECENTN_BACKGROUND' })
}

/** Throws `invalid_input` with every fault. */
export function checkOpenOptions(options: OpenOptions): void {
  if (anObject.fault(options) !== null) {
    refuse([{ parameter: 'options', detail: 'must be an object, such as { url: "sqlite:./recentn.db" }' }])
  }
  refuse(storeFaults(options, true))
}

/** Throws `invalid_input` with every fault. */
export function checkAttach(dataSource: DataSource, options: StoreOptions): void {
  refuse([...argumentFaults('dataSource', dataSource, OPEN_DATA_SOURCE), ...storeFaults(options, false)])
}

const OPEN_DATA_SOURCE = option((value) =>
  // Not instanceof: the user's TypeORM may be another copy of it.
  InstanceChecker.isDataSource(value) && value.isInitialized
    ? null
    : 'must be a DataSource of TypeORM that is initialized',
)

type WorkInTransaction<T> = (tx: Transaction) => Promise<T>

export function checkedTransaction<T>(
  work: WorkInTransaction<T>,
  options: TransactionOptions,
): TransactionOptions & { run: WorkInTransaction<T> } {
  refuse([...argumentFaults('work', work, aFunction), ...faultsOf(options, TRANSACTION_RULES)])
  const { signal } = options
  signal?.throwIfAborted()
  return { ...options, run: signal ? (tx) => untilAborted(signal, () => work(tx)) : work }
}

/** With the manager of the transaction, which is made when it is first asked for. */
export function withManager(given: Omit<Transaction, 'manager'>, tx: Pick<Transaction, 'manager'>): Transaction {
  return Object.defineProperty(given as Transaction, 'manager', { get: () => tx.manager, enumerable: true })
}

async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  let forget = () => {}
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => reject(signal.reason))
  })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    forget()
  }
}

/** An error that is not the network's is one of the address, the password, the privileges or the file: retrying is useless. */
export function openingFault(engine: Engine, options: DataSourceOptions, error: unknown): unknown {
  const told = translated(error, engine, () => locationOf(options))
  const isFile = options.type === 'better-sqlite3'
  if (told instanceof RecentnError && told.code === 'database_refused' && told.cause === error && !isFile) {
    return new RecentnError('database_refused', `${locationOf(options)} can't be used: ${told.message}`, {
      cause: error,
    })
  }
  if (told instanceof RecentnError && !(isFile && told.code === 'database_unavailable')) return told
  const { message: reason } = (error instanceof RecentnError ? (error.cause ?? error) : error) as Error
  return new RecentnError('database_refused', `${locationOf(options)} can't be used: ${reason}`, { cause: error })
}
