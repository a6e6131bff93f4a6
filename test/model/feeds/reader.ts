/**
 * A consumer as the documentation has it: it reads from its cursor, does its work (here a map of the values), keeps the
 * cursor it was given, and starts over at 0 with nothing when its cursor has expired.
 */
import { bounded } from '../../../src/fields/options'
import type { Changes, ChangesOptions, Consumer } from '../../../src/shared/feed-types'
import type { FeedName, Read, ReaderName } from './operations'
import { changesAfter, isExpired, liveIn, moveCursor, type Position, START, type World } from './oracle'
import { codeOr, type Names, type Target } from './perform'

/** Greater than any sync id: a cursor of a reader that has started over. */
const BEYOND = 2n ** 63n

/** A stored cursor, as it must be answered. */
export function consumerOf({ last }: { last: bigint }, consumer: string, { at, cursor }: Position): Consumer {
  return { consumer, cursor, lag: Number(last - at), movedAt: expect.any(Date) }
}

export class Reader {
  known = new Map<string, unknown>()
  startedOver = 0
  /** For a reader that keeps it itself. */
  #own = START
  /** Of the last page; not kept yet. */
  #pending: Position | null = null

  constructor(
    readonly feed: FeedName,
    readonly name: ReaderName,
    readonly names: Names,
  ) {}

  position(world: World): Position {
    if (this.name === 'plain') return this.#own
    return world.feeds[this.feed].consumers.get(this.name) ?? START
  }

  /** Reads a page; false when there is no more. `limit` and the rest as asked. */
  async read(
    target: Target,
    world: World,
    { limit, maxBytes, isKept }: Omit<Read, 'kind' | 'inside'>,
  ): Promise<boolean> {
    const feed = world.feeds[this.feed]
    const before = this.position(world)
    // A reader that begins at 0 begins with nothing.
    if (before.at === 0n) this.known.clear()
    const from: ChangesOptions = this.name === 'plain' ? { after: before.cursor } : { consumer: this.name }
    const options = bounded({ ...from, limit }, maxBytes ?? Number.POSITIVE_INFINITY)
    const page = await codeOr(target.feeds.changes(this.names.feed(this.feed), options))
    if (feed.hasBegun && isExpired(feed, before)) {
      expect(page).toBe('cursor_expired')
      await this.#startOver(target, world)
      return true
    }
    expect(page).not.toBe('cursor_expired')
    const { changes, cursor, hasMore } = page as Changes
    this.#pending = this.#checked(world, before, page as Changes, { limit, maxBytes })
    for (const { key, value, deleted } of changes) {
      if (deleted) this.known.delete(key)
      else this.known.set(key, value)
    }
    expect(this.#pending.cursor).toBe(cursor)
    if (isKept || this.name === 'plain') await this.keep(target, world)
    return hasMore
  }

  /** The page must be the first of what comes after the position; resolves to where the cursor stands. */
  #checked(world: World, before: Position, page: Changes, bounds: Pick<Read, 'limit' | 'maxBytes'>): Position {
    const feed = world.feeds[this.feed]
    const { cursor, hasMore } = page
    const { changes } = page
    const expected = feed.hasBegun ? changesAfter(feed, before.at) : []
    const count = bounds.maxBytes === null ? Math.min(bounds.limit, expected.length) : changes.length
    if (bounds.maxBytes !== null && expected.length > 0) expect(count).toBeGreaterThan(0)
    expect(count).toBeLessThanOrEqual(bounds.limit)
    expect({ changes, hasMore }).toEqual({ changes: expected.slice(0, count), hasMore: expected.length > count })
    const since = before.at === 0n ? world.step : before.since
    const at = changes.at(-1)?.syncId ?? before.at
    // "Until it has passed them its cursor says so": then a removed tombstone is ahead.
    if (cursor >= BEYOND) {
      expect(feed.removed.some((one) => one.syncId > at) || cursor === before.cursor).toBe(true)
      return { at, since, cursor }
    }
    // It may be beyond the last change, but not beyond what comes next, or may come.
    expect(cursor).toBeGreaterThanOrEqual(at)
    if (feed.hasBegun) expect(cursor).toBeLessThanOrEqual(feed.last)
    const passed = expected.slice(count).filter(({ syncId }) => syncId <= cursor)
    expect(passed).toEqual([])
    return { at: cursor, since, cursor }
  }

  /** Has the cursor of the last page stored. */
  async keep(target: Target, world: World): Promise<void> {
    const asked = this.#pending
    if (asked === null) return
    this.#pending = null
    if (this.name === 'plain') this.#own = asked
    else await this.put(target, world, asked, false)
  }

  async put(target: Target, world: World, asked: Position, isForced: boolean): Promise<void> {
    const feed = world.feeds[this.feed]
    const expected = moveCursor(feed, this.name, asked, isForced)
    const call = target.feeds.moveCursor(this.names.feed(this.feed), this.name, asked.cursor, { force: isForced })
    const answer = await codeOr(call)
    expect(answer).toEqual(expected === null ? 'invalid_input' : consumerOf(feed, this.name, expected))
  }

  async #startOver(target: Target, world: World): Promise<void> {
    this.startedOver++
    this.known.clear()
    this.#pending = null
    if (this.name === 'plain') this.#own = START
    else await this.put(target, world, START, true)
  }

  /** A reader that has read to the end knows what there is. */
  expectKnown(world: World): void {
    const feed = world.feeds[this.feed]
    const position = this.position(world)
    if (position.at === 0n || !feed.hasBegun || isExpired(feed, position)) return
    if (changesAfter(feed, position.at).length > 0) return
    expect(this.known).toEqual(liveIn(feed))
  }

  /** As it was: what is done with it until then may be undone. */
  remember(): () => void {
    const [known, own, pending] = [new Map(this.known), this.#own, this.#pending]
    return () => {
      this.known = known
      this.#own = own
      this.#pending = pending
    }
  }
}
