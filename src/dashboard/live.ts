/**
 * A group as it is at this moment: its newest items, read once, and kept up by its stream, which begins after what was read:
 * nothing falls between. When it ends the items are read again, and the next one opened, after a pause that grows. A
 * hidden tab has no stream: browsers give a server six connections in all.
 */
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { type ApiError, api, toApiError } from './api'
import { parseExactly } from './json'
import type { GroupReset, Item, Recent } from './types'

export type LiveState = 'connecting' | 'live' | 'paused' | 'reconnecting'

export interface LiveView {
  state: LiveState
  error: ApiError | null
  /** Null until they were read. */
  recent: Recent | null
  /** Ids that came while one was looking. */
  arrived: ReadonlySet<string>
  /** How many came, ever. */
  arrivals: number
}

const FIRST = 50
const MORE = 100
const MAX_SHOWN = 10_000
/** Events are shown together, so that a busy group costs no more than this often. */
const GATHER_MS = 80
/** The server sends a comment every 15 seconds. */
const SILENCE_MS = 40_000
const MAX_PAUSE_MS = 20_000

export class LiveGroup {
  readonly #group: string
  readonly #show: (view: LiveView) => void
  #recent: Recent | null = null
  #arrived = new Set<string>()
  #arrivals = 0
  #state: LiveState = 'connecting'
  #error: ApiError | null = null
  #shown = FIRST
  #paused = false
  #ended = false
  #failures = 0
  #connection: AbortController | null = null
  #retry: ReturnType<typeof setTimeout> | undefined
  #showing: ReturnType<typeof setTimeout> | undefined

  constructor(group: string, show: (view: LiveView) => void) {
    this.#group = group
    this.#show = show
    document.addEventListener('visibilitychange', this.#look)
    this.#look()
  }

  pause(): void {
    this.#paused = true
    this.#disconnect()
    this.#set('paused')
  }

  resume(): void {
    this.#paused = false
    this.again()
  }

  /** Connects now, with the key that there is now. */
  again(): void {
    if (this.#paused || this.#ended || document.hidden) return
    this.#disconnect()
    this.#failures = 0
    this.#set(this.#recent === null ? 'connecting' : 'reconnecting')
    this.#connect()
  }

  /** Forgets what was read with another key. */
  forget(): void {
    this.#recent = null
    this.#error = null
    this.again()
  }

  async older(): Promise<void> {
    const before = this.#recent?.nextBefore
    if (!before) return
    this.#shown = Math.min(this.#shown + MORE, MAX_SHOWN)
    try {
      const page = await api.recent(this.#group, MORE, before)
      for (const item of page.items) this.#insert(item)
      if (this.#recent !== null) this.#recent.nextBefore = page.nextBefore
      this.#changed()
    } catch (thrown) {
      this.#set(this.#state, toApiError(thrown))
    }
  }

  end(): void {
    this.#ended = true
    document.removeEventListener('visibilitychange', this.#look)
    this.#disconnect()
    clearTimeout(this.#showing)
  }

  readonly #look = (): void => {
    if (document.hidden) this.#disconnect()
    else this.again()
  }

  #disconnect(): void {
    clearTimeout(this.#retry)
    this.#connection?.abort()
    this.#connection = null
  }

  async #connect(): Promise<void> {
    const connection = new AbortController()
    this.#connection = connection
    const { signal } = connection
    try {
      const { total } = await this.#read(signal)
      const stream = await api.stream(this.#group, String(BigInt(total) - 1n), signal)
      this.#failures = 0
      this.#set('live')
      if (stream.body !== null) await this.#follow(stream.body, connection)
    } catch (thrown) {
      if (signal.aborted) return
      this.#failures++
      this.#error = toApiError(thrown)
    }
    if (signal.aborted) return
    this.#set('reconnecting', this.#error)
    if (this.#error?.isAccess) return
    const pause = Math.min(500 * 2 ** this.#failures, MAX_PAUSE_MS)
    this.#retry = setTimeout(() => this.#connect(), pause / 2 + (Math.random() * pause) / 2)
  }

  async #read(signal: AbortSignal): Promise<Recent> {
    const read = await api.recent(this.#group, this.#shown, null, signal)
    const known = new Set(this.#recent?.items.map(({ id }) => id))
    const isFirst = this.#recent === null
    this.#recent = read
    if (!isFirst) for (const { id } of read.items) if (!known.has(id)) this.#arrive(id)
    this.#changed()
    return read
  }

  async #follow(body: ReadableStream<Uint8Array>, connection: AbortController): Promise<void> {
    const came: EventSourceMessage[] = []
    const parser = createParser({ onEvent: (event) => came.push(event) })
    const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader()
    try {
      for (;;) {
        const silence = setTimeout(() => reader.cancel(), SILENCE_MS)
        const { done, value } = await reader.read().finally(() => clearTimeout(silence))
        if (done || connection.signal.aborted) return
        parser.feed(value)
        for (const event of came.splice(0)) await this.#take(event, connection.signal)
      }
    } finally {
      // Also when the group could not be read anew: a browser has few connections.
      reader.cancel().catch(() => {})
    }
  }

  async #take({ event, data }: EventSourceMessage, signal: AbortSignal): Promise<void> {
    if (this.#recent === null) return
    if (event === 'item') {
      const item = parseExactly(data) as Item
      if (this.#insert(item)) this.#arrive(item.id)
    } else if (event === 'removed') {
      const { id } = JSON.parse(data) as { id: string }
      this.#recent.items = this.#recent.items.filter((item) => item.id !== id)
    } else if (event === 'reset') {
      const { total } = JSON.parse(data) as GroupReset
      const read = await this.#read(signal)
      // What is newer is told yet, or was removed again already.
      read.items = read.items.filter(({ id }) => BigInt(id) < BigInt(total))
    }
    this.#changed()
  }

  /** Puts an item in its place, and takes out what it pushes out. False when it was there. */
  #insert(item: Item): boolean {
    const recent = this.#recent
    if (recent === null || recent.items.some(({ id }) => id === item.id)) return false
    const id = BigInt(item.id)
    if (id >= BigInt(recent.total)) recent.total = String(id + 1n)
    const at = recent.items.findIndex((each) => BigInt(each.id) < id)
    const items = at === -1 ? [...recent.items, item] : recent.items.toSpliced(at, 0, item)
    const first = BigInt(recent.total) - BigInt(recent.capacity)
    const window = recent.mode === 'history' ? items.filter((each) => BigInt(each.id) >= first) : items
    recent.items = window.slice(0, Math.min(recent.capacity, this.#shown))
    const last = recent.items.at(-1)
    if (window.length > this.#shown && last !== undefined) recent.nextBefore = last.id
    return true
  }

  #arrive(id: string): void {
    this.#arrived.add(id)
    this.#arrivals++
    const gone = this.#arrived.size > MAX_SHOWN ? this.#arrived.values().next().value : undefined
    if (gone !== undefined) this.#arrived.delete(gone)
  }

  #set(state: LiveState, error: ApiError | null = null): void {
    this.#state = state
    this.#error = error
    this.#changed()
  }

  #changed(): void {
    this.#showing ??= setTimeout(() => {
      this.#showing = undefined
      const recent = this.#recent === null ? null : { ...this.#recent }
      this.#show({
        state: this.#state,
        error: this.#error,
        recent,
        arrived: this.#arrived,
        arrivals: this.#arrivals,
      })
    }, GATHER_MS)
  }
}
