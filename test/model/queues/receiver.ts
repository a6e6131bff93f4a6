/** The freedom of a busy receiver: while its claims come back full, it finds messages of others a little later. */
import type { OracleMessage } from './oracle'

export class Receiver {
  readonly #full = new Set<number>()
  readonly #lagging = new Set<number>()

  othersMadeReady(messages: readonly OracleMessage[]): void {
    for (const { queue } of messages) if (this.#full.has(queue)) this.#lagging.add(queue)
  }

  lags(queue: number): boolean {
    return this.#lagging.has(queue)
  }

  received(queue: number, isFull: boolean): void {
    if (isFull) this.#full.add(queue)
    else for (const set of [this.#full, this.#lagging]) set.delete(queue)
  }
}
