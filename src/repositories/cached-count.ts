/**
 * An answer that is kept for a while, because it is expensive: all callers until then get the same. The longer it takes to
 * find, the longer it is kept, so that at most a small part of the time goes into it. Owns the answer; no SQL.
 */
import { outside, performance } from '../shared/platform'

/** An answer may be 5 s old; some of that time is for finding it. */
const FRESH_MS = 4000
/** At most one part in this many of the time is spent finding it. */
const SHARE = 20

export class CachedCount<T> {
  /** `share` 0: it is kept no longer if it takes longer. */
  constructor(private readonly share = SHARE) {}

  #until = Number.NEGATIVE_INFINITY
  #answer: Promise<T> | null = null

  get(find: () => Promise<T>): Promise<T> {
    const since = performance.now()
    if (this.#answer && since < this.#until) return this.#answer
    const answer = outside(find)
    this.#answer = answer
    this.#until = Number.POSITIVE_INFINITY
    answer.then(
      () => {
        this.#until = since + Math.max(FRESH_MS, (performance.now() - since) * this.share)
      },
      () => {
        this.#answer = null
      },
    )
    return answer
  }
}

const MAX_IDS = 10_000

export class CachedCounts<T> {
  readonly #counts = new Map<bigint, CachedCount<T>>()

  constructor(private readonly share?: number) {}

  get(id: bigint, find: () => Promise<T>): Promise<T> {
    const known = this.#counts.get(id) ?? new CachedCount<T>(this.share)
    if (this.#counts.size >= MAX_IDS) this.#counts.clear()
    this.#counts.set(id, known)
    return known.get(find)
  }

  delete(id: bigint): void {
    this.#counts.delete(id)
  }
}
