/**
 * Node, and a look at what a test file leaves behind. A socket, a server, a child or a timer that is still there when its
 * tests are over keeps the worker from ending, and may disturb the next file. Such a file fails.
 */
const { AsyncLocalStorage } = require('node:async_hooks')
const { Socket } = require('node:net')
const timers = require('node:timers')
const { TestEnvironment } = require('jest-environment-node')
require('./compile-once.cjs')

/** Handles that close by themselves a moment later: the end of a socket, of a child. */
const PATIENCE_MS = 5000
/**
 * Frames of a stack. Jest has 100 of them written down, and `expect` makes an error at each call: a tenth of what a file
 * of many expectations costs.
 */
const FRAMES = 20
/** When this many timers are noted, those that are over are forgotten. */
let many = 10_000

/**
 * Kinds of resources by how many there are; those of the worker itself, and of jest, were there before. Node opens a
 * worker's output when it is first named, so a first warning would count as left behind: the caller names both.
 */
function active(..._opened) {
  const kinds = new Map()
  for (const kind of process.getActiveResourcesInfo()) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  return kinds
}

/**
 * The timers that a file sets, each with where that was. Jest has its own timers in this process, which come and go, so
 * that the number of all timers says nothing.
 */
const timersSet = new Map()
for (const name of ['setTimeout', 'setInterval']) {
  const set = timers[name]
  const noted = (...args) => {
    const timer = set(...args)
    timersSet.set(timer, new Error(name))
    if (timersSet.size >= many) forgetOver()
    return timer
  }
  Object.defineProperties(noted, Object.getOwnPropertyDescriptors(set))
  timers[name] = noted
}

const isOver = (timer) => timer._destroyed || !timer.hasRef()

function forgetOver() {
  for (const timer of timersSet.keys()) if (timer._destroyed) timersSet.delete(timer)
  many = Math.max(10_000, 2 * timersSet.size)
}

function timersLeft() {
  return [...timersSet]
    .filter(([timer]) => !isOver(timer))
    .map(([, { stack }]) => stack.replace(/^Error: /, 'a timer: '))
}

/** The connections that a file makes, each with where that was. */
const connected = new Map()
const { connect } = Socket.prototype
Socket.prototype.connect = function (...args) {
  connected.set(this, new Error('connect'))
  this.once('close', () => connected.delete(this))
  return connect.apply(this, args)
}

function connectionsLeft() {
  return [...connected].map(([socket, { stack }]) => stack.replace(/^Error: connect/, `to port ${socket.remotePort}:`))
}

/**
 * Until Node 24 every promise of a process pays for each AsyncLocalStorage that was ever used in it. A file loads its own
 * copy of each module, and so has its own storages, which would make all later files of its worker slower.
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

/**
 * When a worker's loop is empty and nothing is left, Node still frees its heap piece by piece, which takes longer than the
 * half second that jest waits before it says that the worker "failed to exit gracefully". `exit` within `exit` ends at once.
 */
if (process.send) process.once('exit', () => process.exit())

module.exports = class LeavesNothing extends TestEnvironment {
  #before = active(process.stdout, process.stderr)

  constructor(...args) {
    super(...args)
    this.global.Error.stackTraceLimit = FRAMES
    // For the file, and not for jest.
    this.global.setTimeout = timers.setTimeout
    this.global.setInterval = timers.setInterval
  }

  async handleTestEvent(event, state) {
    if (event.name !== 'run_finish') return
    let left = this.#left()
    for (const end = Date.now() + PATIENCE_MS; left.length > 0 && Date.now() < end; left = this.#left()) {
      await new Promise((resolve) => setTimeout(resolve, 20).unref())
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (left.length === 0) return
    // Beside the failures of its tests: a test that fails closes nothing, and an error thrown here would be all that jest says.
    state.unhandledErrors.push(
      new Error(`This file's tests are over, and it leaves ${[...left, ...connectionsLeft()].join(', ')}`),
    )
  }

  async teardown() {
    await super.teardown()
    disableStorages()
    timersSet.clear()
    connected.clear()
  }

  #left() {
    const kinds = [...active()].filter(([kind]) => kind !== 'Immediate' && kind !== 'Timeout')
    const more = kinds.map(([kind, count]) => [kind, count - (this.#before.get(kind) ?? 0)])
    return [...more.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`), ...timersLeft()]
  }
}
