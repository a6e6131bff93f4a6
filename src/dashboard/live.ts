/**
 * The current items of a group: read once, and then kept up to date by a stream, so that no item is missed. The window that holds
 * the group's lock reads the stream, and the others hear from it (`windows.ts`). When the stream ends, all read the items again.
 */
import * as operations from '../client/operations'
import { pause } from '../client/retry'
import type { UntaggedRecent } from '../client/schemas'
import { GroupStream } from '../client/stream'
import type { GroupEvent, Item } from '../shared/group-types'
import type { RecentnError } from '../shared/recentn-error'
import { ask, toError, transport } from './api'
import { PageLoop } from './polled'
import { joinWindows, takeStream } from './windows'

export interface LiveView {
  /** Null before there is one. */
  live: LiveGroup | null
  state: 'connecting' | 'live' | 'paused' | 'reconnecting'
  error: RecentnError | null
  recent: UntaggedRecent | null
  /** The ids of the items that were appended a moment ago, while the page was shown. */
  arrived: Set<bigint>
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
const SILENCE_SECONDS = 40
const RECONNECT_MS = 500
const READ_MS = 2000

const NOTHING = { error: null, recent: null, arrived: new Set<bigint>(), arrivals: 0 }
export const CONNECTING: LiveView = { live: null, state: 'connecting', ...NOTHING }

export class LiveGroup {
  readonly #view: LiveView = { ...CONNECTING, live: this, arrived: new Set() }
  /** Of the answer that is shown; empty once anything else is shown. */
  #tag = ''
  #shown = FIRST
  #drawnAt = Number.NEGATIVE_INFINITY
  #drawing: ReturnType<typeof setTimeout> | undefined
  #loop: PageLoop

  constructor(
    private readonly group: string,
    private show: (view: LiveView) => void,
  ) {
    this.#loop = this.#begin()
  }

  #begin(): PageLoop {
    const failed = (error: RecentnError) => this.#set({ state: 'reconnecting', error })
    return new PageLoop((signal) => this.#connect(signal), failed, RECONNECT_MS)
  }

  pause(): void {
    this.#loop.end()
    this.#set({ state: 'paused' })
  }

  resume(): void {
    this.#loop = this.#begin()
  }

  end(): void {
    this.#loop.end()
    this.show = () => {}
  }

  async older(): Promise<void> {
    const before = this.#view.recent?.nextBefore ?? null
    if (before === null) return
    this.#shown = Math.min(this.#shown + MORE, MAX_SHOWN)
    this.#tag = ''
    try {
      const page = await ask(operations.recentItems, { path: { group: this.group }, query: { limit: MORE, before } })
      for (const item of page.items) this.#insert(item)
      if (this.#view.recent !== null) this.#view.recent.nextBefore = page.nextBefore
      this.#set({})
    } catch (thrown) {
      this.#set({ error: toError(thrown) })
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    if (this.#view.recent !== null) this.#set({ state: 'reconnecting' })
    const windows = joinWindows(this.group, signal)
    // Before the read: events that come during it are handled after it.
    await this.#read(signal)
    for (;;) {
      this.#isLive()
      const { done, value } = await windows.heard.read()
      if (done) break
      await (value === null ? this.#read(signal) : this.#take(value, signal))
    }
    while (!(await takeStream(signal))) {
      if (await this.#read(signal)) windows.tell(null)
      await pause(READ_MS, signal)
    }
    const after = (this.#view.recent?.totalAppended ?? 0n) - 1n
    for await (const event of new GroupStream(transport, this.group, SILENCE_SECONDS, signal).events(after)) {
      if (event === 'connected') {
        // The stream has no event of an item that was removed before it began.
        windows.tell(null)
        await this.#read(signal)
        this.#isLive()
      } else {
        windows.tell(event)
        await this.#take(event, signal)
      }
    }
  }

  #isLive(): void {
    this.#loop.works()
    this.#set({ state: 'live', error: null })
  }

  /** False if they are as they were. */
  async #read(signal: AbortSignal): Promise<boolean> {
    const limit = this.#shown
    const headers: Record<string, string> = this.#tag ? { 'If-None-Match': `"${this.#tag}"` } : {}
    const parts = { path: { group: this.group }, query: { limit }, headers }
    const { status, value, tag } = await transport.call(operations.recentItems, parts, { signal })
    if (status === 304) return false
    const known = this.#view.recent && new Set(this.#view.recent.items.map(({ id }) => id))
    this.#tag = limit === this.#shown ? tag : ''
    for (const { id } of value.items) if (known?.has(id) === false) this.#arrive(id)
    this.#set({ recent: value })
    return true
  }

  async #take(event: GroupEvent, signal: AbortSignal): Promise<void> {
    const { recent } = this.#view
    if (recent === null) return
    this.#tag = ''
    if (event.type === 'item') {
      if (this.#insert(event.item)) this.#arrive(event.item.id)
    } else if (event.type === 'removed') {
      recent.items = recent.items.filter(({ id }) => id !== event.id)
    } else {
      await this.#read(signal)
      // Newer items follow as events, unless they have been removed.
      const now = this.#view.recent as UntaggedRecent
      now.items = now.items.filter(({ id }) => id < event.totalAppended)
    }
    this.#set({})
  }

  /** Inserts an item by its id, or its score, and removes the items that it pushes out. False if it was there already. */
  #insert(item: Item): boolean {
    const { recent } = this.#view
    if (recent === null || recent.items.some(({ id }) => id === item.id)) return false
    if (item.id >= recent.totalAppended) recent.totalAppended = item.id + 1n
    const isTop = recent.mode === 'top'
    const order = (a: Item, b: Item) =>
      isTop ? Number(b.score) - Number(a.score) || Number(a.id - b.id) : Number(b.id - a.id)
    const first = recent.totalAppended - BigInt(recent.capacity)
    const isOlder = ({ id, member }: Item) => member === item.member && id < item.id
    const isKept = (one: Item) => (recent.mode === 'history' ? one.id >= first : !isOlder(one))
    const window = [...recent.items, item].filter(isKept).sort(order)
    recent.items = window.slice(0, Math.min(recent.capacity, this.#shown))
    const last = recent.items.at(-1)
    if (window.length > this.#shown && last !== undefined)
      recent.nextBefore = isTop ? BigInt(recent.items.length) : last.id
    return true
  }

  #arrive(id: bigint): void {
    const { arrived } = this.#view
    arrived.add(id)
    this.#view.arrivals++
    setTimeout(() => arrived.delete(id) && this.#set({}), FRESH_MS)
  }

  /** Draws the page soon, with these changes and those that were made in place. */
  #set(changes: Partial<LiveView>): void {
    Object.assign(this.#view, changes)
    this.#drawing ??= setTimeout(
      () => {
        this.#drawing = undefined
        this.#drawnAt = performance.now()
        this.show({ ...this.#view })
      },
      this.#drawnAt + DRAW_MS - performance.now(),
    )
  }
}
