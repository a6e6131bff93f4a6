/**
 * `client.feeds.consume`: the loop of a consumer over REST. Any number of processes may run the loop of one consumer; each
 * change is given to at least one of them. `kit/cursor-steps.ts` has the invariant.
 */

import { Pauses } from '../kit/backoff'
import { CursorSteps } from '../kit/cursor-steps'
import { Faults } from '../kit/faults'
import type { RecentnError } from '../recentn-error'
import * as loops from './loops'
import { pause } from './retry'

const WAIT_SECONDS = 20
const LONGEST_PAUSE_MS = 5000
/** How long a handler has to end after its signal was aborted. */
const LAST_MS = 1000
const RULES = { ...loops.LOOP_RULES, limit: loops.whole(1, 1000), onExpired: loops.aFunction }

/** See `FeedsClient.consume`. Throws `invalid_input`. */
export function startConsumer(
  source: loops.ConsumeSource,
  names: readonly [feed: string, consumer: string],
  handler: loops.ConsumeHandler,
  options: loops.ConsumeOptions,
): loops.Running {
  loops.checkLoop(handler, options, RULES)
  return new RemoteConsumer(source, names, handler, options)
}

class RemoteConsumer implements loops.Running {
  readonly #steps: CursorSteps<loops.Change>
  readonly #faults: Faults<loops.Change[]>
  readonly #stopping = new AbortController()
  readonly #ended: Promise<void>

  constructor(
    source: loops.ConsumeSource,
    names: readonly [feed: string, consumer: string],
    handler: loops.ConsumeHandler,
    options: loops.ConsumeOptions,
  ) {
    const [feed, consumer] = names
    const { limit, schema, signal, onExpired, onError } = options
    this.#faults = new Faults({ who: 'consumer', what: `read the feed ${feed} as ${consumer}`, onError })
    this.#steps = new CursorSteps<loops.Change>({
      cursor: async (signal) => (await source.getConsumer(feed, consumer, { signal })).cursor,
      read: (after, signal) => source.changes(feed, { limit, waitSeconds: WAIT_SECONDS, signal, after }),
      store: async (cursor, move) => (await source.putConsumer(feed, consumer, cursor, move)).cursor,
      schema,
      handle: handler,
      onExpired,
      backoff: loops.pausesOf(options.backoff),
      faults: this.#faults,
    })
    if (signal?.aborted) this.#stopping.abort()
    this.#ended = this.#run()
    loops.stopBy(signal, () => void this.stop(), this.#ended)
  }

  async stop(options: loops.StopOptions = {}): Promise<void> {
    const patienceMs = loops.checkedPatience(options)
    this.#stopping.abort()
    if (patienceMs === null || (await loops.endsWithin(patienceMs, this.#ended))) return this.#ended
    this.#steps.abort()
    await loops.endsWithin(LAST_MS, this.#ended)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const pauses = new Pauses(LONGEST_PAUSE_MS)
    while (!signal.aborted) {
      try {
        const pauseMs = await this.#steps.step(signal)
        pauses.reset()
        if (pauseMs > 0) await pause(pauseMs, signal)
      } catch (error) {
        if (signal.aborted) return
        this.#faults.database(error)
        await pause(Math.max(pauses.next(), (error as RecentnError).retryAfterMs ?? 0), signal)
      }
    }
  }
}
