/**
 * Receives of this process that wait. A send inserts its messages as claimed by one of them, which saves the claim: a round trip
 * before the handler begins.
 *
 * Invariant: a send chooses a receive for itself alone, until the send ends; with the commit it gets the messages. A receive
 * does not end before the send that has chosen it.
 */
import type { ClaimedMessages, SendRequest } from '../rows'

export class Taker {
  /** Once they are committed. */
  messages: ClaimedMessages | null = null
  /** Resolves when the send that has chosen it has ended. */
  sending: Promise<void> | null = null

  constructor(
    /** Maximum messages. */
    readonly limit: number,
    readonly visibilityTimeoutSeconds: number | undefined,
    /** Called when a send has chosen it. */
    readonly onChosen: () => void,
  ) {}
}

export class Takers {
  readonly #waiting = new Map<string, Set<Taker>>()
  readonly #sends = new Map<SendRequest, { taker: Taker; end: () => void } | null>()

  wait(queue: string, taker: Taker): void {
    const waiting = this.#waiting.get(queue) ?? new Set()
    this.#waiting.set(queue, waiting.add(taker))
  }

  /** It waits no more. Resolves to what a send has given to it. */
  async leave(queue: string, taker: Taker): Promise<ClaimedMessages | null> {
    const waiting = this.#waiting.get(queue)
    waiting?.delete(taker)
    if (waiting?.size === 0) this.#waiting.delete(queue)
    await taker.sending
    return taker.messages
  }

  /** Until the send of the request has `ended`, it may choose a receive. */
  began(request: SendRequest): void {
    this.#sends.set(request, null)
  }

  ended(request: SendRequest): void {
    this.#sends.get(request)?.end()
    this.#sends.delete(request)
  }

  /** For this many messages of a send whose first request this is: the same one when it is tried again. */
  choose(request: SendRequest, count: number): Taker | null {
    const known = this.#sends.get(request)
    if (known !== null) return known?.taker ?? null
    const waiting = this.#waiting.get(request.queue)
    for (const taker of waiting ?? []) {
      if (taker.limit < count) continue
      waiting?.delete(taker)
      taker.onChosen()
      taker.sending = new Promise((end) => this.#sends.set(request, { taker, end }))
      return taker
    }
    return null
  }
}
