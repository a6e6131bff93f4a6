/** Counts of messages that are kept for some seconds, because counting takes the longer the more there are. */
import type { Reader } from '../../database/engine'
import { performance } from '../../shared/platform'
import { CachedCount } from '../cached-count'
import { countMessages, type QueueTotals } from './counts'
import { diedIn, type Letters, readLetters } from './dead/deaths'
import type { QueueHead } from './heads'
import { type Growths, growthIn, readGrowth } from './history/read'
import { lookAtQueues, type QueuesLook } from './troubles'

/** Counts that are reported may be 5 seconds old; the rest is for the counting itself. */
const COUNTS_MS = 4000

export class KnownTotals {
  readonly #counts = new Map<bigint, { at: number; totals: Promise<QueueTotals> }>()
  readonly #growth = new CachedCount<Growths>()
  readonly #letters = new CachedCount<readonly Letters[]>()
  readonly #look = new CachedCount<QueuesLook>()

  /** `isKept`: false in a transaction, which must see its own changes. */
  constructor(private readonly isKept: boolean) {}

  async of(reader: Reader, head: QueueHead): Promise<QueueTotals & { died: number; growthPerMinute: number | null }> {
    const totals = await this.#ofQueue(reader, head)
    const died = diedIn(head.id, totals.counts.dead, await this.#kept(this.#letters, () => readLetters(reader)))
    const growth = await this.#kept(this.#growth, () => readGrowth(reader))
    return { ...totals, died, growthPerMinute: growthIn(growth, head.id)?.perMinute ?? null }
  }

  /** All queues: their messages and troubles. */
  look(reader: Reader): Promise<QueuesLook> {
    return this.#kept(this.#look, () => lookAtQueues(reader))
  }

  #kept<T>(count: CachedCount<T>, read: () => Promise<T>): Promise<T> {
    return this.isKept ? count.get(read) : read()
  }

  /** The queue is gone. */
  delete(id: bigint): void {
    this.#counts.delete(id)
  }

  #ofQueue(reader: Reader, { id }: QueueHead): Promise<QueueTotals> {
    const known = this.#counts.get(id)
    if (known && performance.now() - known.at < COUNTS_MS) return known.totals
    const totals = countMessages(reader, id)
    if (!this.isKept) return totals
    this.#counts.set(id, { at: performance.now(), totals })
    totals.catch(() => this.#counts.delete(id))
    return totals
  }
}
