/**
 * `client.feeds.consume`: the loop of a consumer over REST. Any number of processes may run the loop of one consumer; each
 * change is given to at least one of them. `kit/cursor-steps.ts` has the invariant.
 */

import { CursorSteps, storedCursor } from '../kit/cursor-steps'
import { Faults } from '../kit/faults'
import { Stoppable } from '../shared/running'
import * as loops from './loops'
import { aFunction } from './options'
import { pause } from './retry'

const WAIT_SECONDS = 20
/** How long a handler has to end after its signal was aborted. */
const LAST_MS = 1000
/** From one read without changes to the next, also where a server or a proxy does not wait. */
const BETWEEN_MS = 100
const RULES = { ...loops.LOOP_RULES, limit: loops.whole(1, 1000), onExpired: aFunction }

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

class RemoteConsumer extends Stoppable {
  readonly #steps: CursorSteps<loops.Change>
  readonly #stopping = new AbortController()
  readonly #ended: Promise<void>

  constructor(
    source: loops.ConsumeSource,
    names: readonly [feed: string, consumer: string],
    handler: loops.ConsumeHandler,
    options: loops.ConsumeOptions,
  ) {
    super()
    const [feed, consumer] = names
    const { limit, schema, around, signal, onExpired, onError } = options
    const faults = new Faults<loops.Change[]>({
      who: 'consumer',
      what: `read the feed ${feed} as ${consumer}`,
      onError,
    })
    this.#steps = new CursorSteps<loops.Change>({
      cursor: (signal) => storedCursor(source.cursor(feed, consumer, { signal })),
      read: async (after, signal) => {
        const askedAt = performance.now()
        const page = await source.changes(feed, { limit, waitSeconds: WAIT_SECONDS, signal, after })
        if (page.changes.length === 0) await pause(BETWEEN_MS - (performance.now() - askedAt), signal)
        return page
      },
      store: async (cursor, move) => (await source.moveCursor(feed, consumer, cursor, move)).cursor,
      schema,
      around,
      handle: handler,
      onExpired,
      backoff: loops.pausesOf(options.backoff),
      faults,
    })
    const { signal: stopping } = this.#stopping
    this.#ended = loops.repeat(stopping, faults, () => this.#steps.step(stopping))
    void this.#ended.then(this.ended)
    this.stopBy(signal)
  }

  async stop(options: loops.StopOptions = {}): Promise<void> {
    const patienceMs = loops.checkedPatience(options)
    this.#stopping.abort()
    if (patienceMs === null || (await loops.endsWithin(patienceMs, this.#ended))) return this.#ended
    this.#steps.abort()
    await loops.endsWithin(LAST_MS, this.#ended)
    this.ended()
  }
}
