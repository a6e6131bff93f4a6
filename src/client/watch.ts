/**
 * What happens to a group, over as many connections as it takes. Invariant: what is given and what is asked for next fit
 * together: an item is given once, and none after the last one given is left out without a `reset`.
 */
import type { EventSourceMessage } from 'eventsource-parser'
import { invalidInput, RecentnError } from '../errors'
import { Connection } from './connection'
import { decoded } from './convert'
import { backoff, mayPass } from './retry'
import { pause } from './signals'
import type { Transport } from './transport'
import type { GroupReset, Item } from './wire/answers'

export interface WatchOptions {
  /** Begin after this item: what came since, too; −1 for all there is. From now on when left out. */
  after?: bigint | undefined
  /** Ends the watching. */
  signal?: AbortSignal | undefined
  /** A connection on which nothing comes for so long is dead; 45,000 when left out. The server sends every 15 seconds. */
  idleMs?: number | undefined
  /** Told why a connection ended, or could not be had, before the next one is tried. */
  onDisconnect?: ((error: RecentnError) => void) | undefined
}

/**
 * A change of a group's window. Whoever keeps the newest `capacity` items of those told, in a `history` group only those
 * whose id is above the newest less `capacity`, without those removed, has the window. An `item` may be told that a page
 * read meanwhile has already.
 */
export type GroupEvent =
  | { type: 'item'; item: Item }
  /** No longer in the window, for another reason than newer items in a full one. The listener may not have it. */
  | { type: 'removed'; id: bigint }
  /**
   * What was told before is not to be gone by any more: read the group anew, without items that have an id of `total` or
   * more. These, and what changes from then on, follow.
   */
  | ({ type: 'reset' } & GroupReset)

/** What happens to a group, until it is left (`break`, `return()`, the signal). */
export interface GroupWatch extends AsyncIterableIterator<GroupEvent, undefined, undefined> {
  /** Resolves when the first connection stands; rejects, as the first event does, where that can't be. */
  readonly ready: Promise<void>
  return(): Promise<IteratorResult<GroupEvent, undefined>>
}

const IDLE_MS = 45_000
const LONGEST_PAUSE_MS = 30_000

export function watchGroup(transport: Transport, group: string, options: WatchOptions): GroupWatch {
  return new Watch(transport, group, options)
}

class Watch implements GroupWatch {
  readonly ready: Promise<void>
  readonly #transport: Transport
  readonly #group: string
  readonly #options: WatchOptions
  readonly #ending = new AbortController()
  readonly #connection: Connection
  readonly #events: AsyncGenerator<GroupEvent, undefined, undefined>
  /** The first event is waited for from the beginning: nobody has to ask for it before it connects. */
  #first: Promise<IteratorResult<GroupEvent, undefined>> | null
  /** Where the next connection begins; undefined until that was found out. */
  #after: bigint | undefined
  /** Up to here the items were given. */
  #given: bigint | undefined

  constructor(transport: Transport, group: string, options: WatchOptions) {
    const { after, signal, idleMs = IDLE_MS } = options
    if (after !== undefined && typeof after !== 'bigint') {
      throw invalidInput([{ parameter: 'after', detail: 'must be a bigint' }])
    }
    this.#transport = transport
    this.#group = group
    this.#options = options
    this.#after = after
    this.#connection = new Connection(transport, group, idleMs, this.#ending.signal)
    const end = () => this.#ending.abort()
    if (signal?.aborted) end()
    signal?.addEventListener('abort', end)
    this.#ending.signal.addEventListener('abort', () => signal?.removeEventListener('abort', end))
    let stands = () => {}
    const standing = new Promise<void>((resolve) => {
      stands = resolve
    })
    this.#events = this.#run(stands)
    const first = this.#events.next()
    this.#first = first
    // A watch that is left before it stands is not waited for any more.
    this.ready = Promise.race([standing, first.then(() => {})])
    this.ready.catch(() => {})
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<GroupEvent, undefined>> {
    const first = this.#first
    this.#first = null
    return first ?? this.#events.next()
  }

  async return(): Promise<IteratorResult<GroupEvent, undefined>> {
    this.#ending.abort()
    await this.#events.return(undefined)
    return { done: true, value: undefined }
  }

  async *#run(stands: () => void): AsyncGenerator<GroupEvent, undefined, undefined> {
    const { signal } = this.#ending
    let failures = 0
    for (let isFirst = true; !signal.aborted; ) {
      let error = new RecentnError('unreachable', 'The server has ended the stream')
      try {
        this.#after ??= await this.#newest()
        for await (const message of this.#connection.events(this.#after)) {
          if (isFirst) stands()
          isFirst = false
          if (message === null) continue
          failures = 0
          yield* this.#told(message)
        }
      } catch (thrown) {
        if (signal.aborted) break
        if (!(thrown instanceof RecentnError) || !mayPass(thrown)) throw thrown
        error = thrown
      }
      if (signal.aborted) break
      this.#options.onDisconnect?.(error)
      const waitMs = backoff(failures++, this.#connection.retryMs, LONGEST_PAUSE_MS)
      await pause(Math.max(waitMs, error.retryAfterMs ?? 0), signal)
    }
    return undefined
  }

  /** Before the first connection: a place to come back to, should it be cut before anything was told. */
  async #newest(): Promise<bigint> {
    const input = { path: { group: this.#group }, query: { limit: 1 } }
    const { value } = await this.#transport.call('recentItems', input, { signal: this.#ending.signal })
    return value.total - 1n
  }

  /** The event of a message; none of one that was given before, and of one of a kind that is not known. */
  *#told({ event, data }: EventSourceMessage): Generator<GroupEvent, void, undefined> {
    const value = JSON.parse(data)
    if (event === 'item') {
      const item = decoded(value, 'Item') as Item
      this.#after = item.id
      if (this.#given !== undefined && item.id <= this.#given) return
      this.#given = item.id
      yield { type: 'item', item }
    } else if (event === 'removed') {
      yield { type: 'removed', id: BigInt(value.id) }
    } else if (event === 'reset') {
      const reset = decoded(value, 'GroupReset') as GroupReset
      this.#after = reset.total - 1n
      this.#given = undefined
      yield { type: 'reset', ...reset }
    }
  }
}
