/** The feeds of a store with the loops of its consumers: owns which of these run, and that they end before it closes. */
import { RecentnError } from '../errors'
import { consume, type Loop } from './consumer/consuming'
import type { ConsumeHandler, ConsumeOptions, Consuming } from './consumer/types'
import { PublishedFeeds } from './publisher/published-feeds'

/** Within which handlers may end by themselves when the store closes. */
const STOP_SECONDS = 10

export class ConsumedFeeds extends PublishedFeeds {
  readonly #loops = new Set<Loop>()
  #isClosed = false

  /** Gives a handler what comes after a stored cursor, until it is stopped, or the store closes. */
  consume(feed: string, consumer: string, handler: ConsumeHandler, options: ConsumeOptions = {}): Consuming {
    if (this.#isClosed) throw new RecentnError('closed')
    const loop = consume(this, [feed, consumer], handler, options)
    this.#loops.add(loop)
    loop.ended.finally(() => this.#loops.delete(loop))
    return { stop: (how) => loop.stop(how) }
  }

  /** Loops that run. */
  get consuming(): number {
    return this.#loops.size
  }

  /** Resolves when what their handlers had begun is done, or after 10 seconds. */
  async stopConsuming(): Promise<void> {
    await Promise.all([...this.#loops].map((loop) => loop.stop({ timeoutSeconds: STOP_SECONDS })))
  }

  /** Stops the loops, answers who waits, publishes what this process has written. */
  override async close(): Promise<void> {
    this.#isClosed = true
    await this.stopConsuming()
    await super.close()
  }
}
