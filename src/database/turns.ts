/**
 * The turns of operations in one transaction. A row lock does not keep a transaction from itself: two appends that run at once in
 * one transaction would both read the same last id. So the operations of one connection wait for each other, whichever handle was
 * called. Those of a transaction inside of it (a savepoint) wait for each other, and all others for that transaction as a whole.
 */
import { inScope, openScope } from '../shared/scopes'

/** The last operation of each connection, by what runs its statements, and of each transaction inside of it. */
const lastOperations = new WeakMap<object, Promise<unknown>>()

/** The object by which the running code takes turns. */
const turnsOn = (source: object): object => (openScope(source)?.given as object | undefined) ?? source

export function inTurn<T>(source: object, work: () => Promise<T>): Promise<T> {
  const turns = turnsOn(source)
  const before = lastOperations.get(turns) ?? Promise.resolve()
  const mine = before.then(work, work)
  const ended = mine.catch(() => {})
  lastOperations.set(turns, ended)
  return mine
}

/** Runs the work of a transaction inside of this one: its operations have their own turns. Waits for them, whatever comes of the work. */
export async function inTurnsOfItsOwn<T>(source: object, work: () => Promise<T>, ended: () => void): Promise<T> {
  const turns = {}
  try {
    return await inScope(source, turns, work)
  } catch (error) {
    ended()
    throw error
  } finally {
    await idle(turns)
    ended()
  }
}

/** Resolves when no operation runs; undefined where none has. */
export function settled(source: object): Promise<void> | undefined {
  return idle(turnsOn(source))
}

function idle(turns: object): Promise<void> | undefined {
  const last = lastOperations.get(turns)
  return last?.then(() => (lastOperations.get(turns) === last ? undefined : idle(turns)))
}
