/** The second argument of a handler, and how long a worker asks again to settle what the handler did. */
import { isShared } from '../../kit/admission'
import { signalOf } from '../../kit/handling'
import { RecentnError } from '../../shared/errors'
import type { WorkContext } from '../../shared/handling-shapes'
import { holdBy, type Lease } from '../../shared/leases'
import { CLOCK } from '../../shared/platform'
import type { Message } from '../../shared/queue-types'
import type { SettlesOptions } from '../../shared/settle-batch'
import type { StoreWorkSource } from './options'

export function contextOf(
  leases: readonly Lease<Message>[],
  source: StoreWorkSource,
  queue: string,
  letGo: (lease: Lease<Message>, group?: string) => unknown,
): WorkContext {
  return {
    hold: holdBy(source, queue, leases, letGo),
    /** Made when the handler asks for it. */
    get signal() {
      return signalOf(leases)
    },
  }
}

/** While the claim holds; while the database is away, also beyond that. */
export const mayPass: SettlesOptions['again'] = (error, { endsAt }, isStopping) =>
  !(error instanceof RecentnError && ['closed', 'queue_not_found'].includes(error.code)) &&
  ((isShared(error) && !isStopping) || CLOCK.now() < endsAt)
