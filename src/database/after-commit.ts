/**
 * Work of this process that follows a commit: waking receivers, listeners and publishers, clearing caches. Owns the
 * listeners of one transaction.
 *
 * Invariant: a listener runs once, after the database has committed. It never runs after a rollback, nor when the
 * transaction went back to a savepoint that is older than the listener.
 */
import { outside } from '../shared/platform'

export type CommitListener = () => void

const SAVEPOINT = /^\s*(SAVEPOINT|ROLLBACK(?:\s+WORK)?\s+TO(?:\s+SAVEPOINT)?)\s+[`"]?(\w+)/i
const COMMIT = /^\s*COMMIT\b/i
const ROLLBACK = /^\s*ROLLBACK\b/i

export class AfterCommit {
  #listeners: CommitListener[] = []
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
