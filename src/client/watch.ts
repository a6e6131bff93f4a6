/**
 * The watch of a group, which connects again as often as needed. Invariant: an item is given once, and no item after the
 * last one given is left out without a `reset`.
 */

import { onAbort, pauseMs } from '../shared/backoff'
import type { GroupEvent, GroupWatch, WatchOptions } from '../shared/group-types'
import { invalidInput, RecentnError } from '../shared/recentn-error'
import { recentItems } from './operations'
import { mayPass, pause } from './retry'
import { GroupStream } from './stream'
import type { Transport } from './transport'

export interface StreamOptions extends Pick<WatchOptions, 'after' | 'resumes' | 'signal'> {
  /**
   * Seconds of silence after which a connection is given up; 45 when left out. The server sends something every 15 seconds.
   */
  idleSeconds?: number | undefined
  /** Called with the reason why a connection ended or failed, before the next attempt. */
  onDisconnect?: ((error: RecentnError) => void) | undefined
}

const IDLE_SECONDS = 45
const LONGEST_PAUSE_MS = 30_000

export function watchGroup(transport: Transport, group: string, options: StreamOptions): GroupWatch {
  return new Watch(transport, group, options)
}

class Watch implements GroupWatch {
  readonly ready: Promise<bigint>
  readonly #transport: Transport
  readonly #group: string
  readonly #options: StreamOptions
  readonly #ending = new AbortController()
  readonly #stream: GroupStream
  readonly #events: AsyncGenerator<GroupEvent, undefined, undefined>
  /** The first event is requested at once, so that the watch connects before anybody asks for it. */
  #first: Promise<IteratorResult<GroupEvent, undefined>> | null
  /** The id after which the next connection starts; undefined until it is known. */
  #after: bigint | undefined
  /** The greatest id that was given. */
  #given: bigint | undefined

  constructor(transport: Transport, group: string, options: StreamOptions) {
    const { after, resumes = false, signal, idleSeconds = IDLE_SECONDS } = options
    if (after !== undefined && typeof after !== 'bigint') {
      throw invalidInput([{ parameter: 'after', detail: 'must be a bigint' }])
    }
    this.#transport = transport
    this.#group = group
    this.#options = options
    this.#after = after
    this.#stream = new GroupStream(transport, group, idleSeconds, this.#ending.signal)
    this.#ending.signal.addEventListener(
      'abort',
      onAbort(signal, () => this.#ending.abort()),
    )
    let connected: (after: bigint) => void = () => {}
    const connecting = new Promise<bigint>((resolve) => {
      connected = resolve
    })
    this.#events = this.#run(resumes, connected)
    const first = this.#events.next()
    this.#first = first
    // A watch that ends before it is connected is ready too: no caller waits for it any more.
    this.ready = Promise.race([connecting, first.then(() => this.#after ?? -1n)])
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

  async *#run(resumes: boolean, connected: (after: bigint) => void): AsyncGenerator<GroupEvent, undefined, undefined> {
    const { signal } = this.#ending
    let failures = 0
    let isResuming = resumes
    while (!signal.aborted) {
      let error = new RecentnError('unreachable', 'The server has ended the stream', { status: 503 })
      try {
        this.#after ??= await this.#newest()
        for await (const event of this.#stream.events(this.#after, isResuming)) {
          connected(this.#after)
          isResuming = true
          if (event === 'connected') continue
          failures = 0
          if (this.#isNew(event)) yield event
        }
      } catch (thrown) {
        if (signal.aborted) break
        if (!(thrown instanceof RecentnError) || !mayPass(thrown)) throw thrown
        error = thrown
      }
      if (signal.aborted) break
      this.#options.onDisconnect?.(error)
      const waitMs = pauseMs(failures++, this.#stream.retryMs, LONGEST_PAUSE_MS)
      await pause(Math.max(waitMs, (error.retryAfterSeconds ?? 0) * 1000), signal)
    }
    return undefined
  }

  /** Where to start again if the first connection breaks before its first event. */
  async #newest(): Promise<bigint> {
    const options = { limit: 1, signal: this.#ending.signal }
    return (await this.#transport.asked(recentItems, { group: this.#group }, options)).totalAppended - 1n
  }

  /** Notes how far the watch is. False for an item that was given before. */
  #isNew(event: GroupEvent): boolean {
    if (event.type === 'item') {
      const { id } = event.item
      this.#after = id
      if (this.#given !== undefined && id <= this.#given) return false
      this.#given = id
    } else if (event.type === 'reset') {
      this.#after = event.totalAppended - 1n
      this.#given = undefined
    }
    return true
  }
}
