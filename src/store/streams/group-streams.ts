/**
 * Tells listeners what happens to groups: one read of a group serves all of its listeners, and one loop reads all groups.
 * A read follows at once on what this process commits; for what others commit, and what expires, the heads of all groups
 * are read now and then. Owns the groups that have listeners. Nothing runs while there are none. No SQL.
 *
 * Invariant: one round at a time, and a pause after each that is as long as the round took. Whatever is appended, the
 * streams take at most one connection, half of the time.
 */

import { isShared } from '../../kit/admission'
import { Loop } from '../../kit/loop'
import { quietPauseMs } from '../../kit/shared-poll'
import { chunksBySize } from '../../repositories/chunks'
import type { ItemRow } from '../../repositories/recent/rows'
import type { WatchReads } from '../../repositories/recent/watch'
import { RecentnError } from '../../shared/errors'
import type { GroupWatch, WatchOptions } from '../../shared/group-types'
import { performance } from '../../shared/platform'
import { GroupListener } from './group-listener'
import { type Leg, WatchedGroup } from './watched-group'

interface GroupStreamsOptions {
  reads: Pick<WatchReads, 'heads' | 'windows' | 'items'>
  onError?: (error: unknown) => void
}

/** The least time between two reads of the heads of all groups, for what other processes commit, and the longest in quiet times. */
const [POLL_MS, QUIET_MS] = [250, 750]
/** The least time from the beginning of one round to the next. */
const GAP_MS = 50
const LONGEST_PAUSE_MS = 5000
const MAX_GROUPS = 100
const MAX_PLACES = 10_000
/** Items of one statement: at 64 KiB each it is 4 MiB. */
const MAX_ITEMS = 64
/** Bytes of payloads that one round reads of a group; the rest waits for the next. */
const MAX_BYTES = 4 * 1024 * 1024

interface Way extends Leg {
  watched: WatchedGroup
}

export class GroupStreams {
  readonly #groups = new Map<string, WatchedGroup>()
  /** Those of the groups that the next round reads. */
  #woken = new Set<string>()
  readonly #loop: Loop
  #polledAt = Number.NEGATIVE_INFINITY
  #newsAt = Number.NEGATIVE_INFINITY

  constructor(private readonly options: GroupStreamsOptions) {
    this.#loop = new Loop({
      round: () => this.#round(),
      restMs: (tookMs) => Math.min(Math.max(GAP_MS - tookMs, tookMs), LONGEST_PAUSE_MS),
      faultPauses: { firstMs: 2 * POLL_MS, longestMs: LONGEST_PAUSE_MS },
      onFault: (error, isFirst) => {
        if (isFirst && !isShared(error)) options.onError?.(error)
      },
      keepsAlive: true,
    })
  }

  get watched(): number {
    return this.#groups.size
  }

  get listeners(): number {
    return [...this.#groups.values()].reduce((sum, { listeners }) => sum + listeners.size, 0)
  }

  watch(group: string, options: WatchOptions): GroupWatch {
    if (this.#loop.isStopped) throw new RecentnError('closed')
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

  wake(groups: Iterable<string>): void {
    if (this.#groups.size === 0) return
    const before = this.#woken.size
    for (const group of groups) if (this.#groups.has(group)) this.#woken.add(group)
    if (this.#woken.size === before) return
    this.#newsAt = performance.now()
    this.#loop.wake()
  }

  wakeAll(): void {
    if (this.#groups.size === 0) return
    this.#polledAt = Number.NEGATIVE_INFINITY
    this.#loop.wake()
  }

  /** Ends all streams; resolves when no round runs. */
  async close(): Promise<void> {
    const stopped = this.#loop.stop()
    for (const { listeners } of [...this.#groups.values()]) for (const listener of [...listeners]) listener.end()
    await stopped
  }

  #leave(watched: WatchedGroup, listener: GroupListener): void {
    watched.listeners.delete(listener)
    if (watched.listeners.size > 0 || this.#groups.get(watched.group) !== watched) return
    this.#groups.delete(watched.group)
    this.#woken.delete(watched.group)
    if (this.#groups.size === 0) this.#loop.idle()
  }

  /** Resolves to the time until the heads are read again; null while there are no listeners. */
  async #round(): Promise<number | null> {
    const woken = this.#woken
    this.#woken = new Set()
    try {
      await this.#poll(woken)
      const watched = [...woken].map((group) => this.#groups.get(group)).filter((one) => one !== undefined)
      for (const chunk of chunksBySize(watched, ({ capacity }) => capacity, MAX_GROUPS, MAX_PLACES)) {
        await this.#read(chunk)
      }
    } catch (error) {
      this.#failed(error, woken)
      throw error
    }
    if (this.#groups.size === 0) return null
    return this.#woken.size > 0 ? 0 : Math.max(0, this.#polledAt + this.#pollMs - performance.now())
  }

  /** Adds the groups whose heads show that they changed. */
  async #poll(woken: Set<string>): Promise<void> {
    const begun = performance.now()
    if (begun - this.#polledAt < POLL_MS) return
    this.#polledAt = begun
    const groups = [...this.#groups.keys()].filter((group) => !woken.has(group))
    if (groups.length === 0) return
    for (const head of await this.options.reads.heads(groups)) {
      if (this.#groups.get(head.group)?.isOutdated(head)) woken.add(head.group)
    }
    if (woken.size > 0) this.#newsAt = performance.now()
  }

  get #pollMs(): number {
    return Math.max(POLL_MS, quietPauseMs(this.#newsAt, QUIET_MS))
  }

  async #read(chunk: readonly WatchedGroup[]): Promise<void> {
    const windows = await this.options.reads.windows(chunk.map(({ group }) => group))
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
      const slots = chunk.flatMap(({ way, places }) => places.map(({ slot }) => ({ group: way.watched.group, slot })))
      const rows = slots.length === 0 ? [] : await this.options.reads.items(slots)
      for (const { way, places } of chunk) {
        const bySlot = new Map<number, ItemRow>()
        for (const row of rows) if (row.group === way.watched.group) bySlot.set(row.slot, row)
        way.watched.deliver(way, way.at + places.length, bySlot)
        way.at += places.length
        for (const { slot } of places) way.bytes += bySlot.get(slot)?.payload?.length ?? 0
      }
    }
  }

  /** Listeners that have not begun get the error; the others get later what they have missed. */
  #failed(error: unknown, woken: ReadonlySet<string>): void {
    this.#woken = new Set([...woken, ...this.#woken].filter((group) => this.#groups.has(group)))
    for (const { listeners } of [...this.#groups.values()]) {
      for (const listener of [...listeners]) if (listener.position === null) listener.end(error)
    }
  }
}
