/**
 * The current items of a group: read once, and then kept up to date by a stream that starts after the last one read, so
 * that no item is missed. When a stream ends, the items are read again and another stream is opened, after a pause that
 * grows. Over HTTP/1.1 a browser has six connections to a server in all. So a hidden tab has no stream, and three windows
 * have one; any others read the items every two seconds, until one of the three is closed or hidden.
 */
import * as operations from '../client/operations'
import { pause } from '../client/retry'
import type { UntaggedRecent } from '../client/schemas'
import { GroupStream } from '../client/stream'
import { onAbort, pauseMs } from '../shared/backoff'
import type { GroupEvent, Item } from '../shared/group-types'
import type { RecentnError } from '../shared/recentn-error'
import { ask, isAccessError, toError, transport } from './api'

export type LiveState = 'connecting' | 'live' | 'paused' | 'reconnecting'

export interface LiveView {
  state: LiveState
  error: RecentnError | null
  recent: UntaggedRecent | null
  /** The ids of the items that were appended a moment ago, while the page was shown. */
  arrived: ReadonlySet<bigint>
  /** How many items were appended while the page was shown. */
  arrivals: number
}

const FIRST = 50
const MORE = 100
const MAX_SHOWN = 10_000
/** The time that a new row is marked. An animation would have every frame drawn. */
const FRESH_MS = 2500
/** Between two times that the page is drawn: drawing a busy group for each event costs most of a core. */
const DRAW_MS = 333
/** The server sends a comment every 15 seconds. */
const SILENCE_MS = 40_000
const MAX_PAUSE_MS = 20_000
const STREAMS = ['recentn-stream-1', 'recentn-stream-2', 'recentn-stream-3']
const READ_MS = 2000

/** Takes a stream for this window until the signal is aborted; false if other windows have all of them. */
async function takeStream(signal: AbortSignal): Promise<boolean> {
  // Browsers have locks with HTTPS and on localhost. Elsewhere each window has a stream.
  if (navigator.locks === undefined) return true
  for (const name of STREAMS) {
    const isTaken = await new Promise<boolean>((resolve, reject) => {
      const hold = (lock: Lock | null) => {
        resolve(lock !== null)
        return lock && new Promise<void>((free) => void onAbort(signal, free))
      }
      navigator.locks.request(name, { ifAvailable: true }, hold).catch(reject)
    })
    if (isTaken) return true
  }
  return false
}

