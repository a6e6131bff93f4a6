/**
 * Two connections of one process on one SQLite file: the user's (TypeORM's one query runner) and the store's.
 *
 * better-sqlite3 waits for a lock by blocking the event loop, so that a statement of the user's that met an open
 * transaction of ours would keep us from ending it, and fail after five seconds. So the user's writing statements wait
 * here, without blocking, while a transaction of ours is open; and ours begins only when no statement of theirs runs.
 * A transaction of the user's is never waited for here: SQLite refuses ours at once (busy timeout 0), and it is tried
 * again later.
 */
import type { QueryRunner } from 'typeorm'

/** As long as TypeORM's connections wait by default; then SQLite decides. */
const PATIENCE_MS = 5000

const READS = /^\s*(select|pragma|explain|values)\b/i

export class Courtesy {
  #ours = false
  #theirs = 0
  #waiters: (() => void)[] = []

  /** True when ours may begin now; then `end` must follow. */
  begin(): boolean {
    if (this.#theirs > 0) return false
    this.#ours = true
    return true
  }

  end(): void {
    this.#ours = false
    for (const wake of this.#waiters.splice(0)) wake()
  }

  /** Makes the user's runner wait for us, until the function that is given back is called. */
  teach(runner: QueryRunner): () => void {
    const untaught = runner.query
    const original = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>
    const query = async (sql: string, ...rest: unknown[]) => {
      if (READS.test(sql)) return original(sql, ...rest)
      await this.#oursEnded()
      this.#theirs++
      try {
        return await original(sql, ...rest)
      } finally {
        this.#theirs--
      }
    }
    const taught = query as QueryRunner['query']
    runner.query = taught
    return () => {
      if (runner.query === taught) runner.query = untaught
    }
  }

  async #oursEnded(): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS
    while (this.#ours && Date.now() < deadline) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - Date.now())
        this.#waiters.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }
}
