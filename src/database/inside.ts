/**
 * Knows the transactions that the running code is inside of. A call that waits for a connection while the code around it holds
 * one may wait for itself: it is refused at once, unless the store joins such transactions (`store/joining.ts`).
 *
 * It knows `store.transaction`, and the callbacks of `transaction` of a DataSource and of its managers. A transaction
 * that a query runner begins has no callback, so nothing shows which code belongs to it: `AsyncLocalStorage` could only
 * mark everything that its caller does from then on. A call inside such a transaction ends by the timeout
 * (`bounded-pool.ts`).
 */
import type { DataSource, EntityManager } from 'typeorm'
import { RecentnError } from '../shared/errors'
import { type CodeScope, innermost, inScope, isIn } from '../shared/scopes'

/** The advice about a store call inside a transaction. */
export const USE_WITHIN =
  "inside dataSource.transaction(…) call store.within(manager) in place of the store, and inside store.transaction(…) use the tx that is passed in, or open the store with join: 'ambient'"

/** The scope by which a call inside of the transaction takes part in it. Its owner is the source of the connection. */
export type Joinable = CodeScope<{ readonly manager: EntityManager }>

const WAITS_FOR_ITSELF = `An operation of the store was called inside an open transaction of the same database, where it could wait for itself: ${USE_WITHIN}`

/** Throws `misuse` inside a transaction on this source: a DataSource, or the gate of a SQLite connection. */
export function requireOutside(source: object, why = WAITS_FOR_ITSELF): void {
  if (isIn(source)) throw new RecentnError('misuse', why)
}

/** The transaction on this source that the running code belongs to; null where there is none. Throws `closed` if it has ended. */
export function transactionAround(source: object): Joinable | null {
  const scope = innermost(source) as Joinable | null
  if (scope?.isOpen === false) throw new RecentnError('closed', ENDED)
  return scope
}

const ENDED =
  'The transaction in which this call was begun has ended: await every call inside of the transaction that it belongs to'

type Transact = EntityManager['transaction']

/** A manager whose transactions are known. It has one wrapper, however many stores are attached to the DataSource. */
interface Seen {
  /** How many stores know them, by the source of these stores' connections. */
  stores: Map<object, number>
  wrapper: Transact
  restore(): void
}

const seen = new WeakMap<EntityManager, Seen>()

/** Makes code in the callbacks of the DataSource's `transaction` count as inside, until the returned function is called. */
export function seeTransactions({ manager }: DataSource, source: object): () => void {
  const known = seen.get(manager) ?? wrap(manager, new Map())
  const { stores } = known
  stores.set(source, (stores.get(source) ?? 0) + 1)
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    const left = (stores.get(source) ?? 1) - 1
    if (left > 0) stores.set(source, left)
    else stores.delete(source)
    // If other code has wrapped our wrapper, it stays and passes every call through.
    if (stores.size > 0 || manager.transaction !== known.wrapper) return
    seen.delete(manager)
    known.restore()
  }
}

function wrap(manager: EntityManager, stores: Seen['stores']): Seen {
  const own = Object.hasOwn(manager, 'transaction') ? manager.transaction : null
  const wrapper = (...parameters: unknown[]) => {
    const at = typeof parameters[0] === 'function' ? 0 : 1
    const work = parameters[at] as (manager: EntityManager) => Promise<unknown>
    const given = [...parameters]
    // The commit and its listeners count as outside, because the connection is about to be free.
    if (typeof work === 'function') {
      given[at] = (inner: EntityManager) => {
        // For transactions inside of it, each of which ends by itself.
        if (!seen.has(inner)) wrap(inner, stores)
        return runInsideAll([...stores.keys()], work, inner)
      }
    }
    // Looked up with each call, because libraries of the user's may wrap the class's method later.
    const original: (...given: never[]) => unknown = own ?? Object.getPrototypeOf(manager).transaction
    return original.apply(manager, given as never[])
  }
  const restore = () => {
    if (own) manager.transaction = own
    else delete (manager as Partial<EntityManager>).transaction
  }
  const known = { stores, wrapper: wrapper as Transact, restore }
  manager.transaction = known.wrapper
  seen.set(manager, known)
  return known
}

async function runInsideAll<T>(
  [source, ...others]: readonly object[],
  work: (manager: EntityManager) => Promise<T>,
  manager: EntityManager,
): Promise<T> {
  if (source === undefined) return work(manager)
  return inScope(source, { manager }, () => runInsideAll(others, work, manager))
}
