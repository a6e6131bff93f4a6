/**
 * The transactions and the handlers that the running code is in, by its asynchronous context. A call that waits for the end of
 * one must not be waited for inside it; a call that belongs to a transaction may take part in it.
 *
 * One `AsyncLocalStorage` serves them all. Until Node 24 each one that was ever used makes every later promise of the process
 * slower.
 */
import { AsyncLocalStorage } from './platform'

export interface CodeScope<Given = unknown> {
  /** The owner of the scope: the source of a transaction's connection, or the object that has handlers. */
  readonly owner: object
  /** The object that code inside takes part in; undefined where there is none. */
  readonly given: Given
  /** False once it has ended, for code that it left running. */
  isOpen: boolean
}

interface Surrounding {
  scope: CodeScope
  outer: Surrounding | undefined
}

const surroundings = new AsyncLocalStorage<Surrounding>()

/** Runs the work inside of a scope, which ends with it. */
export async function inScope<T, Given>(
  owner: object,
  given: Given,
  work: (scope: CodeScope<Given>) => T | Promise<T>,
): Promise<T> {
  const scope = { owner, given, isOpen: true }
  try {
    return await surroundings.run({ scope, outer: kept(surroundings.getStore(), [owner]) }, () => work(scope))
  } finally {
    scope.isOpen = false
  }
}

/** The innermost scope of the owner; null where the code is in none. `isOpen`: only those that have not ended. */
function scopeOf(owner: object, isOpen: boolean): CodeScope | null {
  for (let at = surroundings.getStore(); at; at = at.outer) {
    if (at.scope.owner === owner && (at.scope.isOpen || !isOpen)) return at.scope
  }
  return null
}

export const openScope = (owner: object) => scopeOf(owner, true)
export const isIn = (owner: object): boolean => openScope(owner) !== null
/** Also where it has ended. */
export const innermost = (owner: object) => scopeOf(owner, false)

/** Without ended scopes that are of no more use, so that a chain of scopes that each begin the next one does not grow. */
function kept(at: Surrounding | undefined, owners: readonly object[]): Surrounding | undefined {
  if (at === undefined) return undefined
  const { scope, outer } = at
  const isUsed = scope.isOpen || (scope.given !== undefined && !owners.includes(scope.owner))
  if (!isUsed) return kept(outer, owners)
  return { scope, outer: kept(outer, [...owners, scope.owner]) }
}
