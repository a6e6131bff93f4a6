/**
 * Notices that the file of an open SQLite connection was deleted, or that another file has taken its place. SQLite itself
 * does not: it goes on to acknowledge commits to a file that nobody will find again.
 *
 * Invariant: at most a second passes between the last look at the file and a statement. There is no timer: an idle
 * connection looks at nothing.
 */
import { type BigIntStats, statSync } from 'node:fs'
import path from 'node:path'
import { RecentnError } from '../errors'
import { performance } from '../real-time'

const LOOK_MS = 1000

export class WatchedFile {
  readonly #path: string
  readonly #identity: string | null
  #lookedAt = performance.now()

  /** The connection must just have been opened. */
  constructor(file: string) {
    this.#path = path.resolve(file)
    this.#identity = this.#look()
  }

  /** Throws `database_unavailable` if the file is not the one that was opened. */
  require(): void {
    const now = performance.now()
    if (now - this.#lookedAt < LOOK_MS) return
    if (this.#look() !== this.#identity) {
      throw new RecentnError(
        'database_unavailable',
        `The file ${this.#path} was deleted or replaced while it was open: put it back, or restart the process`,
        { retryAfterMs: 1000 },
      )
    }
    this.#lookedAt = now
  }

  /** What tells the file from any other; null if there is none. If it cannot be looked at, it is taken for the same. */
  #look(): string | null {
    let found: BigIntStats | undefined
    try {
      found = statSync(this.#path, { bigint: true, throwIfNoEntry: false })
    } catch {
      return this.#identity
    }
    return found === undefined ? null : `${found.dev}/${found.ino}`
  }
}
