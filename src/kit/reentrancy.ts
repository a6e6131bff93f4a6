/**
 * Which handlers the code that runs is in: what waits for the end of a handler must not be waited for inside it.
 *
 * One `AsyncLocalStorage` serves all handlers of the process. Until Node 24 each one that was ever used makes every later
 * promise of the process slower, so pollers and consumers share it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

interface HandlerScope {
  owner: object
  /** False once the handler has ended, for code that it left running. */
  active: boolean
  outer: HandlerScope | undefined
}

const scopes = new AsyncLocalStorage<HandlerScope>()

export async function handling<R>(owner: object, handler: () => R | Promise<R>): Promise<R> {
  const scope = { owner, active: true, outer: innermost() }
  try {
    return await scopes.run(scope, handler)
  } finally {
    scope.active = false
  }
}

/** Whether the code that runs is in a handler of `owner` that has not ended. */
export function isHandling(owner: object): boolean {
  for (let scope = innermost(); scope; scope = scope.outer) if (scope.active && scope.owner === owner) return true
  return false
}

function innermost(): HandlerScope | undefined {
  let scope = scopes.getStore()
  while (scope && !scope.active) scope = scope.outer
  return scope
}
