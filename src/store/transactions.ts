/**
 * The transactions of a store, and its calls that take part in the transaction around them (`join: 'ambient'`). Each goes to the
 * object that the transaction has, as `tx` would have it.
 */
import type { Session } from '../database/engine'
import type { Joinable } from '../database/inside'
import { sessionWithin, type TransactionSession } from '../database/operations'
import type { Setting } from '../database/statements'
import type { Database } from '../database/transaction'
import { RecentnError } from '../shared/errors'
import { outside } from '../shared/platform'
import { checkedTransaction, withManager } from './options'
import type { Transaction, TransactionOptions } from './types'

type Operations = Omit<Transaction, 'manager'>
type Managed = Pick<Transaction, 'manager'>

interface Joined {
  session: TransactionSession
  given: Operations
  tx: Managed
}

interface TransactionsOptions {
  database: Database
  setting: Setting
  joins: boolean
  operationsOn: (session: Session) => Operations
}

export class Transactions {
  readonly #joined = new WeakMap<Joinable, Joined>()
  isClosed = false

  constructor(private readonly options: TransactionsOptions) {}

  async run<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const { retries = 10, run } = checkedTransaction(work, options)
    const around = this.#around()
    if (around) return around.session.within((session) => this.#inside(session, around.tx, run))
    return this.options.database.write((tx, session) => this.#inside(session, tx, run), { retries })
  }

  #inside<T>(session: TransactionSession, tx: Managed, run: (tx: Transaction) => Promise<T>): Promise<T> {
    const { database, operationsOn } = this.options
    const given = operationsOn(session)
    return database.inside(tx, (scope) => {
      this.#joined.set(scope, { session, given, tx })
      return run(withManager({ ...given }, tx))
    })
  }

  /** The transaction that the running code takes part in; null where there is none. Throws where it has ended. */
  #around(): Joined | null {
    const { database, joins } = this.options
    const scope = joins ? database.around() : null
    if (scope === null) return null
    if (this.isClosed) throw new RecentnError('closed')
    const joined = this.#joined.get(scope) ?? this.#join(scope.given)
    this.#joined.set(scope, joined)
    return joined
  }

  #join(tx: Managed): Joined {
    const { setting, operationsOn } = this.options
    const session = sessionWithin(tx.manager, setting)
    return { session, given: operationsOn(session), tx }
  }

  /** A noun of the store. Inside of a transaction its calls are those of the transaction. */
  on<Noun extends object>(noun: keyof Operations, alone: Noun): Noun {
    if (!this.options.joins) return alone
    const get = (_: Noun, key: string | symbol) => {
      const own = Reflect.get(alone, key)
      if (typeof own !== 'function' || typeof key === 'symbol') return own
      const call = own.bind(alone) as Call
      // These start work that belongs to no transaction.
      if (STARTERS.has(key)) return (...given: unknown[]) => outside(() => call(...given))
      return async (...given: unknown[]) => {
        const joined = this.#around()?.given[noun] as Record<string, Call> | undefined
        if (joined === undefined) return call(...given)
        if (typeof joined[key] === 'function') return joined[key](...given)
        throw new RecentnError('misuse', `${noun}.${key} takes part in no transaction: call it outside of transactions`)
      }
    }
    return new Proxy(alone, { get })
  }
}

type Call = (...given: unknown[]) => unknown

const STARTERS = new Set(['work', 'workMany', 'consume', 'watch'])
