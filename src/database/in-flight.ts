/** Counts the running operations of a database, so that closing can refuse new ones and wait for these. */
import { RecentnError } from '../errors'

export class InFlight {
  #count = 0
  #isClosed = false
  #idle: (() => void) | null = null

  /** Throws `closed` after `drain`. Otherwise `end` must follow. */
  begin(): void {
    if (this.#isClosed) throw new RecentnError('closed')
    this.#count++
  }

  end(): void {
    this.#count--
    if (this.#count === 0) this.#idle?.()
  }

  /** Refuses later operations; resolves when those that run have ended. */
  async drain(): Promise<void> {
    this.#isClosed = true
    if (this.#count === 0) return
    await new Promise<void>((resolve) => {
      this.#idle = resolve
    })
  }
}
