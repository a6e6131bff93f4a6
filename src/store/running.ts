/**
 * The work that runs for a store until it is stopped: its workers, its pollers, its consumers. Each is listed with the queue, table or
 * feed that it works on by itself; null for one that works only when it is called.
 */
import { checkedStop } from '../fields/options'
import { RecentnError } from '../shared/errors'
import { CLOCK } from '../shared/platform'
import type { Running, Surroundings } from '../shared/running'

/** How long handlers have to finish when the store closes. */
const STOP_SECONDS = 10

export const SURROUNDINGS: Surroundings = { clock: CLOCK, timeLimitOf: checkedStop }

/** Of the store: there is nothing to ask any more. */
export function isClosed(error: unknown): boolean {
  return error instanceof RecentnError && error.code === 'closed'
}

export class StartedWork<Subject, One extends Running> {
  readonly #all = new Map<One, Subject | null>()
  #isClosed = false

  get size(): number {
    return this.#all.size
  }

  /** Starts one more. Throws `closed` after `stop`, and what `start` throws. */
  add<Started extends One>(subject: Subject | null, start: () => Started): Started {
    if (this.#isClosed) throw new RecentnError('closed')
    const one = start()
    this.#all.set(one, subject)
    void one.stopped.then(() => this.#all.delete(one))
    return one
  }

  /** Those that work on it by themselves. */
  on(subject: Subject): One[] {
    return [...this.#all].flatMap(([one, of]) => (of === subject ? [one] : []))
  }

  /** Starts none any more. Resolves when what the handlers had begun is done or, after 10 seconds, given back. */
  async stop(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#all.keys()].map((one) => one.stop({ timeoutSeconds: STOP_SECONDS })))
  }
}
