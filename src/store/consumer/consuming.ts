/** The consumers of a store: their options, and where their cursors are kept. `shared/consumer.ts` has the loop. No SQL. */

import { optionRules, refuse } from '../../fields/field'
import { aFunction, boundsOf, checkedStop, handlingFaults, handlingOptions } from '../../fields/options'
import { FORM, nameFaults, oneOf, PAGE_LIMIT } from '../../fields/rules'
import { Loop } from '../../kit/loop'
import { ConsumerLoop, type ConsumeSource, isExpired, storedCursor } from '../../shared/consumer'
import type { Faults } from '../../shared/faults'
import type { Feeds, ValueOptions } from '../../shared/feed-types'
import type { ConsumeHandler, ConsumeHandlingOptions } from '../../shared/handler-types'
import { outside } from '../../shared/platform'
import type { StopOptions } from '../../shared/running'
import { inScope, isIn } from '../../shared/scopes'
import type { Form } from '../../shared/types'
import { isClosed, SURROUNDINGS } from '../running'

export interface ConsumeOptions<Value = unknown, Asked extends Form = Form>
  extends ValueOptions<Asked>,
    ConsumeHandlingOptions<Value> {
  /**
   * Where the cursor is kept; default `stored`. With `memory` each start reads the feed from its beginning,
   * and the database keeps no consumer: for an index in memory, which each process builds for itself.
   */
  cursor?: 'stored' | 'memory' | undefined
}

const WAIT_SECONDS = 20
const FAULT_PAUSES = { firstMs: 100, longestMs: 5000 }

const OPTIONS = optionRules<ConsumeOptions>({
  cursor: oneOf(['stored', 'memory']),
  limit: PAGE_LIMIT,
  values: FORM,
  ...handlingOptions,
  onExpired: aFunction,
})

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
    ...handlingFaults(handler, options, OPTIONS),
    ...(options?.schema && options.values === 'text'
      ? [{ pointer: '/schema', detail: 'needs values, not texts' }]
      : []),
  ])
  const { limit, values, cursor } = options
  const read: ConsumeSource['read'] = (after, signal) =>
    feeds.changes(feed, { limit, values, waitSeconds: WAIT_SECONDS, signal, after })
  const kept = keptBy(feeds, feed, consumer, cursor)
  const loop = outside(() => new StoreLoop({ ...kept, read }, [feed, consumer], handler, options))
  /** Whether all that is published now is handled. */
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
): Pick<ConsumeSource, 'store'> & { cursor(): Promise<bigint> } {
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

/** It goes by the clock of the process, and moves on with a test's. Its own handlers may stop it without waiting for themselves. */
export class StoreLoop extends ConsumerLoop {
  constructor(
    source: ConsumeSource,
    names: readonly [feed: string, consumer: string],
    handler: ConsumeHandler,
    options: ConsumeOptions,
  ) {
    const { onExpired } = options
    const handle: ConsumeHandler = (changes, context) => inScope(this, undefined, () => handler(changes, context))
    const inside = { ...options, onExpired: onExpired && (() => inScope(this, undefined, onExpired)) }
    super(source, names, handle, inside, { ...SURROUNDINGS, backoff: boundsOf(options.backoff) })
  }

  override async stop(options: StopOptions = {}): Promise<void> {
    if (!isIn(this)) return super.stop(options)
    checkedStop(options)
    this.stopping.abort()
  }

  protected override repeat(faults: Faults<never>, step: (stopping: AbortSignal) => Promise<number>): Promise<void> {
    const { signal } = this.stopping
    const loop = new Loop({
      round: () => step(signal),
      faultPauses: FAULT_PAUSES,
      onFault: (error) => (isClosed(error) ? this.stopping.abort() : faults.database(error)),
      keepsAlive: true,
    })
    loop.wake()
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => void loop.stop().then(resolve).then(this.ended))
    })
  }
}
