/**
 * What runs for a store until it is stopped: its workers, its pollers, its consumers. Each is listed with the queue, table or
 * feed that it works on by itself; null for one that works only when it is called.
 */
import type { StopOptions } from '../handling-shapes'

/** How long handlers have to finish when the store closes. */
const STOP_SECONDS = 10

interface Stoppable {
  stop(options: StopOptions): Promise<void>
}

export class Running<Subject, One extends Stoppable> {
  readonly #all = new Map<One, Subject | null>()

  get size(): number {
    return this.#all.size
  }

  add(one: One, subject: Subject | null): void {
    this.#all.set(one, subject)
  }

  /** Those that work on it by themselves. */
  on(subject: Subject): One[] {
    return [...this.#all].flatMap(([one, of]) => (of === subject ? [one] : []))
  }

  /** It has been stopped. */
  remove(one: One): void {
    this.#all.delete(one)
  }

  /** Resolves when what the handlers had begun is done or, after 10 seconds, given back. */
  async stop(): Promise<void> {
    await Promise.all([...this.#all.keys()].map((one) => one.stop({ timeoutSeconds: STOP_SECONDS })))
  }
}
