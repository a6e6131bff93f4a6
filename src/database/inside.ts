/**
 * Which transactions the running code is inside of, as far as its asynchronous context shows. A call that would wait for
 * a connection while the code around it holds one may wait for itself: it is refused at once.
 *
 * Seen are `store.transaction`, and the callbacks of `transaction` of a DataSource and of its manager. A transaction that
 * a query runner begins by hand has no callback, so that nothing shows which code belongs to it: `AsyncLocalStorage`
 * could only mark all that its caller does from then on. Such a call finds its end by the timeout (`connections.ts`).
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { DataSource, EntityManager } from 'typeorm'
import { RecentnError } from '../errors'

/** What to do about a store call inside a transaction. */
export const USE_WITHIN =
  'inside dataSource.transaction(…) call store.within(manager) in place of the store, and inside store.transaction(…) use the tx that is passed in'

export interface Holder {
  /** What the transaction takes a connection from: a DataSource, or the gate of a SQLite connection. */
  source: object
  isOpen: boolean
  outer: Holder | undefined
}

/** The transaction that the running code is inside of. */
export const holding = new AsyncLocalStorage<Holder>()

/** True for code that a transaction on this source runs: what it asks of the store itself must not wait. */
export function isInside(source: object): boolean {
  for (let holder = holding.getStore(); holder; holder = holder.outer) {
    if (holder.isOpen && holder.source === source) return true
  }
  return false
}

const WAITS_FOR_ITSELF = `An operation of the store was called inside an open transaction of its own database, where it could wait for itself: ${USE_WITHIN}`

/** Throws `conflict` inside a transaction on this source. */
export function requireOutside(source: object, why = WAITS_FOR_ITSELF): void {
  if (isInside(source)) throw new RecentnError('conflict', why)
}

/** A transaction on this source that begins here: code under `holding.run(holder, …)` is inside it until `isOpen` is false. */
export function newHolder(source: object): Holder {
  let outer = holding.getStore()
  // Transactions that are over are dropped, so that a chain of transactions that begin one another does not grow.
  while (outer && !outer.isOpen) outer = outer.outer
  return { source, isOpen: true, outer }
}

async function runInside<T>(source: object, work: () => Promise<T>): Promise<T> {
  const holder = newHolder(source)
  try {
    return await holding.run(holder, work)
  } finally {
    holder.isOpen = false // what the work left running is outside of the transaction
  }
}

type Transact = EntityManager['transaction']

/** A manager whose transactions are seen; one wrapper, however many stores are attached to the DataSource. */
interface Seen {
  /** How many stores see them, by what these stores' connections are taken from. */
  stores: Map<object, number>
  wrapper: Transact
  restore(): void
}

const seen = new WeakMap<EntityManager, Seen>()

/** Has code in the callbacks of the DataSource's `transaction` seen as inside, until the returned function is called. */
export function seeTransactions({ manager }: DataSource, source: object): () => void {
  const known = seen.get(manager) ?? wrap(manager)
  const { stores } = known
  stores.set(source, (stores.get(source) ?? 0) + 1)
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    const left = (stores.get(source) ?? 1) - 1
    if (left > 0) stores.set(source, left)
    else stores.delete(source)
    // Where somebody else has wrapped ours it stays, and passes everything through.
    if (stores.size > 0 || manager.transaction !== known.wrapper) return
    seen.delete(manager)
    known.restore()
  }
}

function wrap(manager: EntityManager): Seen {
  const own = Object.hasOwn(manager, 'transaction') ? manager.transaction : null
  const stores: Seen['stores'] = new Map()
  const wrapper = (...parameters: unknown[]) => {
    const at = typeof parameters[0] === 'function' ? 0 : 1
    const work = parameters[at] as (manager: EntityManager) => Promise<unknown>
    const given = [...parameters]
    // The commit and what listens to it are outside: a connection is then about to be free.
    if (typeof work === 'function') given[at] = (inner: EntityManager) => runInsideAll([...stores.keys()], work, inner)
    // Looked up with each call: the user's libraries may wrap that of the class later.
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
  return runInside(source, () => runInsideAll(others, work, manager))
}
