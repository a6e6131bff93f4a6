/** The pollers of a store: closing it stops them. */
import { RecentnError } from '../errors'
import type { PollRepository } from '../repositories/polls/repository'
import type { PollShape } from '../repositories/polls/types'
import { startPoller } from './poller'
import type { Poller, PollHandler, PollOptions } from './poller-types'

/** How long handlers have to finish when the store closes. */
const STOP_SECONDS = 10

export class PolledTables<Target> {
  readonly #open: (target: Target, shape: PollShape) => PollRepository
  readonly #pollers = new Set<Poller>()
  #isClosed = false

  constructor(open: (target: Target, shape: PollShape) => PollRepository) {
    this.#open = open
  }

  poll<T>(target: Target, handler: PollHandler<T>, options?: PollOptions<T>): Poller {
    if (this.#isClosed) throw new RecentnError('closed')
    const name = typeof target === 'function' ? target.name : typeof target === 'string' ? target : 'a table'
    const poller = startPoller({ name, repository: (shape) => this.#open(target, shape) }, handler, options)
    this.#pollers.add(poller)
    return {
      once: () => poller.once(),
      counts: () => poller.counts(),
      stop: async (how) => {
        await poller.stop(how)
        this.#pollers.delete(poller)
      },
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#pollers].map((poller) => poller.stop({ timeoutSeconds: STOP_SECONDS })))
  }
}
