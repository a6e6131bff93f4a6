/**
 * The claims that a worker of the client holds while their handlers run, and their extension.
 *
 * Invariant: a claim never ends later here than on the server, because it is counted by this machine's monotonic clock from
 * before the request was sent that made or extended it; the two clocks are never compared.
 */
import { mayHaveKilled } from '../shared/failures'
import type { Faults } from '../shared/faults'
import type { Message } from '../shared/queue-types'
import type { WorkSource } from './loops'

/** The pause after an extension that failed. */
const RETRY_MS = 500

/** One message, while it is this worker's. */
export class Claim {
  /** How long each extension holds. */
  readonly ms: number
  /** Its last receive, and the one before may have killed a process: it is dead when it ends like that again. */
  readonly isSuspect: boolean
  /** When it ends, as `performance.now` counts. */
  endsAt: number
  /** No extension begins before. */
  retryAt = 0
  isExtending = false
  /** Settled or lost: what the handler comes to is not recorded any more. */
  isOver = false
  readonly #aborting = new AbortController()

  constructor(
    readonly subject: Message,
    sentAt: number,
    visibilityTimeoutSeconds: number | undefined,
  ) {
    const { receiveCount, maxReceives, visibleAt, receivedAt } = subject
    const heldMs = (visibilityTimeoutSeconds ?? 0) * 1000 || visibleAt.getTime() - receivedAt.getTime()
    this.ms = Math.max(1, Math.ceil(heldMs / 1000)) * 1000
    this.endsAt = sentAt + heldMs
    this.isSuspect = mayHaveKilled(subject) && maxReceives !== null && receiveCount >= maxReceives
  }

  get signal(): AbortSignal {
    return this.#aborting.signal
  }

  /** At half of its time it is extended. */
  get dueAt(): number {
    return Math.max(this.endsAt - this.ms / 2, this.retryAt)
  }

  abort(reason: string): void {
    this.#aborting.abort(new DOMException(reason, 'AbortError'))
  }
}

export class Claims {
  readonly #held = new Set<Claim>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly source: WorkSource,
    private readonly queue: string,
    private readonly faults: Faults<Message>,
  ) {}

  /** Keeps them from now on. A claim that is half over, because the receive took long, is extended before this resolves. */
  async add(claims: readonly Claim[]): Promise<void> {
    for (const claim of claims) this.#held.add(claim)
    const now = performance.now()
    await this.#extend(claims.filter(({ dueAt }) => now >= dueAt))
    this.#look()
  }

  remove(claim: Claim): void {
    claim.isOver = true
    this.#held.delete(claim)
    if (this.#held.size === 0) clearTimeout(this.#timer)
  }

  /** Extends what is due, and gives up what has ended. */
  #look(): void {
    clearTimeout(this.#timer)
    const now = performance.now()
    let next = Number.POSITIVE_INFINITY
    for (const claim of this.#held) if (now >= claim.endsAt) this.#lose(claim)
    const idle = [...this.#held].filter(({ isExtending }) => !isExtending)
    void this.#extend(idle.filter(({ dueAt }) => now >= dueAt))
    for (const { isExtending, dueAt, endsAt } of this.#held) next = Math.min(next, endsAt, isExtending ? endsAt : dueAt)
    if (this.#held.size > 0) this.#timer = setTimeout(() => this.#look(), Math.max(next - performance.now(), 10))
  }

  async #extend(claims: readonly Claim[]): Promise<void> {
    const byLength = new Map<number, Claim[]>()
    for (const claim of claims) byLength.set(claim.ms, [...(byLength.get(claim.ms) ?? []), claim])
    await Promise.all([...byLength].map(([ms, same]) => this.#extendFor(ms, same)))
  }

  async #extendFor(ms: number, claims: readonly Claim[]): Promise<void> {
    for (const claim of claims) claim.isExtending = true
    const sentAt = performance.now()
    try {
      const handles = claims.map(({ subject }) => subject.receiptHandle)
      // A second attempt still fits into what is left of the claim.
      const how = { visibilityTimeoutSeconds: ms / 1000, timeoutSeconds: Math.max(ms / 4000, 1) }
      const { failed } = await this.source.extendMany(this.queue, handles, how)
      const stale = new Set(failed.map(({ receiptHandle }) => receiptHandle))
      for (const claim of claims) {
        if (stale.has(claim.subject.receiptHandle)) this.#lose(claim)
        else claim.endsAt = sentAt + ms
      }
    } catch (error) {
      for (const claim of claims) claim.retryAt = performance.now() + RETRY_MS
      this.faults.database(error)
    }
    for (const claim of claims) claim.isExtending = false
    this.#look()
  }

  #lose(claim: Claim): void {
    if (!this.#held.has(claim)) return
    this.remove(claim)
    claim.abort('The claim is lost')
  }
}
