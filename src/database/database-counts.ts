/**
 * Counts retries and failures by the error that caused them, and knows whether the disk is full. Reasons are error numbers
 * and codes of the engines, of which there are few; no text of an error is kept.
 */
import { performance } from '../shared/platform'
import { driverError } from './engine'

/** The most reasons that are counted separately, in case a server invents error numbers. */
const MAX_REASONS = 64

/** Sooner after a failure, a write that succeeds says nothing: on a full disk those succeed that need no more room. */
const ROOM_MS = 2000

export class DatabaseCounts {
  /** Work that was tried again after an error, by the error. */
  readonly retries = new Map<string, number>()
  /** Work that failed with a passing error after its last retry, by the error. */
  readonly failures = new Map<string, number>()

  readonly onDiskFull = new Set<(error: unknown) => void>()
  #fullAt: number | null = null

  /** Whether work has failed because the database's disk is full, and no write has succeeded since. */
  get isDiskFull(): boolean {
    return this.#fullAt !== null
  }

  foundFull(error: unknown): void {
    const wasFull = this.isDiskFull
    this.#fullAt = performance.now()
    if (!wasFull) for (const listener of this.onDiskFull) listener(error)
  }

  wrote(): void {
    if (this.#fullAt !== null && performance.now() - this.#fullAt >= ROOM_MS) this.#fullAt = null
  }

  retried(error: unknown): void {
    add(this.retries, reasonOf(error))
  }

  failed(error: unknown): void {
    add(this.failures, reasonOf(error))
  }
}

function add(counts: Map<string, number>, reason: string): void {
  const key = counts.has(reason) || counts.size < MAX_REASONS ? reason : 'other'
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** The number of the server's error (`1213`), or the code of the driver's or the system's (`ECONNRESET`, `SQLITE_BUSY`). */
function reasonOf(error: unknown): string {
  const { errno, code } = driverError(error)
  if (errno !== undefined && errno > 0) return String(errno)
  return code !== undefined && /^[A-Z0-9_]{1,64}$/.test(code) ? code : 'other'
}
