/** `store.poll`: checks the options and starts a poller. Closing the store stops its pollers. */

import { type Handle, ofMany, ofOne, within } from '../kit/handler-calls'
import type { PollRepository } from '../repositories/polls/repository'
import type { BatchHandler } from '../shared/handler-types'
import type { PollShape } from '../shared/poll-types'
import { invalidInput } from '../shared/recentn-error'
import { checkedPoll, type PollSettings } from './poller/options'
import { PollerFaults } from './poller/pace'
import { RowPoller } from './poller/poller'
import type { Poller, PollHandler, PollManyContext, PollManyOptions, PollOptions } from './poller/types'
import { StartedWork } from './running'

export class Polls<Target> {
  readonly running = new StartedWork<Target, RowPoller<unknown>>()

  constructor(
    private readonly open: (target: Target, shape: PollShape) => PollRepository,
    private readonly guard: (why: string) => void,
  ) {}

  poll<T>(target: Target, handler: PollHandler<T>, options: PollOptions<T> = {}): Poller {
    const settings = checkedPoll(handler, options, false)
    const handle = within(options.around, false, ofOne(attempting(handler, options)))
    return this.#start(target, options, settings, handle)
  }

  pollMany<T>(target: Target, handler: BatchHandler<T, PollManyContext>, options: PollManyOptions<T> = {}): Poller {
    const settings = checkedPoll(handler, options, true)
    return this.#start(target, options, settings, within(options.around, true, ofMany(handler)))
  }

  #start<T>(
    target: Target,
    options: Pick<PollOptions<T>, 'name' | 'onError' | 'onWarning'>,
    settings: PollSettings,
    handle: Handle<T, PollManyContext>,
  ): Poller {
    const name = typeof target === 'function' ? target.name : typeof target === 'string' ? target : 'a table'
    const faults = new PollerFaults<T>(options.name ?? name, options)
    return this.running.add(settings.auto ? target : null, () => {
      const repository = this.open(target, settings.shape)
      return new RowPoller({ repository, handle, settings, faults, guard: this.guard }) as RowPoller<unknown>
    })
  }
}

/** The handler, whose words are checked where the status has `results`. */
function attempting<T>(handler: PollHandler<T>, { status }: PollOptions<T>) {
  const results = typeof status === 'object' ? status.results : undefined
  return async (row: T, { signal, attempts }: PollManyContext) => {
    const word = await handler(row, { signal, attempt: attempts[0] as number })
    if (!results || (results as readonly unknown[]).includes(word)) return word
    const detail = `are ${results.join(', ')}, and the handler has resolved to ${String(word)}`
    throw invalidInput([{ pointer: '/status/results', detail }])
  }
}
