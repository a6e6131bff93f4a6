/**
 * How a worker ends its claims: deletions, releases and give-backs, batched. While a call is in flight the next one
 * collects, and a second goes beside it only when as much waits as is in flight; there is no timer, so that a lone
 * message is settled at once. Owns what waits to be settled.
 *
 * Invariant: a claim is in one call at a time. What the database did not answer is asked again until the lease is over,
 * and beyond it while the database is away: the handle fences, so that a late deletion still saves work when nobody
 * else has the message.
 */
import { RecentnError } from '../../errors'
import { Pauses } from '../../kit/backoff'
import { isShared } from '../../kit/pending'
import type { Claim } from './claims'
import type { WorkSource } from './source'

const MAX_HANDLES = 1000
const AT_ONCE = 2
const LONGEST_PAUSE_MS = 5000
/** How long a worker that is stopping asks again. */
const LAST_PATIENCE_MS = 30_000

export interface SettleLineOptions<Kind> {
  /** Settles at most 1,000 claims; the database decides which handles still count. */
  run(kind: Kind, handles: readonly string[]): Promise<unknown>
  onFault(error: unknown): void
}

/** Calls of one operation; claims of the same kind, by its text, may share one. */
export class SettleLine<Kind> {
  readonly #options: SettleLineOptions<Kind>
  readonly #pauses = new Pauses(LONGEST_PAUSE_MS)
  readonly #waiting = new Map<string, { kind: Kind; claims: Claim[] }>()
  #waitingSize = 0
  #inFlight = 0
  #inFlightSize = 0
  #isPlanned = false
  #pause: NodeJS.Timeout | null = null
  #patienceEndsAt = Number.POSITIVE_INFINITY
  #onDrained: (() => void)[] = []

  constructor(options: SettleLineOptions<Kind>) {
    this.#options = options
  }

  add(key: string, kind: Kind, claims: readonly Claim[]): void {
    const same = this.#waiting.get(key)
    if (same) for (const claim of claims) same.claims.push(claim)
    else this.#waiting.set(key, { kind, claims: [...claims] })
    this.#waitingSize += claims.length
    this.#plan()
  }

  /** From now on what the database does not answer is given up when its lease is over, or after half a minute. */
  hurry(): void {
    this.#patienceEndsAt = Math.min(this.#patienceEndsAt, performance.now() + LAST_PATIENCE_MS)
  }

  /** Resolves when nothing waits to be settled. */
  drained(): Promise<void> {
    if (this.#waitingSize + this.#inFlight === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onDrained.push(resolve)
    })
  }

  /** Gives up what waits: it is handed out again when its visibility is over. */
  giveUp(): void {
    this.#waiting.clear()
    this.#waitingSize = 0
    if (this.#pause) clearTimeout(this.#pause)
    this.#pause = null
    this.#tellDrained()
  }

  /** After what else this turn of the event loop brings: what ends together is settled together. */
  #plan(): void {
    if (this.#isPlanned || this.#pause || this.#waitingSize === 0 || !this.#isRoom()) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      while (this.#waitingSize > 0 && this.#isRoom() && !this.#pause) void this.#call()
    })
  }

  #isRoom(): boolean {
    if (this.#inFlight === 0) return true
    const enough = this.#waiting.size > 1 || this.#waitingSize >= Math.min(this.#inFlightSize, MAX_HANDLES)
    return this.#inFlight < AT_ONCE && enough
  }

  async #call(): Promise<void> {
    const [key, { kind, claims }] = this.#waiting.entries().next().value as [string, { kind: Kind; claims: Claim[] }]
    const taken = claims.splice(0, MAX_HANDLES)
    if (claims.length === 0) this.#waiting.delete(key)
    this.#waitingSize -= taken.length
    this.#inFlight++
    this.#inFlightSize += taken.length
    const handles = taken.map(({ handle }) => handle)
    try {
      await this.#options.run(kind, handles)
      this.#pauses.reset()
    } catch (error) {
      this.#options.onFault(error)
      this.#again(key, kind, taken, error)
    }
    this.#inFlight--
    this.#inFlightSize -= taken.length
    this.#plan()
    this.#tellDrained()
  }

  #again(key: string, kind: Kind, claims: readonly Claim[], error: unknown): void {
    if (error instanceof RecentnError && (error.code === 'closed' || error.code === 'queue_not_found')) return
    const now = performance.now()
    if (now >= this.#patienceEndsAt) return
    const isAway = isShared(error) && this.#patienceEndsAt === Number.POSITIVE_INFINITY
    const left = isAway ? claims : claims.filter(({ endsAt }) => now < endsAt)
    if (left.length === 0) return
    this.#pause ??= setTimeout(() => {
      this.#pause = null
      this.#plan()
    }, this.#pauses.next())
    this.add(key, kind, left)
  }

  #tellDrained(): void {
    if (this.#waitingSize + this.#inFlight > 0) return
    for (const resolve of this.#onDrained.splice(0)) resolve()
  }
}

/** Handed out again after the delay, or with `dead` never. */
interface Failure {
  delaySeconds: number
  error: string
  dead: boolean
}

/** The three ways in which a claim ends. */
export class Settles {
  readonly #deletes: SettleLine<null>
  readonly #releases: SettleLine<Failure>
  readonly #returns: SettleLine<null>

  constructor(source: WorkSource, queue: string, onFault: (error: unknown) => void) {
    this.#deletes = new SettleLine({ run: (_, handles) => source.delete(queue, handles), onFault })
    this.#releases = new SettleLine({ run: (failure, handles) => source.release(queue, handles, failure), onFault })
    this.#returns = new SettleLine({ run: (_, handles) => source.giveBack(queue, handles), onFault })
  }

  get #lines(): Pick<SettleLine<null>, 'drained' | 'hurry' | 'giveUp'>[] {
    return [this.#deletes, this.#releases, this.#returns]
  }

  done(claim: Claim): void {
    this.#deletes.add('', null, [claim])
  }

  failed(claim: Claim, failure: Failure): void {
    this.#releases.add(`${failure.dead} ${failure.delaySeconds} ${failure.error}`, failure, [claim])
  }

  /** No handler has begun: as if they had not been claimed. */
  handBack(claims: readonly Claim[]): void {
    if (claims.length > 0) this.#returns.add('', null, claims)
  }

  async drained(): Promise<void> {
    await Promise.all(this.#lines.map((line) => line.drained()))
  }

  hurry(): void {
    for (const line of this.#lines) line.hurry()
  }

  giveUp(): void {
    for (const line of this.#lines) line.giveUp()
  }
}
