/** The consumers of a store: their options, and where their cursors are kept. `shared/consumer.ts` has the loop. No SQL. */

import { argumentFaults, faultsOf, optionRules, refuse } from '../../fields/field'
import { aFunction, anObject, backoffFaults, boundsOf, checkedStop, option } from '../../fields/options'
import { FORM, nameFaults, oneOf, PAGE_LIMIT, SIGNAL } from '../../fields/rules'
import { Loop } from '../../kit/loop'
import { handling, isHandling } from '../../kit/reentrancy'
import { within } from '../../kit/time-limit'
import { ConsumerLoop, type ConsumeSource } from '../../shared/consumer'
import { isExpired, storedCursor } from '../../shared/cursor-steps'
import { RecentnError } from '../../shared/errors'
import type { Faults } from '../../shared/faults'
import type { Change, Feeds } from '../../shared/feed-types'
import { schemaFault } from '../../shared/schema'
import type { ConsumeHandler, ConsumeOptions } from './types'

const WAIT_SECONDS = 20
const FAULT_PAUSES = { firstMs: 100, longestMs: 5000 }

const OPTIONS = optionRules<ConsumeOptions>({
  cursor: oneOf(['stored', 'memory']),
  limit: PAGE_LIMIT,
  values: FORM,
  backoff: anObject,
  schema: option(schemaFault),
  signal: SIGNAL,
  around: aFunction,
  onExpired: aFunction,
  onError: aFunction,
})

const SURROUNDINGS = {
  repeat,
  patienceOf: checkedStop,
  endsWithin: async (ms: number, work: Promise<unknown>) =>
    (await within(
      ms,
      work.then(() => true),
    )) === true,
  handling,
  isHandling,
  isOver: (error: unknown) => error instanceof RecentnError && error.code === 'closed',
}

/** Throws `invalid_input`, with every fault. */
export function startConsumer(
  feeds: Pick<Feeds, 'changes' | 'cursor' | 'moveCursor'>,
  [feed, consumer]: readonly [feed: string, consumer: string],
  handler: ConsumeHandler,
  options: ConsumeOptions,
) {
  refuse([
    ...nameFaults('feed', feed),
    ...nameFaults('consumer', consumer),
    ...argumentFaults('handler', handler, aFunction),
    ...faultsOf(options, OPTIONS),
    ...backoffFaults(options?.backoff),
    ...(options?.schema && options.values === 'text'
      ? [{ pointer: '/schema', detail: 'needs values, not texts' }]
      : []),
  ])
  const { limit, values, cursor } = options
  const read: ConsumeSource<Change>['read'] = (after, signal) =>
    feeds.changes(feed, { limit, values, waitSeconds: WAIT_SECONDS, signal, after })
  const kept = keptBy(feeds, feed, consumer, cursor)
  const surroundings = { ...SURROUNDINGS, backoff: boundsOf(options.backoff) }
  const loop = new ConsumerLoop<Change>({ ...kept, read }, [feed, consumer], handler, options, surroundings)
  /** Whether all that is published by now is handled. */
  const isCaughtUp = async () => {
    try {
      return (await feeds.changes(feed, { after: await kept.cursor(), limit: 1 })).changes.length === 0
    } catch (error) {
      if (options.onExpired && isExpired(error)) return false
      throw error
    }
  }
  return Object.assign(loop, { isCaughtUp })
}

export type StoreConsumer = ReturnType<typeof startConsumer>

/** The cursor in the database, or one that is kept here. */
function keptBy(
  feeds: Pick<Feeds, 'cursor' | 'moveCursor'>,
  feed: string,
  consumer: string,
  where: ConsumeOptions['cursor'],
): Pick<ConsumeSource<Change>, 'store'> & { cursor(): Promise<bigint> } {
  if (where !== 'memory') {
    return {
      cursor: () => storedCursor(feeds.cursor(feed, consumer)),
      store: async (cursor, move) => (await feeds.moveCursor(feed, consumer, cursor, move)).cursor,
    }
  }
  let kept = Promise.resolve(0n)
  const store = (cursor: bigint) => {
    kept = Promise.resolve(cursor)
    return kept
  }
  return { cursor: () => kept, store }
}

/** A loop that goes by the clock of the process, and moves on with a test's. */
function repeat(stopping: AbortSignal, faults: Faults<never>, step: () => Promise<number>): Promise<void> {
  const loop = new Loop({
    round: step,
    faultPauses: FAULT_PAUSES,
    onFault: (error) => faults.database(error),
    keepsAlive: true,
  })
  loop.wake()
  return new Promise((resolve) => {
    stopping.addEventListener('abort', () => void loop.stop().then(resolve))
  })
}
