/** Counts the bytes that all requests of one kind keep in memory, against a limit of the process. */
export class HeldBytes {
  #held = 0

  constructor(readonly limit: number) {}

  get held(): number {
    return this.#held
  }

  add(bytes: number): void {
    this.#held += bytes
  }

  drop(bytes: number): void {
    this.#held -= bytes
  }
}

export const MIB = 1024 * 1024
