/**
 * Keeps two connections of one process on one SQLite file out of each other's way: the user's (TypeORM's one query runner)
 * and the store's. Owns which of them writes.
 *
 * better-sqlite3 waits for a lock by blocking the event loop. A statement of the user's that met an open transaction of the
 * store would keep the store from ending it, and fail after five seconds. So the user's writing statements wait here,
 * without blocking, while the store has a transaction open; and the store begins one only when no statement of the user's
 * runs. The store does not wait here for the user's transactions: SQLite refuses its own at once (busy timeout 0), and the
 * store tries again later.
 */
import type { QueryRunner } from 'typeorm'
import { clearTimeout, performance, setTimeout } from '../../shared/platform'

/** As long as TypeORM's connections wait by default; then SQLite decides. */
const PATIENCE_MS = 5000

const READS = /^\s*(select|pragma|explain|values)\b/i

export class SharedFile {
  #isStoreWriting = false
  #userStatements = 0
  #waiters: (() => void)[] = []

  /** True when the store may begin now; then `end` must follow. */
  begin(): boolean {
    if (this.#userStatements > 0) return false
    this.#isStoreWriting = true
    return true
  }

  end(): void {
    this.#isStoreWriting = false
    for (const wake of this.#waiters.splice(0)) wake()
  }

  /** Makes the user's runner wait for the store, until the returned function is called. */
  wrap(runner: QueryRunner): () => void {
    const wrapped = wrappedRunners.get(runner) ?? wrapRunner(runner)
    wrapped.files.add(this)
    return () => {
      wrapped.files.delete(this)
      if (wrapped.files.size > 0) return
      wrappedRunners.delete(runner)
      runner.query = wrapped.query
    }
  }

  /** Runs a statement of the user's when the store has no transaction open. */
  async runForUser<T>(statement: () => Promise<T>): Promise<T> {
    await this.#storeHasEnded()
    this.#userStatements++
    try {
      return await statement()
    } finally {
      this.#userStatements--
    }
  }

  async #storeHasEnded(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    while (this.#isStoreWriting && performance.now() < deadline) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - performance.now())
        this.#waiters.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }
}

/** A runner that waits, with one wrapper for all stores that are attached. */
interface WrappedRunner {
  files: Set<SharedFile>
  /** Its own, from before. */
  query: QueryRunner['query']
}

const wrappedRunners = new WeakMap<QueryRunner, WrappedRunner>()

function wrapRunner(runner: QueryRunner): WrappedRunner {
  const wrapped: WrappedRunner = { files: new Set(), query: runner.query }
  const original = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>
  const query = (sql: string, ...rest: unknown[]) => {
    const run = () => original(sql, ...rest)
    if (READS.test(sql)) return run()
    return [...wrapped.files].reduce((statement, file) => () => file.runForUser(statement), run)()
  }
  runner.query = query as QueryRunner['query']
  wrappedRunners.set(runner, wrapped)
  return wrapped
}
