/**
 * Node, and a look at what a test file leaves behind: a socket, a server, a child or a timer that is still there when its
 * tests are over keeps the worker from ending, and may disturb the next file. Such a file fails.
 */
const { AsyncLocalStorage } = require('node:async_hooks')
const timers = require('node:timers')
const { TestEnvironment } = require('jest-environment-node')
require('./compile-once.cjs')

/** What closes by itself a moment later: the end of a socket, of a child. */
const PATIENCE_MS = 5000

/**
 * Kinds of resources by how many there are; those of the worker itself, and of jest, were there before. Node opens a
 * worker's output when it is first named, so a first warning would count as left behind: the caller names both.
 */
function active(..._opened) {
  const kinds = new Map()
  for (const kind of process.getActiveResourcesInfo()) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  return kinds
}

/** Timers that outlast the patience, each with where it was set, to name what a file leaves. */
const long = new Map()
for (const name of ['setTimeout', 'setInterval']) {
  const set = timers[name]
  const noted = (work, ms, ...rest) => {
    const timer = set(work, ms, ...rest)
    if (ms >= PATIENCE_MS || name === 'setInterval') long.set(timer, new Error(`${name}, ${ms} ms`))
    return timer
  }
  Object.defineProperties(noted, Object.getOwnPropertyDescriptors(set))
  timers[name] = noted
  globalThis[name] = noted
}

function longTimers() {
  const left = [...long].filter(([timer]) => timer.hasRef() && !timer._destroyed)
  return left.map(([, { stack }]) => stack.replace(/^Error: /, '\n')).join('')
}

/**
 * Until Node 24 every promise of a process pays for each AsyncLocalStorage that was ever used in it. A file loads its own
 * copy of each module, and so has storages of its own, which would make all later files of its worker slower.
 */
const storages = new Set()
const { run, enterWith } = AsyncLocalStorage.prototype
AsyncLocalStorage.prototype.run = function (...args) {
  storages.add(this)
  return run.apply(this, args)
}
AsyncLocalStorage.prototype.enterWith = function (...args) {
  storages.add(this)
  return enterWith.apply(this, args)
}

function disableStorages() {
  for (const storage of storages) storage.disable()
  storages.clear()
}

module.exports = class LeavesNothing extends TestEnvironment {
  #before = active(process.stdout, process.stderr)

  async handleTestEvent(event) {
    if (event.name !== 'run_finish') return
    let left = this.#left()
    for (const end = Date.now() + PATIENCE_MS; left.length > 0 && Date.now() < end; left = this.#left()) {
      await new Promise((resolve) => setTimeout(resolve, 20).unref())
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (left.length > 0) throw new Error(`This file's tests are over, and it leaves ${left.join(', ')}${longTimers()}`)
  }

  async teardown() {
    await super.teardown()
    disableStorages()
    long.clear()
  }

  #left() {
    const kinds = [...active()].filter(([kind]) => kind !== 'Immediate')
    const more = kinds.map(([kind, count]) => [kind, count - (this.#before.get(kind) ?? 0)])
    return more.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`)
  }
}
