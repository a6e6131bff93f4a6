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
import type { DataSource, QueryRunner } from 'typeorm'
import { endsWithin } from '../../shared/backoff'
import { CLOCK, performance } from '../../shared/platform'
import { runnerView } from '../attached/driver-view'

/** As long as TypeORM's connections wait by default; then SQLite decides. */
const TIME_LIMIT_MS = 5000

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

  /** Has the runner of the user's DataSource wait for the store, until the returned function is called. */
  share(user: DataSource): () => void {
    const place = user.driver as unknown as RunnerPlace
    const given = user.createQueryRunner()
    const shared = waitingRunners.get(given) ?? waitingRunner(given)
    shared.files.add(this)
    place.queryRunner = shared.view
    return () => {
      shared.files.delete(this)
      if (shared.files.size === 0 && place.queryRunner === shared.view) place.queryRunner = shared.runner
    }
  }

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
    const deadline = performance.now() + TIME_LIMIT_MS
    while (this.#isStoreWriting && performance.now() < deadline) {
      const ended = new Promise<void>((resolve) => this.#waiters.push(resolve))
      await endsWithin(CLOCK, deadline - performance.now(), ended)
    }
  }
}

/** TypeORM's driver of SQLite keeps the one runner of its connection, which it hands out to all, here. */
interface RunnerPlace {
  queryRunner?: QueryRunner
}

/** A runner, and the view of it that waits: one for all stores that are attached. */
interface WaitingRunner {
  files: Set<SharedFile>
  runner: QueryRunner
  view: QueryRunner
}

/** By their views. */
const waitingRunners = new WeakMap<QueryRunner, WaitingRunner>()

function waitingRunner(runner: QueryRunner): WaitingRunner {
  const files = new Set<SharedFile>()
  const original = runner.query as (...given: unknown[]) => Promise<unknown>
  const query = (sql: string, ...rest: unknown[]) => {
    const run = () => original.call(view, sql, ...rest)
    if (READS.test(sql)) return run()
    return [...files].reduce((statement, file) => () => file.runForUser(statement), run)()
  }
  const view = runnerView(runner, { query: query as QueryRunner['query'] })
  const shared = { files, runner, view }
  waitingRunners.set(view, shared)
  return shared
}
