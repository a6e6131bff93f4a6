/** Whether what was published is numbered 1, 2, 3 … without gap or double, each entry once and as it was written. */
import { type Entry, markIn } from './entries'

export interface Numbered extends Entry {
  syncId: bigint
}

export class Numbering {
  readonly #seen: Uint8Array
  readonly #first: bigint
  #last: bigint
  #faults = 0
  #fault = ''

  /** Sync ids from `after` + 1 on, of entries whose marks are below `count`. */
  constructor(count: number, after = 0n) {
    this.#seen = new Uint8Array(count)
    this.#first = after
    this.#last = after
  }

  get count(): number {
    return Number(this.#last - this.#first)
  }

  /** The next page, in the order in which a consumer is given it. */
  add(page: readonly Numbered[]): void {
    for (const entry of page) {
      const { syncId, key } = entry
      const mark = markIn(entry)
      const seen = this.#seen[mark]
      if (seen === undefined) this.#say(`${syncId} is ${key}, not as it was written`)
      else if (seen > 0) this.#say(`${syncId} is ${key}, which has been there before`)
      if (syncId !== this.#last + 1n) this.#say(`${syncId} follows ${this.#last}`)
      if (seen !== undefined) this.#seen[mark] = 1
      this.#last = syncId
    }
  }

  #say(fault: string): void {
    if (this.#faults++ === 0) this.#fault = fault
  }

  faults(due: number): string[] {
    const faults = this.#faults > 0 ? [`${this.#fault} (${this.#faults} such)`] : []
    if (this.count !== due) faults.push(`${this.count} entries are numbered, due are ${due}`)
    return faults
  }
}
