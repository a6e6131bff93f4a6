/**
 * The claims that a worker or a poller holds while they wait here and while their handlers run, and their extension.
 * Owns how long each claim surely holds. Browsers load this file too.
 *
 * Invariant: a lease never ends later here than its claim does in the database. It is counted by this process's monotonic
 * clock, from before the statement was sent that claimed or extended it: the two clocks are never compared. A
 * lease is lost when the database says so, or when it has ended and the database could not be asked. Its handler's signal
 * is aborted then.
 */

import { type Clock, Pauses } from './backoff'
import { mayHaveKilled } from './failures'
import type { Faults } from './faults'
import type { WorkContext } from './handler-types'
import type { Message } from './message-types'
import type { Queues } from './queue-types'
import { invalidInput } from './recentn-error'

const MAX_AT_ONCE = 1000
const LONGEST_PAUSE_MS = 1000
const MIN_PAUSE_MS = 10

/** One claim: of a message or of a row. */
export class Lease<Subject> {
  /** The result of its handler is not recorded. */
  isLost = false
  /** Infinity while a worker of a store keeps it for no handler yet: then it is not extended early. */
  keptAt = 0
  /** It may hold although it has ended by our clock: it is being extended too late, or a transaction has locked what it claims. */
  isUndecided = false
  /** Resolves when the extension that is under way has ended. */
  extending: Promise<void> | null = null
  /** An extension has failed, and no other begins before. */
  retryAt = 0
  #controller: AbortController | undefined

  constructor(
    readonly subject: Subject,
    /** Where there are two with one key, the older one is lost. */
    readonly key: unknown,
    /** How long each extension holds. */
    readonly ms: number,
    /** When it ends, as the clock counts. */
    public endsAt: number,
    /**
     * Its last attempt, and the one before never came to an end: it may have killed a process, and is given up when it ends
     * like that again. It begins alone, so that no other claim is lost with it, nor it with another.
     */
    readonly isSuspect: boolean,
  ) {}

  /** Made when a handler asks for it: most don't. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  lose(): void {
    this.isLost = true
    this.abort('The claim is lost')
  }

  abort(reason: string): void {
    this.#controller ??= new AbortController()
    this.#controller.abort(new DOMException(reason, 'AbortError'))
  }
}

/** The call of a handler. `letGo` is the worker's part, once the group of the claim's message, or the queue, is held. */
export function holdBy<Held extends Lease<Message>>(
  source: Pick<Queues, 'hold'>,
  queue: string,
  lease: Held,
  letGo: (lease: Held, group?: string) => unknown,
): WorkContext['hold'] {
  return async (what, seconds) => {
    const { messageGroup, receiptHandle } = lease.subject
    const group = what === 'group' ? messageGroup : undefined
    // Over REST null would be no group, which holds the queue.
    if (group === null) throw invalidInput([{ pointer: '/group', detail: 'the message has none' }])
    await source.hold(queue, { group, seconds, receiptHandle })
    lease.isLost = true
    letGo(lease, group)
  }
}

/** The call of a handler of many: each message is held as it is alone, those without a group, of which none can be held, the last. */
export function holdAll(given: readonly (readonly [Message, WorkContext['hold']])[]): WorkContext['hold'] {
  return async (what, seconds) => {
    for (const isGrouped of [true, false]) {
      for (const [{ messageGroup }, hold] of given) if (!!messageGroup === isGrouped) await hold(what, seconds)
    }
  }
}

/** The fate of a lease that was to be extended. A locked one can't be, and no other process can take what it claims. */
export type LeaseFate = 'extended' | 'lost' | 'locked'

interface LeasesOptions<Held> {
  clock: Clock
  /** The share of a lease after which it is extended. */
  share: number
  /** Extends up to 1,000 leases, of the same length. Resolves to what became of each. */
  extend: (leases: readonly Held[], ms: number) => Promise<(lease: Held) => LeaseFate>
  faults: Pick<Faults<never>, 'database'>
}

export class Leases<Held extends Lease<unknown>> {
  readonly held = new Map<unknown, Held>()
  readonly #pauses = new Pauses(LONGEST_PAUSE_MS)
  #cancel: (() => void) | undefined

  constructor(private readonly options: LeasesOptions<Held>) {}

  /** Those that are due, because the claim took long, are extended before this resolves. Never rejects. */
  add(leases: readonly Held[]): Promise<void> {
    for (const lease of leases) {
      this.held.get(lease.key)?.lose()
      this.held.set(lease.key, lease)
    }
    const now = this.options.clock.now()
    return this.extend(leases.filter((lease) => now >= this.dueAt(lease)))
  }

  /** It is settled, or given back. False if it was not held any more. */
  remove(lease: Held): boolean {
    return this.held.get(lease.key) === lease && this.held.delete(lease.key)
  }

  close(): void {
    this.held.clear()
    this.#cancel?.()
  }

