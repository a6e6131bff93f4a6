/**
 * One listener of a group's changes: what it was told and has not taken yet. Bounded: one that takes too slowly gets no
 * more items until it has caught up, and goes on then from where it stood. No SQL.
 *
 * Invariant: `position` is the id up to which everything was told, or never has to be; it only rises, and no item of
 * the window beyond it is passed over.
 */
import { type ItemRow, itemOf } from '../../repositories/recent/rows'
import type { GroupEvent, GroupWatch, WatchOptions } from '../../repositories/recent/types'
import type { WatchedWindow } from '../../repositories/recent/watch'
import { asRemoved, asReset } from '../../results/groups'

/** What may wait here before no more items are taken in: of one listener, about the memory that it may cost. */
const MAX_BYTES = 1024 * 1024
/** About what an event takes beside its payload. */
const EVENT_BYTES = 300
/** Removals that may wait before all of it is dropped for a reset. */
const MAX_EVENTS = 20_000

type Told = { row: ItemRow } | { event: GroupEvent }
type Taken = IteratorResult<GroupEvent, undefined>

interface Taker {
  resolve(taken: Taken): void
  reject(error: unknown): void
}

export interface ListenerHooks {
  /** It has room again. */
  drained(): void
  ended(): void
}

export class GroupListener implements GroupWatch {
  readonly ready: Promise<void>
  readonly after: bigint | undefined
  /** Null until the group was looked at for it. */
  position: bigint | null = null
  readonly #options: WatchOptions
  readonly #hooks: ListenerHooks
  readonly #abort = () => this.end()
  #isReady: Taker = { resolve: () => {}, reject: () => {} }
  #told: Told[] = []
  #bytes = 0
  #full = false
  #takers: Taker[] = []
  #ended = false
  #error: unknown = null

  constructor(options: WatchOptions, hooks: ListenerHooks) {
    this.#options = options
    this.#hooks = hooks
    this.after = options.after
    this.ready = new Promise((resolve, reject) => {
      this.#isReady = { resolve: () => resolve(), reject }
    })
    // Who does not ask gets it as the first event.
    this.ready.catch(() => {})
    options.signal?.addEventListener('abort', this.#abort)
  }

  get isEnded(): boolean {
    return this.#ended
  }

  /** Takes no items for now. */
  get isFull(): boolean {
    return this.#full
  }

  /** The group was looked at: everything up to `position` is told, or was there before. */
  join(position: bigint): void {
    this.position = position
    this.#isReady.resolve({ done: true, value: undefined })
  }

  item(row: ItemRow): void {
    this.position = row.id
    this.#tell({ row }, EVENT_BYTES + (row.payload?.length ?? 0))
  }

  removed(id: bigint, window: WatchedWindow): void {
    if (this.#told.length >= MAX_EVENTS) this.reset(window)
    else this.#tell({ event: asRemoved({ type: 'removed', id }) }, EVENT_BYTES)
  }

  /** What waits is of no use any more. */
  reset({ group, settings: { capacity, mode }, lastId }: WatchedWindow): void {
    this.#told = []
    this.#bytes = 0
    this.#full = false
    this.position = lastId
    const event = asReset({ type: 'reset', group, capacity, mode, total: lastId + 1n })
    this.#tell({ event }, EVENT_BYTES)
  }

  /** Nothing is told any more, not even what waits. An error is thrown to whom takes next. */
  end(error: unknown = null): void {
    if (this.#ended) return
    this.#ended = true
    this.#told = []
    this.#options.signal?.removeEventListener('abort', this.#abort)
    if (error === null) this.#isReady.resolve({ done: true, value: undefined })
    else this.#isReady.reject(error)
    this.#error = error
    for (const taker of this.#takers.splice(0)) this.#finish(taker)
    this.#hooks.ended()
  }

  next(): Promise<Taken> {
    return new Promise((resolve, reject) => {
      const taker = { resolve, reject }
      const told = this.#told.shift()
      if (told !== undefined) this.#give(taker, told)
      else if (this.#ended) this.#finish(taker)
      else this.#takers.push(taker)
    })
  }

  async return(): Promise<Taken> {
    this.end()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #tell(told: Told, bytes: number): void {
    if (this.#ended) return
    this.#bytes += bytes
    const taker = this.#takers.shift()
    if (taker) this.#give(taker, told)
    else this.#told.push(told)
    if (this.#bytes >= MAX_BYTES) this.#full = true
  }

  #give(taker: Taker, told: Told): void {
    this.#bytes -= EVENT_BYTES + ('row' in told ? (told.row.payload?.length ?? 0) : 0)
    try {
      const value: GroupEvent =
        'row' in told ? { type: 'item', item: itemOf(told.row, this.#options.payloads) } : told.event
      taker.resolve({ done: false, value })
    } catch (error) {
      // A payload that was written past recentn may be no JSON.
      taker.reject(error)
      this.end()
    }
    if (!this.#full || this.#bytes > MAX_BYTES / 2) return
    this.#full = false
    this.#hooks.drained()
  }

  #finish(taker: Taker): void {
    const error = this.#error
    this.#error = null
    if (error === null) taker.resolve({ done: true, value: undefined })
    else taker.reject(error)
  }
}
