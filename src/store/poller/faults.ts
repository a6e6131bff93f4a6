/** Whom a poller tells what went wrong, and that an index is missing. */
import { Faults, guarded } from '../../kit/faults'
import type { PollOptions } from './types'

export class PollerFaults<T> extends Faults<T> {
  readonly #onWarning: PollOptions<T>['onWarning']

  constructor(name: string, { onError, onWarning }: Pick<PollOptions<T>, 'onError' | 'onWarning'>) {
    super({ who: 'poller', what: `poll ${name}`, onError })
    this.#onWarning = onWarning
  }

  advise(warning: string, code: 'RECENTN_POLL_INDEX' | 'RECENTN_POLL_WHERE' | 'RECENTN_POLL_POOL'): void {
    const onWarning = this.#onWarning
    if (onWarning) guarded('onWarning of a recentn poller', () => onWarning(warning))
    else process.emitWarning(warning, { code })
  }
}
