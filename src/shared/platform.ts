/**
 * The clock and the timers of the process, as they were when this module was loaded. Fake timers, which the tests of an app
 * turn on later, replace the globals: a store that went by those would never get its turn. They are named like the
 * globals, so that a module imports them and nothing else changes in it.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { performance as processClock } from 'node:perf_hooks'
import * as timers from 'node:timers'
import * as timersPromises from 'node:timers/promises'
import type { Clock } from './backoff'

export { AsyncLocalStorage }

/** Replaced only by tests of recentn itself. */
export const real = { setTimeout: timers.setTimeout }

export const performance = { now: processClock.now.bind(processClock) }
export const setTimeout = ((run: () => void, ms?: number, ...given: []) =>
  real.setTimeout(run, ms, ...given)) as typeof timers.setTimeout
export const { clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = timers
export const { nextTick } = process
/** Milliseconds since 1970: for times that leave the process. `performance` measures. */
export const wallClockMs = Date.now.bind(Date)
/** Resolves after that many milliseconds. */
export const { setTimeout: delay } = timersPromises

/** For what is given its clock. A pause keeps no process alive. */
export const CLOCK: Clock = {
  now: performance.now,
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
  endOfTurn: setImmediate,
  pause: (ms, signal) => delay(ms, undefined, { signal, ref: false }).catch(() => {}),
}

const OUTSIDE = new AsyncResource('recentn')

/**
 * Runs the work in the asynchronous context in which this module was loaded: in no caller's. Work that serves the whole process
 * must not look as if it ran inside the transaction, the handler or the request of the caller that happened to begin it.
 */
export function outside<T>(work: () => T): T {
  return OUTSIDE.runInAsyncScope(work)
}