export class LiveGroup {
  #recent: UntaggedRecent | null = null
  #tag = ''
  #arrived = new Set<bigint>()
  #arrivals = 0
  #state: LiveState = 'connecting'
  #error: RecentnError | null = null
  #shown = FIRST
  #drawnAt = Number.NEGATIVE_INFINITY
  #paused = false
  #ended = false
  #failures = 0
  #connection: AbortController | null = null
  #retry: ReturnType<typeof setTimeout> | undefined
  #showing: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly group: string,
    private readonly show: (view: LiveView) => void,
  ) {
    document.addEventListener('visibilitychange', this.#onVisibility)
    this.#onVisibility()
  }

  pause(): void {
    this.#paused = true
    this.#disconnect()
    this.#set('paused')
  }

  resume(): void {
    this.#paused = false
    this.#reconnect()
  }

  #reconnect(): void {
    if (this.#paused || this.#ended || document.hidden) return
    this.#disconnect()
    this.#failures = 0
    this.#set(this.#recent === null ? 'connecting' : 'reconnecting')
    this.#connect()
  }

  /** Discards what was read with another key, and connects with the current one. */
  forget(): void {
    this.#recent = null
    this.#error = null
    this.#reconnect()
    // At once: the error of the other key would be shown as one of this key.
    this.#show()
  }

  async older(): Promise<void> {
    const before = this.#recent?.nextBefore ?? null
    if (before === null) return
    this.#shown = Math.min(this.#shown + MORE, MAX_SHOWN)
    this.#tag = ''
    try {
      const page = await ask(operations.recentItems, { path: { group: this.group }, query: { limit: MORE, before } })
      for (const item of page.items) this.#insert(item)
      if (this.#recent !== null) this.#recent.nextBefore = page.nextBefore
      this.#changed()
    } catch (thrown) {
      this.#set(this.#state, toError(thrown))
    }
  }

  end(): void {
    this.#ended = true
    this.#arrived.clear()
    document.removeEventListener('visibilitychange', this.#onVisibility)
    this.#disconnect()
    clearTimeout(this.#showing)
  }

  readonly #onVisibility = (): void => {
    if (document.hidden) this.#disconnect()
    else this.#reconnect()
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
      await this.#read(signal)
      while (!(await takeStream(signal))) {
        this.#isLive()
        await pause(READ_MS, signal)
        await this.#read(signal, this.#tag)
      }
      await this.#follow(signal)
    } catch (thrown) {
      if (signal.aborted) return
      this.#failures++
      this.#error = toError(thrown)
    }
    if (signal.aborted) return
    connection.abort()
    this.#set('reconnecting', this.#error)
    if (this.#error !== null && isAccessError(this.#error)) return
    this.#retry = setTimeout(() => this.#connect(), pauseMs(this.#failures, 500, MAX_PAUSE_MS))
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const after = (this.#recent?.totalAppended ?? 0n) - 1n
    for await (const event of new GroupStream(transport, this.group, SILENCE_MS, signal).events(after)) {
      if (event === 'connected') this.#isLive()
      else await this.#take(event, signal)
    }
  }

  #isLive(): void {
    this.#failures = 0
    this.#set('live')
  }

  /** With the tag of the last answer nothing changes if the server has that answer still. */
  async #read(signal: AbortSignal, tag?: string): Promise<void> {
    const limit = this.#shown
    const headers: Record<string, string> = tag ? { 'If-None-Match': `"${tag}"` } : {}
    const parts = { path: { group: this.group }, query: { limit }, headers }
    const answer = await transport.call(operations.recentItems, parts, { signal })
    if (answer.status === 304) return
    const known = this.#recent && new Set(this.#recent.items.map(({ id }) => id))
    this.#recent = answer.value
    this.#tag = limit === this.#shown ? answer.tag : ''
    if (known !== null) for (const { id } of answer.value.items) if (!known.has(id)) this.#arrive(id)
    this.#changed()
  }

  async #take(event: GroupEvent, signal: AbortSignal): Promise<void> {
    if (this.#recent === null) return
    if (event.type === 'item') {
      if (this.#insert(event.item)) this.#arrive(event.item.id)
    } else if (event.type === 'removed') {
      this.#recent.items = this.#recent.items.filter(({ id }) => id !== event.id)
    } else {
      await this.#read(signal)
      // Newer items follow as events, unless they have been removed.
      this.#recent.items = this.#recent.items.filter(({ id }) => id < event.totalAppended)
    }
    this.#changed()
  }

  /** Inserts an item by its id, or its score, and removes the items that it pushes out. False if it was there already. */
  #insert(item: Item): boolean {
    const recent = this.#recent
    if (recent === null || recent.items.some(({ id }) => id === item.id)) return false
    if (item.id >= recent.totalAppended) recent.totalAppended = item.id + 1n
    const isTop = recent.mode === 'top'
    const isBehind = ({ id, score }: Item) =>
      isTop ? Number(score) < Number(item.score) || (score === item.score && id > item.id) : id < item.id
    const at = recent.items.findIndex(isBehind)
    const items = at === -1 ? [...recent.items, item] : recent.items.toSpliced(at, 0, item)
    const first = recent.totalAppended - BigInt(recent.capacity)
    const isOlder = ({ id, member }: Item) => member === item.member && id < item.id
    const window = items.filter((one) => (recent.mode === 'history' ? one.id >= first : !isOlder(one)))
    recent.items = window.slice(0, Math.min(recent.capacity, this.#shown))
    const last = recent.items.at(-1)
    if (window.length > this.#shown && last !== undefined)
      recent.nextBefore = isTop ? BigInt(recent.items.length) : last.id
    return true
  }

  #arrive(id: bigint): void {
    this.#arrived.add(id)
    this.#arrivals++
    setTimeout(() => this.#arrived.delete(id) && this.#changed(), FRESH_MS)
  }

  #set(state: LiveState, error: RecentnError | null = null): void {
    this.#state = state
    this.#error = error
    this.#changed()
  }

  #changed(): void {
    this.#showing ??= setTimeout(() => this.#show(), this.#drawnAt + DRAW_MS - performance.now())
  }

  #show(): void {
    clearTimeout(this.#showing)
    this.#showing = undefined
    this.#drawnAt = performance.now()
    const recent = this.#recent === null ? null : { ...this.#recent }
    const [state, error, arrived, arrivals] = [this.#state, this.#error, this.#arrived, this.#arrivals]
    this.show({ state, error, recent, arrived, arrivals })
  }
}
