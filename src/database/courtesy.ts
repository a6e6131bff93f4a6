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
    const taught = pupils.get(runner) ?? pupil(runner)
    taught.teachers.add(this)
    return () => {
      taught.teachers.delete(this)
      if (taught.teachers.size > 0) return
      pupils.delete(runner)
      runner.query = taught.untaught
    }
  }

  /** Runs a statement of theirs when none of ours is in its way. */
  async yields<T>(statement: () => Promise<T>): Promise<T> {
    await this.#oursEnded()
    this.#theirs++
    try {
      return await statement()
    } finally {
      this.#theirs--
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

/** A runner that waits: for each store that is attached, in one wrapper. */
interface Pupil {
  teachers: Set<Courtesy>
  untaught: QueryRunner['query']
}

const pupils = new WeakMap<QueryRunner, Pupil>()

function pupil(runner: QueryRunner): Pupil {
  const teachers = new Set<Courtesy>()
  const taught: Pupil = { teachers, untaught: runner.query }
  const original = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>
  const query = (sql: string, ...rest: unknown[]) => {
    const run = () => original(sql, ...rest)
    if (READS.test(sql)) return run()
    return [...teachers].reduce((statement, teacher) => () => teacher.yields(statement), run)()
  }
  runner.query = query as QueryRunner['query']
  pupils.set(runner, taught)
  return taught
}
