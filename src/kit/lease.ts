/**
 * One claim of a worker or a poller, of a message or of a row: how long it surely holds, and the signal of its handler, which is
 * aborted when it is lost. `Leases` keeps it.
 *
 * Invariant: it never ends later here than its claim does in the database, because it is counted by this process's clock
 * from before the statement was sent that claimed or extended it.
 */
import { performance } from '../shared/platform'

interface NewLease {
  /** How long each extension holds. */
  ms: number
  /** Before the claim was sent, as `performance.now` counts. */
  sentAt: number
  /** How long the claim itself holds; as long as an extension when left out. */
  heldMs?: number
  isKept: boolean
  isSuspect: boolean
}

/** One claim: of a message or of a row. */
export class Lease<Subject> {
  /** How long each extension holds. */
  readonly ms: number
  readonly claimedAt = performance.now()
  /** When it ends, as `performance.now` counts. */
  endsAt: number
  /** It is extended in time; otherwise it is given back then. */
  isKept: boolean
  /**
   * Its last attempt, and the one before never came to an end: it may have killed a process, and is given up when it ends
   * like that again. It begins alone, so that no other claim is lost with it, nor it with another.
   */
  readonly isSuspect: boolean
  isLost = false
  /** Settled, or given back. */
  isOver = false
  /** Given back while its handler ran: what the handler comes to is not recorded. */
  isAbandoned = false
  /** Somebody has locked what it claims: it can't be extended, and nobody else can take it. */
  isLocked = false
  /** Resolves when the extension that is under way has ended. */
  extending: Promise<void> | null = null
  /** The extension began when the lease had ended, and decides alone whether it is lost. */
  isLate = false
  /** An extension has failed, and no other begins before. */
  retryAt = 0
  #controller: AbortController | null = null

  constructor(
    readonly subject: Subject,
    { ms, sentAt, heldMs = ms, isKept, isSuspect }: NewLease,
  ) {
    this.ms = ms
    this.endsAt = sentAt + heldMs
    this.isKept = isKept
    this.isSuspect = isSuspect
  }

  get holds(): boolean {
    return !this.isLost && performance.now() < this.endsAt
  }

  /** Made when a handler asks for it: most don't. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.isLost) this.lose()
    }
    return this.#controller.signal
  }

  lose(): void {
    this.isLost = true
    this.#controller?.abort(new DOMException('The claim is lost', 'AbortError'))
  }

  /** Aborts the handler's signal without losing the claim. */
  abort(): void {
    this.#controller ??= new AbortController()
    this.#controller.abort(new DOMException('The handler is being stopped', 'AbortError'))
  }

  extended(sentAt: number): void {
    this.endsAt = sentAt + this.ms
    this.isLocked = false
    this.retryAt = 0
  }
}
