/**
 * The claims that a worker holds, and how long: owns the lease of each, by the monotonic clock of this process.
 *
 * Invariant: a lease never ends later here than the claim does in the database, because it is counted from before the
 * statement was sent that claimed or extended it; the two clocks are never compared. At half of it what runs is
 * extended and what has not begun is handed back. A claim is lost when its handle is stale, or when its lease ran out
 * because the database could not be asked: its handler is told to abort, and nothing is settled by it any more.
 */

import { Pauses } from '../../kit/backoff'
import type { Extended, Message } from '../../repositories/queues/types'
import type { WorkContext } from './types'

const MAX_HANDLES = 1000
const MIN_SECONDS = 1
const LONGEST_RETRY_MS = 1000
/** Timers take no more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export class Claim {
  readonly message: Message
  /** The message is the handler's, to do with as it likes. */
  readonly id: bigint
  readonly handle: string
  /** For how long each extension holds it. */
  readonly seconds: number
  /** When the lease ends, as `performance.now` counts. */
  endsAt: number
  /** Extended when half of the lease is over; else handed back then. */
  isKept = false
  isLost = false
  /** Settled, or handed back. */
  isOver = false
  /** It may have killed a process, and when it does so once more it is dead, however little it was to blame. */
  isLastReceive = false
  isExtending = false
  /** Not tried again before. */
  retryAt = 0
  #controller: AbortController | null = null

  constructor(message: Message, visibilityMs: number, claimedAt: number) {
    this.message = message
    this.id = message.id
    this.handle = message.receiptHandle
    this.seconds = Math.max(MIN_SECONDS, Math.ceil(visibilityMs / 1000))
    this.endsAt = claimedAt + visibilityMs
  }

  /** From when on it is extended, or handed back. */
  get dueAt(): number {
    return this.endsAt - this.seconds * 500
  }

  /** Made when a handler asks for it: most don't. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.isLost) this.#abort()
    }
    return this.#controller.signal
  }

  lose(): void {
    this.isLost = true
    this.#abort()
  }

  /** Without losing it: the worker is to stop. */
  abort(): void {
    this.#controller ??= new AbortController()
    this.#abort('The worker is being stopped')
  }

  #abort(why = 'The claim of the message is lost'): void {
    this.#controller?.abort(new DOMException(why, 'AbortError'))
  }
}

/** What a handler sees of its claim. */
export class HandlerContext implements WorkContext {
  readonly #claim: Claim

  constructor(claim: Claim) {
    this.#claim = claim
  }

  get signal(): AbortSignal {
    return this.#claim.signal
  }
}

export interface ClaimKeeperOptions {
  /** At most 1,000 handles. */
  extend(handles: readonly string[], seconds: number): Promise<Extended>
  /** Half of the lease is over of claims that are not kept; the keeper has let go of them. */
  onUnkept(claims: readonly Claim[]): void
  onFault(error: unknown): void
}

export class ClaimKeeper {
  readonly #options: ClaimKeeperOptions
  /** By the message's id: of two claims of one message the older is lost. */
  readonly #claims = new Map<bigint, Claim>()
  readonly #pauses = new Pauses(LONGEST_RETRY_MS)
  #timer: NodeJS.Timeout | null = null
  #wakesAt = Number.POSITIVE_INFINITY

  constructor(options: ClaimKeeperOptions) {
    this.#options = options
    this.#schedule(Number.POSITIVE_INFINITY)
  }

  add(claims: readonly Claim[]): void {
    let earliest = Number.POSITIVE_INFINITY
    for (const claim of claims) {
      const { id } = claim
      this.#claims.get(id)?.lose()
      this.#claims.set(id, claim)
      earliest = Math.min(earliest, claim.dueAt)
    }
    if (earliest < this.#wakesAt) this.#schedule(earliest)
  }

  /** It is settled, or handed back. */
  remove(claim: Claim): void {
    claim.isOver = true
    this.#forget(claim)
  }

  #lose(claim: Claim): void {
    this.#forget(claim)
    claim.lose()
  }

  #forget(claim: Claim): void {
    const { id } = claim
    if (this.#claims.get(id) === claim) this.#claims.delete(id)
  }

  close(): void {
    this.#claims.clear()
    if (this.#timer) clearTimeout(this.#timer)
  }

  /** Extends now; what could not be is lost, or tried again while its lease holds. Never rejects. */
  async extend(claims: readonly Claim[]): Promise<void> {
    const lists = new Map<number, Claim[]>()
    for (const claim of claims) {
      claim.isExtending = true
      const list = lists.get(claim.seconds)
      if (list) list.push(claim)
      else lists.set(claim.seconds, [claim])
    }
    for (const [seconds, list] of lists) {
      for (let at = 0; at < list.length; at += MAX_HANDLES) {
        await this.#extendOnce(list.slice(at, at + MAX_HANDLES), seconds)
      }
    }
    this.#scheduleNext()
  }

  async #extendOnce(claims: readonly Claim[], seconds: number): Promise<void> {
    const sentAt = performance.now()
    try {
      const handles = claims.map(({ handle }) => handle)
      const { failed } = await this.#options.extend(handles, seconds)
      this.#pauses.reset()
      const stale = new Set(failed.map(({ receiptHandle }) => receiptHandle))
      for (const claim of claims) {
        if (!stale.has(claim.handle)) claim.endsAt = sentAt + seconds * 1000
        // Of what was settled meanwhile the handle is stale by that.
        else if (!claim.isOver) this.#lose(claim)
      }
    } catch (error) {
      const retryAt = performance.now() + this.#pauses.next()
      for (const claim of claims) claim.retryAt = retryAt
      this.#options.onFault(error)
    } finally {
      for (const claim of claims) claim.isExtending = false
    }
  }

  #round(): void {
    const now = performance.now()
    const due: Claim[] = []
    const unkept: Claim[] = []
    for (const claim of this.#claims.values()) {
      if (now >= claim.endsAt) this.#lose(claim)
      else if (now < claim.dueAt || claim.isExtending) continue
      else if (!claim.isKept) {
        unkept.push(claim)
        this.remove(claim)
      } else if (now >= claim.retryAt) due.push(claim)
    }
    if (due.length > 0) void this.extend(due)
    if (unkept.length > 0) this.#options.onUnkept(unkept)
    this.#scheduleNext()
  }

  #scheduleNext(): void {
    let next = Number.POSITIVE_INFINITY
    for (const claim of this.#claims.values()) {
      const at = claim.isExtending ? claim.endsAt : Math.max(claim.dueAt, claim.retryAt)
      next = Math.min(next, at, claim.endsAt)
    }
    this.#schedule(next)
  }

  /** There is always a timer: a worker that waits for messages keeps its process alive. */
  #schedule(at: number): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#wakesAt = at
    const ms = Math.min(Math.max(at - performance.now(), MIN_PAUSE_MS), LONGEST_TIMER_MS)
    this.#timer = setTimeout(() => this.#round(), ms)
  }
}

const MIN_PAUSE_MS = 10
