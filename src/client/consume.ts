/** `client.feeds.consume`: where its changes come from. `shared/consumer.ts` has the loop. */

import { ConsumerLoop, type ConsumeSource, storedCursor } from '../shared/consumer'
import type { FeedCalls } from './feeds'
import {
  BETWEEN_MS,
  type ClientConsumeOptions,
  type ConsumeHandler,
  checkLoop,
  LOOP_RULES,
  pausesOf,
  type Running,
  SURROUNDINGS,
  WAIT_SECONDS,
  whole,
} from './loops'
import { aFunction } from './options'
import { pause } from './retry'

const RULES = { ...LOOP_RULES, limit: whole(1, 1000), onExpired: aFunction }

/** See `FeedsClient.consume`. Throws `invalid_input`. */
export function startConsumer(
  feeds: FeedCalls,
  names: readonly [feed: string, consumer: string],
  handler: ConsumeHandler,
  options: ClientConsumeOptions,
): Running {
  checkLoop(handler, options, RULES)
  const [feed, consumer] = names
  const source: ConsumeSource = {
    cursor: (signal) => storedCursor(feeds.cursor(feed, consumer, { signal })),
    read: async (after, signal) => {
      const askedAt = performance.now()
      const page = await feeds.changes(feed, { limit: options.limit, waitSeconds: WAIT_SECONDS, signal, after })
      if (page.changes.length === 0) await pause(BETWEEN_MS - (performance.now() - askedAt), signal)
      return page
    },
    store: async (cursor, move) => (await feeds.moveCursor(feed, consumer, cursor, move)).cursor,
  }
  const surroundings = { ...SURROUNDINGS, backoff: pausesOf(options.backoff) }
  return new ConsumerLoop(source, names, handler, options, surroundings)
}
