/**
 * What happens to groups, told to those who listen: one look at a group for all of its listeners, and one loop of looks
 * for all groups. A look follows at once on what this process commits; for what others commit, and what expires, the
 * heads of all groups are looked at now and then. Nothing runs while nobody listens. No SQL.
 *
 * Invariant: one round at a time, and a pause after each that is as long as it took: whatever is appended, looking costs
 * at most one connection, half of the time.
 */
import { RecentnError } from '../../errors'
import { isShared } from '../../kit/pending'
import { chunksBySize } from '../../repositories/chunks'
import type { ItemRow } from '../../repositories/recent/rows'
import type { GroupWatch, WatchOptions } from '../../repositories/recent/types'
import type { ItemPlace, WatchReads } from '../../repositories/recent/watch'
import { GroupListener } from './group-listener'
import { type Leg, WatchedGroup } from './watched-group'

export interface GroupStreamsOptions {
  reads: Pick<WatchReads, 'heads' | 'windows' | 'items'>
  onError?: (error: unknown) => void
}

/** How often it is looked for what other processes commit. */
const POLL_MS = 250
/** From one round to the next, at least. */
const GAP_MS = 50
const MAX_PAUSE_MS = 5000
/** Bounds of a statement that reads windows. */
const MAX_GROUPS = 100
const MAX_PLACES = 10_000
/** Items of one statement: at 64 KiB each it is 4 MiB. */
const MAX_ITEMS = 64
/** What one look at a group reads for its listeners, beyond which the rest waits for the next. */
const MAX_BYTES = 4 * 1024 * 1024

/** A leg, and the group that it is of. */
interface Way extends Leg {
  watched: WatchedGroup
}

export class GroupStreams {
  readonly #options: GroupStreamsOptions
  readonly #groups = new Map<string, WatchedGroup>()
  /** Of those, what is to be looked at. */
  #woken = new Set<string>()
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> | null = null
  #polledAt = Number.NEGATIVE_INFINITY
  /** No round begins before. */
  #restUntil = Number.NEGATIVE_INFINITY
  #faults = 0
  #closed = false

  constructor(options: GroupStreamsOptions) {
    this.#options = options
  }

  /** How many groups have listeners. */
  get watched(): number {
    return this.#groups.size
  }

