/**
 * One listener of a group's changes. Owns the events that the listener has not taken yet. They are bounded: a listener that
 * takes them too slowly gets no more items until it has caught up, and then continues from its position. No SQL.
 *
 * Invariant: `position` is the id up to which the listener has every item that it needs. It only rises, and no item of the window
 * beyond it is left out.
 */
import { REMOVED, RESET } from '../../fields/answers-groups'
import { type ItemRow, itemOf } from '../../repositories/recent/rows'
import type { WatchedWindow } from '../../repositories/recent/watch'
import type { GroupEvent, GroupWatch, WatchOptions } from '../../shared/group-types'

/** Bytes of waiting events from which on no more items are added: about the memory that one listener may cost. */
const MAX_BYTES = 1024 * 1024
/** About the bytes that an event takes beside its payload. */
const EVENT_BYTES = 300
/** Waiting removals from which on all events are replaced by a reset. */
const MAX_EVENTS = 20_000

type WaitingEvent = { row: ItemRow } | { event: GroupEvent }
type NextEvent = IteratorResult<GroupEvent, undefined>

interface EventTaker {
  resolve(next: NextEvent): void
  reject(error: unknown): void
}

interface ListenerHooks {
  /** It has room again. */
  drained(): void
  ended(): void
}

export class GroupListener implements GroupWatch {
  readonly ready: Promise<bigint>
  readonly after: bigint | undefined
  readonly resumes: boolean
  /** Null until the group was read for this listener. */
  position: bigint | null = null
  readonly #options: WatchOptions
  readonly #hooks: ListenerHooks
  readonly #abort = () => this.end()
  #isReady: { resolve(position: bigint): void; reject(error: unknown): void } = { resolve: () => {}, reject: () => {} }
  #waiting: WaitingEvent[] = []
  #bytes = 0
  #full = false
  #takers: EventTaker[] = []
  #ended = false
  #error: unknown = null

  constructor(options: WatchOptions, hooks: ListenerHooks) {
    this.#options = options
    this.#hooks = hooks
    this.after = options.after
    this.resumes = options.resumes === true
    this.ready = new Promise((resolve, reject) => {
      this.#isReady = { resolve, reject }
    })
    // A caller that does not wait for `ready` gets the error with the first event.
    this.ready.catch(() => {})
    options.signal?.addEventListener('abort', this.#abort)
  }

  get isFull(): boolean {
    return this.#full
  }

  /** The group was read: the listener needs no item up to `position`. */
  join(position: bigint): void {
    this.position = position
    this.#isReady.resolve(position)
  }

  item(row: ItemRow): void {
    this.position = row.id
    this.#tell({ row }, EVENT_BYTES + (row.payload?.length ?? 0))
  }

  removed(id: bigint, window: WatchedWindow): void {
    if (this.#waiting.length >= MAX_EVENTS) this.reset(window)
    else this.#tell({ event: REMOVED.of({ type: 'removed', id }) }, EVENT_BYTES)
  }

  reset({ group, settings: { capacity, mode }, lastId }: WatchedWindow): void {
    this.#waiting = []
    this.#bytes = 0
    this.#full = false
    this.position = lastId
    const event = RESET.of({ type: 'reset', group, capacity, mode, totalAppended: lastId + 1n })
    this.#tell({ event }, EVENT_BYTES)
  }

  /** Drops the events that wait; the next one that is asked for is the end, or the error. */
  end(error: unknown = null): void {
    if (this.#ended) return
    this.#ended = true
    this.#waiting = []
    this.#options.signal?.removeEventListener('abort', this.#abort)
    if (error === null) this.#isReady.resolve(this.position ?? this.after ?? -1n)
    else this.#isReady.reject(error)
    this.#error = error
    for (const taker of this.#takers.splice(0)) this.#finish(taker)
    this.#hooks.ended()
  }

  next(): Promise<NextEvent> {
    return new Promise((resolve, reject) => {
      const taker = { resolve, reject }
      const waiting = this.#waiting.shift()
      if (waiting !== undefined) this.#give(taker, waiting)
      else if (this.#ended) this.#finish(taker)
      else this.#takers.push(taker)
    })
  }

  async return(): Promise<NextEvent> {
    this.end()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #tell(event: WaitingEvent, bytes: number): void {
    if (this.#ended) return
    this.#bytes += bytes
    const taker = this.#takers.shift()
    if (taker) this.#give(taker, event)
    else this.#waiting.push(event)
    if (this.#bytes >= MAX_BYTES) this.#full = true
  }

  #give(taker: EventTaker, waiting: WaitingEvent): void {
    this.#bytes -= EVENT_BYTES + ('row' in waiting ? (waiting.row.payload?.length ?? 0) : 0)
    try {
      const value: GroupEvent =
        'row' in waiting ? { type: 'item', item: itemOf(waiting.row, this.#options.payloads) } : waiting.event
      taker.resolve({ done: false, value })
    } catch (error) {
      // A payload that another program wrote may not be JSON.
      taker.reject(error)
      this.end()
    }
    if (!this.#full || this.#bytes > MAX_BYTES / 2) return
    this.#full = false
    this.#hooks.drained()
  }

  #finish(taker: EventTaker): void {
    const error = this.#error
    this.#error = null
    if (error === null) taker.resolve({ done: true, value: undefined })
    else taker.reject(error)
  }
}
