/** `store.poll`: checks the options and starts a poller. Closing the store stops its pollers. */
import type { PollRepository } from '../repositories/polls/repository'
import type { PollShape } from '../shared/poll-types'
import { surrounded } from '../shared/running'
import { checkedPoll } from './poller/options'
import { PollerFaults } from './poller/pace'
import { RowPoller } from './poller/poller'
import type { Poller, PollHandler, PollOptions } from './poller/types'
import { StartedWork } from './running'

export class Polls<Target> {
  readonly #open: (target: Target, shape: PollShape) => PollRepository
  readonly #guard: (why: string) => void
  readonly running = new StartedWork<Target, RowPoller<unknown>>()

  constructor(open: (target: Target, shape: PollShape) => PollRepository, guard: (why: string) => void) {
    this.#open = open
    this.#guard = guard
  }

  /** See `Store.poll`. */
  poll<T>(target: Target, handler: PollHandler<T>, options: PollOptions<T> = {}): Poller {
    const name = typeof target === 'function' ? target.name : typeof target === 'string' ? target : 'a table'
    const settings = checkedPoll(handler, options)
    const faults = new PollerFaults<T>(options.name ?? name, options)
    const handle = surrounded(options.around, handler)
    return this.running.add(settings.auto ? target : null, () => {
      const repository = this.#open(target, settings.shape)
      return new RowPoller({ repository, handler: handle, settings, faults, guard: this.#guard }) as RowPoller<unknown>
    })
  }

  close(): Promise<void> {
    return this.running.stop()
  }
}
