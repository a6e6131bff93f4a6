/**
 * Work of this process that follows a commit: waking receivers, listeners and publishers, clearing caches. Owns the
 * listeners of one transaction.
 *
 * Invariant: a listener runs once, after the database has committed. It never runs after a rollback, nor when the
 * transaction went back to a savepoint that is older than the listener.
 */
import type { QueryRunner } from 'typeorm'
import { outside } from '../shared/platform'

export type CommitListener = () => void

const SAVEPOINT = /^\s*(SAVEPOINT|ROLLBACK(?:\s+WORK)?\s+TO(?:\s+SAVEPOINT)?)\s+[`"]?(\w+)/i
const COMMIT = /^\s*COMMIT\b/i
const ROLLBACK = /^\s*ROLLBACK\b/i

export class AfterCommit {
  #listeners: CommitListener[] = []
  /** How many listeners there were at each savepoint. */
  readonly #savepoints = new Map<string, number>()

  add(listener: CommitListener): void {
    this.#listeners.push(listener)
  }

  /** Notes a statement that has succeeded: a savepoint, or a return to one, drops what was added since. */
  follow(sql: string): void {
    const match = SAVEPOINT.exec(sql)
    if (match === null) return
    const [, verb, written] = match as unknown as [string, string, string]
    const name = written.toLowerCase()
    // A savepoint that is not known was made before the first listener was added.
    if (/^ROLLBACK/i.test(verb)) this.#listeners.length = this.#savepoints.get(name) ?? 0
    else this.#savepoints.set(name, this.#listeners.length)
  }

  /** The same; true if the statement has ended the transaction. After a commit the listeners have run. */
  ended(sql: string): boolean {
    this.follow(sql)
    const isCommit = COMMIT.test(sql)
    if (isCommit) this.run()
    return isCommit || (ROLLBACK.test(sql) && !SAVEPOINT.test(sql))
  }

  run(): void {
    if (this.#listeners.length === 0) return
    const listeners = this.#listeners
    this.#listeners = []
    // Listeners begin work of the whole process.
    outside(() => {
      for (const listener of listeners) listener()
    })
  }
}

const followed = new WeakMap<QueryRunner, AfterCommit>()

/**
 * The listeners of the transaction that a caller has begun on this runner. Its end is seen in the statements that pass
 * through `runner.query`, as those of TypeORM's own `commitTransaction` do. It is not seen where the transaction ends
 * without such a statement: by the driver's own connection, by DDL that commits implicitly, in a stored procedure. Then
 * no listener runs, and what they would have woken finds the news by looking.
 */
export function afterCommitOf(runner: QueryRunner): AfterCommit {
  const known = followed.get(runner)
  if (known) return known
  const listeners = new AfterCommit()
  const own = Object.hasOwn(runner, 'query') ? runner.query : null
  const query = runner.query.bind(runner) as (...parameters: unknown[]) => Promise<unknown>
  const following = async (sql: string, ...rest: unknown[]) => {
    const result = await query(sql, ...rest)
    if (listeners.ended(sql)) end()
    return result
  }
  const end = () => {
    followed.delete(runner)
    // Where somebody else has wrapped ours it stays, and passes everything through.
    if (runner.query !== following) return
    if (own) runner.query = own
    else delete (runner as Partial<QueryRunner>).query
  }
  runner.query = following as QueryRunner['query']
  followed.set(runner, listeners)
  return listeners
}
