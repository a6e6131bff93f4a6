/** How large things were, in plain numbers: buckets with upper bounds, the sum and the count. Adding costs next to nothing. */

export interface Counted {
  /** Upper bounds of the buckets, ascending. */
  readonly bounds: readonly number[]
  /** How many were at most as large as each bound, and larger than the one before; the last has what is beyond all. */
  readonly buckets: readonly number[]
  readonly sum: number
  readonly count: number
}

/** 1, 2, 5, 10, … 2,000: of batches. */
const BATCH_BOUNDS: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]

export class Histogram implements Counted {
  readonly buckets: number[]
  sum = 0
  count = 0

  constructor(readonly bounds: readonly number[] = BATCH_BOUNDS) {
    this.buckets = Array(bounds.length + 1).fill(0)
  }

  add(size: number): void {
    let bucket = 0
    while (bucket < this.bounds.length && size > (this.bounds[bucket] as number)) bucket++
    ;(this.buckets[bucket] as number)++
    this.sum += size
    this.count++
  }

  /** As it is now: later additions do not change it. */
  copy(): Counted {
    return { bounds: this.bounds, buckets: [...this.buckets], sum: this.sum, count: this.count }
  }
}
