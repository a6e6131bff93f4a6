/**
 * Work that serves the whole process must not look as if it ran inside the transaction, the handler or the request of the
 * caller that happened to begin it. One resource for all: database, kit and store use it.
 */
import { AsyncResource } from 'node:async_hooks'

const OUTSIDE = new AsyncResource('recentn')

/** Runs the work in the asynchronous context in which this module was loaded: in nobody's. */
export function outside<T>(work: () => T): T {
  return OUTSIDE.runInAsyncScope(work)
}
