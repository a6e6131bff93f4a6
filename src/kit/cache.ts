/**
 * An answer that is kept for a while, because it is dear: whoever asks meanwhile gets the same. The dearer it is the longer
 * it is kept, so that at most a small part of the time goes into it.
 */
import { AsyncResource } from 'node:async_hooks'

/** An answer serves many callers: it is found inside no transaction of one of them. */
const OUTSIDE = new AsyncResource('recentn.Kept')

/** An answer may be 5 s old; a part of that is for finding it. */
const FRESH_MS = 4000
/** At most such a part of the time is spent finding it. */
const SHARE = 20

export class Kept<T> {
  readonly #find: () => Promise<T>
  #until = Number.NEGATIVE_INFINITY
  #answer: Promise<T> | null = null

  constructor(find: () => Promise<T>) {
    this.#find = find
  }

  get(): Promise<T> {
    const since = performance.now()
    if (this.#answer && since < this.#until) return this.#answer
    const answer = OUTSIDE.runInAsyncScope(() => this.#find())
    this.#answer = answer
    this.#until = Number.POSITIVE_INFINITY
    answer.then(
      () => {
        this.#until = since + Math.max(FRESH_MS, (performance.now() - since) * SHARE)
      },
      () => {
        this.#answer = null
      },
    )
    return answer
  }
}