  /** When it is time to extend it. */
  dueAt({ endsAt, ms }: Held): number {
    return endsAt - ms * (1 - this.options.share)
  }

  /**
   * Extends now, or waits for the extensions that are under way; a lease that could not be extended is lost, or tried
   * again while it holds. Never rejects.
   */
  async extend(leases: readonly Held[]): Promise<void> {
    for (;;) {
      const idle = leases.filter(({ extending }) => !extending)
      if (!idle[0]) break
      const { ms } = idle[0]
      const same = idle.filter((lease) => lease.ms === ms).slice(0, MAX_AT_ONCE)
      const extending = this.#extend(same, ms)
      for (const lease of same) lease.extending = extending
    }
    await Promise.all(leases.map(({ extending }) => extending))
    this.#look()
  }

  async #extend(leases: readonly Held[], ms: number): Promise<void> {
    const { clock, share, extend, faults } = this.options
    const sentAt = clock.now()
    for (const lease of leases) lease.isUndecided ||= sentAt >= lease.endsAt
    let become: ((lease: Held) => LeaseFate) | undefined
    let retryAt = 0
    try {
      become = await extend(leases, ms)
      this.#pauses.reset()
    } catch (error) {
      faults.database(error)
      retryAt = clock.now() + this.#pauses.next()
    }
    for (const lease of leases) {
      const is = become?.(lease)
      lease.extending = null
      lease.isUndecided = is === 'locked'
      lease.retryAt = lease.isUndecided ? sentAt + ms * share : retryAt
      if (is === 'extended') lease.endsAt = sentAt + ms
      if (is === 'lost') this.#lose(lease)
    }
  }

  /** Extends what is due, gives up what has ended, and looks again when there is more to do. */
  #look(): void {
    const { clock, share } = this.options
    const now = clock.now()
    /** Due, or more than half of the way to it: extended together, to have fewer statements. */
    const soon: Held[] = []
    let isAnyDue = false
    let nextAt = Number.POSITIVE_INFINITY
    for (const lease of this.held.values()) {
      const { ms, endsAt, extending, retryAt } = lease
      const dueAt = Math.max(this.dueAt(lease), retryAt)
      const isDue = now >= dueAt
      if (!lease.isUndecided) {
        if (now >= endsAt && (extending || retryAt)) this.#lose(lease)
        nextAt = Math.min(nextAt, endsAt)
      }
      if (extending || lease.isLost) continue
      isAnyDue ||= isDue
      if (isDue || now >= Math.max(lease.keptAt, dueAt - (ms * share) / 2)) soon.push(lease)
      if (!isDue) nextAt = Math.min(nextAt, dueAt)
    }
    if (isAnyDue) void this.extend(soon)
    this.#cancel?.()
    // Without one, all that are held are being extended, and the end of that looks again.
    if (nextAt < Number.POSITIVE_INFINITY)
      this.#cancel = clock.after(Math.max(nextAt - now, MIN_PAUSE_MS), () => this.#look())
  }

  /** A claim that was settled since is not there any more either. */
  #lose(lease: Held): void {
    if (this.remove(lease)) lease.lose()
  }
}

/** The object that extends claims. */
export interface ExtendSource {
  extendMany(
    queue: string,
    handles: readonly string[],
    how: { visibilityTimeoutSeconds: number; timeoutSeconds: number },
  ): Promise<{ failed: readonly { receiptHandle: string }[] }>
}

export function isSuspect(message: Message): boolean {
  const { receiveCount, maxReceives } = message
  return mayHaveKilled(message) && maxReceives !== null && receiveCount >= maxReceives
}

/** `sentAt`: before the receive. Where that did not say how long a message is held, two times of the database's clock do. */
export function leaseOf(message: Message, sentAt: number, seconds = 0): Lease<Message> {
  const { id, visibleAt, receivedAt } = message
  const heldMs = seconds * 1000 || visibleAt.getTime() - receivedAt.getTime()
  const ms = Math.max(1, Math.ceil(heldMs / 1000)) * 1000
  return new Lease(message, id, ms, sentAt + heldMs, isSuspect(message))
}

/** How the leases of messages are extended. */
export function extendBy(source: ExtendSource, queue: string) {
  return async (leases: readonly Lease<Message>[], ms: number): Promise<(lease: Lease<Message>) => LeaseFate> => {
    const handles = leases.map(({ subject }) => subject.receiptHandle)
    // Over REST a second attempt still fits into what is left of the claim.
    const how = { visibilityTimeoutSeconds: ms / 1000, timeoutSeconds: Math.max(ms / 4000, 1) }
    const { failed } = await source.extendMany(queue, handles, how)
    const stale = new Set(failed.map(({ receiptHandle }) => receiptHandle))
    return ({ subject }) => (stale.has(subject.receiptHandle) ? 'lost' : 'extended')
  }
}
