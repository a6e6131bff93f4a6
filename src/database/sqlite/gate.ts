/**
 * The turns of callers at SQLite's one connection (`sqlite-connection.ts`). Owns the queue.
 *
 * Invariant: first come, first served; one caller at a time has its turn. Only reads may pass the caller at its turn, and
 * only while that waits for the lock of another connection: then no transaction is open on this one.
 */
import { clearTimeout, delay, performance, setImmediate, setTimeout } from '../../shared/platform'
import { requireOutside } from '../inside'
import { noneFree } from '../pool/cut-off'
import { DatabaseCounts } from '../retries'

/** How long callers may follow each other at the gate without a turn of the event loop. */
const BREATHE_MS = 10

export const BUSY = 'The one SQLite connection did not become free'

export type Leave = () => void

/** The end of the turn of a read that has passed the caller at its turn: there is nothing to end. */
export const PASSED: Leave = () => {}

export class Gate {
  #tail: Promise<void> = Promise.resolve()
  #waiting = 0
  #breathedAt = Number.NEGATIVE_INFINITY
  /** True while the caller at its turn only waits for the lock of another connection: reads may pass it. */
  #isLockAwaited = false
  readonly #passing = new Set<() => void>()
  /** Counts of everything that goes through the gate. */
  readonly counts = new DatabaseCounts()

  get waiting(): number {
    return this.#waiting
  }

  /**
   * Resolves at the caller's turn, to the function that ends the turn. Throws `overloaded` if the turn does not come
   * within `timeoutMs`, and `misuse` inside a transaction that holds the gate, because the call would wait for
   * itself. A read (`mayPass`) does not wait for its turn behind a caller that waits for the lock of another connection.
   * No transaction is open then, and WAL readers need no lock.
   */
  async enter(timeoutMs: number, mayPass = false): Promise<Leave> {
    requireOutside(this)
    const before = this.#tail
    const free = this.#waiting === 0
    let leave: Leave = () => {}
    this.#waiting++
    this.#tail = new Promise((resolve) => {
      leave = () => {
        this.#waiting--
        resolve()
      }
    })
    const turn = free ? leave : await this.#turn(before, leave, timeoutMs, mayPass)
    await this.#breathe()
    return turn
  }

  /** A pause of the caller at its turn, which waits for the lock of another connection. */
  async awaitLock(pauseMs: number): Promise<void> {
    this.#isLockAwaited = true
    for (const pass of this.#passing) pass()
    await delay(pauseMs)
    this.#isLockAwaited = false
  }

  /** Lets timers and sockets have their turn: better-sqlite3 answers at once, so callers would block the event loop for ever. */
  async #breathe(): Promise<void> {
    if (performance.now() - this.#breathedAt < BREATHE_MS) return
    await new Promise(setImmediate)
    this.#breathedAt = performance.now()
  }

  async #turn(before: Promise<void>, leave: Leave, timeoutMs: number, mayPass: boolean): Promise<Leave> {
    let stop = (_: 'late' | 'passed') => {}
    const stopped = new Promise<'late' | 'passed'>((resolve) => {
      stop = resolve
    })
    const pass = () => stop('passed')
    const timer = setTimeout(() => stop('late'), timeoutMs)
    if (mayPass) this.#passing.add(pass)
    if (mayPass && this.#isLockAwaited) pass()
    const outcome = await Promise.race([before, stopped])
    clearTimeout(timer)
    this.#passing.delete(pass)
    if (outcome === undefined) return leave
    before.then(leave) // the callers behind this one still wait for the one before it
    if (outcome === 'passed') return PASSED
    throw noneFree(BUSY, timeoutMs)
  }
}