  get listeners(): number {
    let count = 0
    for (const { listeners } of this.#groups.values()) count += listeners.size
    return count
  }

  /** A listener, of a name and options that are valid. */
  watch(group: string, options: WatchOptions): GroupWatch {
    if (this.#closed) throw new RecentnError('closed')
    const watched = this.#groups.get(group) ?? new WatchedGroup(group)
    const listener: GroupListener = new GroupListener(options, {
      drained: () => this.wake([group]),
      ended: () => this.#leave(watched, listener),
    })
    if (options.signal?.aborted) {
      listener.end()
      return listener
    }
    this.#groups.set(group, watched)
    watched.listeners.add(listener)
    this.wake([group])
    return listener
  }

  /** Something was committed in these groups. */
  wake(groups: Iterable<string>): void {
    if (this.#groups.size === 0) return
    let isNews = false
    for (const group of groups) {
      if (!this.#groups.has(group) || this.#woken.has(group)) continue
      this.#woken.add(group)
      isNews = true
    }
    if (isNews) this.#schedule()
  }

  /** Something was committed in groups that nobody has noted. */
  wakeAll(): void {
    if (this.#groups.size === 0) return
    this.#polledAt = Number.NEGATIVE_INFINITY
    this.#schedule()
  }

  /** Ends all listening; resolves when no look is under way. */
  async close(): Promise<void> {
    this.#closed = true
    this.#endAll()
    await this.#running
  }

  #leave(watched: WatchedGroup, listener: GroupListener): void {
    watched.listeners.delete(listener)
    if (watched.listeners.size > 0 || this.#groups.get(watched.group) !== watched) return
    this.#groups.delete(watched.group)
    this.#woken.delete(watched.group)
    if (this.#groups.size === 0) this.#schedule()
  }

  #endAll(): void {
    for (const { listeners } of [...this.#groups.values()]) for (const listener of [...listeners]) listener.end()
  }

  #schedule(): void {
    if (this.#running) return
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#groups.size === 0) return
    const pollAt = this.#polledAt + POLL_MS
    const at = Math.max(this.#restUntil, this.#woken.size > 0 ? 0 : pollAt)
    this.#timer = setTimeout(() => this.#run(), Math.max(0, at - performance.now()))
  }

  #run(): void {
    this.#timer = null
    const begun = performance.now()
    this.#running = this.#round().finally(() => {
      this.#running = null
      const now = performance.now()
      const pauseMs = this.#faults === 0 ? Math.max(GAP_MS - (now - begun), now - begun) : POLL_MS * 2 ** this.#faults
      this.#restUntil = now + Math.min(pauseMs, MAX_PAUSE_MS)
      this.#schedule()
    })
  }

  async #round(): Promise<void> {
    const woken = this.#woken
    this.#woken = new Set()
    try {
      await this.#poll(woken)
      const watched = [...woken].map((group) => this.#groups.get(group)).filter((one) => one !== undefined)
      for (const chunk of chunksBySize(watched, ({ capacity }) => capacity, MAX_GROUPS, MAX_PLACES)) {
        await this.#look(chunk)
      }
      this.#faults = 0
    } catch (error) {
      this.#failed(error, woken)
    }
  }

  /** Adds the groups whose heads show that they changed. */
  async #poll(woken: Set<string>): Promise<void> {
    const begun = performance.now()
    if (begun - this.#polledAt < POLL_MS) return
    this.#polledAt = begun
    const groups = [...this.#groups.keys()].filter((group) => !woken.has(group))
    if (groups.length === 0) return
    for (const head of await this.#options.reads.heads(groups)) {
      if (this.#groups.get(head.group)?.isOutdated(head)) woken.add(head.group)
    }
  }

  async #look(chunk: readonly WatchedGroup[]): Promise<void> {
    const windows = await this.#options.reads.windows(chunk.map(({ group }) => group))
    const ways = chunk.flatMap((watched, index) => {
      const window = windows[index]
      return window === undefined ? [] : watched.look(window).map((leg): Way => ({ ...leg, watched }))
    })
    for (let going = ways; going.length > 0; ) {
      await this.#proceed(going)
      going = going.filter((way) => way.at < way.places.length && way.bytes < MAX_BYTES && way.listeners.size > 0)
    }
    const more = chunk.filter((watched) => watched.settle())
    this.wake(more.map(({ group }) => group))
  }

  /** Reads and tells the next few items of each. */
  async #proceed(ways: readonly Way[]): Promise<void> {
    const parts = ways.map((way) => ({ way, places: way.places.slice(way.at, way.at + MAX_ITEMS) }))
    for (const chunk of chunksBySize(parts, ({ places }) => places.length, MAX_ITEMS, MAX_ITEMS)) {
      const slots = chunk.flatMap(({ way, places }) => slotsOf(way.watched.group, places))
      const rows = slots.length === 0 ? [] : await this.#options.reads.items(slots)
      for (const { way, places } of chunk) {
        const bySlot = new Map<number, ItemRow>()
        for (const row of rows) if (row.group === way.watched.group) bySlot.set(row.slot, row)
        way.watched.deliver(way, way.at + places.length, bySlot)
        way.at += places.length
        for (const { slot } of places) way.bytes += bySlot.get(slot)?.payload?.length ?? 0
      }
    }
  }

  /** Who waits to begin is told; the others are told later what they have missed. */
  #failed(error: unknown, woken: ReadonlySet<string>): void {
    this.#faults++
    this.#woken = new Set([...woken, ...this.#woken].filter((group) => this.#groups.has(group)))
    if (!isShared(error) && this.#faults === 1) this.#options.onError?.(error)
    for (const { listeners } of [...this.#groups.values()]) {
      for (const listener of [...listeners]) if (listener.position === null) listener.end(error)
    }
  }
}

function slotsOf(group: string, places: readonly ItemPlace[]) {
  return places.map(({ slot }) => ({ group, slot }))
}
