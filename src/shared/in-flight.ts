/** Counts what is under way, for a caller that waits until nothing is. Browsers load this file too: it depends on nothing. */
export class InFlight {
  #count = 0
  #onNone: (() => void)[] = []

  get count(): number {
    return this.#count
  }

  /** `end` must follow. */
  begin(count = 1): void {
    this.#count += count
  }

  end(count = 1): void {
    this.#count -= count
    if (this.#count === 0) for (const resolve of this.#onNone.splice(0)) resolve()
  }

  /** Resolves when nothing is under way. */
  async none(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#onNone.push(resolve))
  }
}
