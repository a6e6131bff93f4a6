/**
 * A group that has listeners: its window as it was last read, which all listeners share, and the events that each of them
 * gets when it is read again. No SQL, no timers.
 *
 * Invariant: a listener that keeps the newest `capacity` of its items, without those that were removed, has all items of the
 * window up to its position. (In `history` it keeps only ids above the newest less `capacity`, in `distinct` and `top` one of each
 * member.) So items that newer ones push out of a full window are not reported as removed; all others that leave it are,
 * before the new items. Items that leave a full `top` window are all reported: better ones do not push out the oldest.
 */
import type { ItemRow } from '../../repositories/recent/rows'
import type { ItemPlace, WatchedHead, WatchedWindow } from '../../repositories/recent/watch'
import type { GroupListener } from './group-listener'

/** `distinct` and `top`: up to this many missing ids are reported one by one; with more the listener gets a reset. */
const MAX_MISSING = 100

/** Items for some listeners, oldest first, as far as they are still there when they are read. */
export interface Leg {
  places: readonly ItemPlace[]
  at: number
  bytes: number
  listeners: Set<GroupListener>
}

export class WatchedGroup {
  readonly listeners = new Set<GroupListener>()
  #seen: WatchedWindow | null = null
  /** Ids that newer items pushed out at the last look: not reported to listeners that get these items at once. */
  #pushedOut: bigint[] = []
  /** Listeners that came back at the last look, and may have items that were pushed out while they were away. */
  #back = new Set<GroupListener>()
  /** Listeners to which these were reported after all. */
  #freed = new Set<GroupListener>()

  constructor(readonly group: string) {}

  /** How many items a look reads, as far as is known. */
  get capacity(): number {
    return this.#seen?.settings.capacity ?? 1
  }

  isOutdated(head: WatchedHead): boolean {
    const seen = this.#seen
    if (seen === null) return true
    const { capacity, mode, ttlSeconds } = head.settings
    const { settings } = seen
    return (
      head.incarnation !== seen.incarnation ||
      head.version !== seen.version ||
      capacity !== settings.capacity ||
      mode !== settings.mode ||
      ttlSeconds !== settings.ttlSeconds ||
      (ttlSeconds !== null && seen.places.some(({ createdAtMs }) => createdAtMs <= head.nowMs - ttlSeconds * 1000))
    )
  }

  /** Reports what left the window; the items of the returned legs are still to be read, and to be passed to `deliver`. */
  look(window: WatchedWindow): Leg[] {
    // The last look came to no end where the database went away.
    if (this.#seen !== null) this.settle()
    const seen = this.#seen
    this.#seen = window
    const change = seen === null ? [] : goneBetween(seen, window)
    const gone = change === 'reset' ? [] : change.filter((id) => !isPushedOut(id, window))
    this.#pushedOut = change === 'reset' ? [] : change.filter((id) => isPushedOut(id, window))
    const front: GroupListener[] = []
    const behind: GroupListener[] = []
    for (const listener of this.listeners) {
      if (listener.position === null) this.#join(listener, window)
      else if (change === 'reset') listener.reset(window)
      else tellRemoved(listener, gone, window)
      const isUpToDate = (listener.position as bigint) >= (seen ?? window).lastId
      if (isUpToDate) front.push(listener)
      else behind.push(listener)
    }
    // A listener that has much to catch up with must not delay the others.
    return [legOf(front, window), legOf(behind, window)].filter((leg) => leg !== null)
  }

  /** The next places of the leg were read: `rows` by slot. */
  deliver({ listeners, places, at }: Leg, until: number, rows: ReadonlyMap<number, ItemRow>): void {
    for (const place of places.slice(at, until)) {
      const row = rows.get(place.slot)
      for (const listener of listeners) {
        const position = listener.position as bigint
        if (place.id <= position) continue
        if (listener.isFull) listeners.delete(listener)
        else if (row?.id === place.id) listener.item(row)
        else {
          // Fewer items push out fewer; reported at once, because a listener that is cut off comes back without them.
          listener.position = place.id
          const isSeenAgain = row !== undefined && this.#isOfPage(listener)
          if (!isSeenAgain) this.#tellPushedOut(listener)
        }
      }
    }
    if (until < places.length) return
    const { lastId } = this.#seen as WatchedWindow
    for (const listener of listeners) if ((listener.position as bigint) < lastId) listener.position = lastId
  }

  /**
   * Ends a look: true when a listener has room for more of its items. A listener that has not got all of them cannot
   * rely on newer items: by the next look they may be removed.
   */
  settle(): boolean {
    const window = this.#seen as WatchedWindow
    let isMore = false
    for (const listener of this.listeners) {
      if (listener.position === null) continue
      const isBehind = listener.position < window.lastId
      if (isBehind && !listener.isFull) isMore = true
      if (isBehind) this.#tellPushedOut(listener)
    }
    this.#pushedOut = []
    this.#back.clear()
    this.#freed.clear()
    return isMore
  }

  /** For a listener that does not get all items of the window. */
  #tellPushedOut(listener: GroupListener): void {
    if (this.#freed.has(listener)) return
    this.#freed.add(listener)
    const window = this.#seen as WatchedWindow
    if (this.#back.has(listener)) tellMissing(listener, missingUpTo(listener.after as bigint, window, false), window)
    else tellRemoved(listener, this.#pushedOut, window)
  }

  /** A listener that is new: from now on, or from where it says that it was. */
  #join(listener: GroupListener, window: WatchedWindow): void {
    const { after } = listener
    listener.join(after ?? window.lastId)
    if (after === undefined) return
    this.#back.add(listener)
    if (hasLost(after, window)) listener.reset(window)
    else if (!this.#isOfPage(listener)) tellMissing(listener, missingUpTo(after, window, true), window)
  }

  /** Nearly all ids that a `distinct` or `top` window lacks had left it before this listener's caller read its page. */
  #isOfPage(listener: GroupListener): boolean {
    return this.#seen?.settings.mode !== 'history' && this.#back.has(listener) && !listener.resumes
  }
}

function legOf(listeners: readonly GroupListener[], { lastId, places }: WatchedWindow): Leg | null {
  const wanting = listeners.filter(({ isFull, position }) => !isFull && (position as bigint) < lastId)
  if (wanting.length === 0) return null
  let from = lastId
  for (const { position } of wanting) if ((position as bigint) < from) from = position as bigint
  return { places: places.filter(({ id }) => id > from), at: 0, bytes: 0, listeners: new Set(wanting) }
}

/** The ids that left the window; `reset` where it is another one. */
function goneBetween(seen: WatchedWindow, window: WatchedWindow): bigint[] | 'reset' {
  const { settings } = window
  const isSame = seen.incarnation === '' || seen.incarnation === window.incarnation
  const isLaidOutAlike = seen.settings.capacity === settings.capacity && seen.settings.mode === settings.mode
  if (!isSame || !isLaidOutAlike || window.lastId < seen.lastId) return 'reset'
  const gone: bigint[] = []
  let at = 0
  for (const { id } of window.places) {
    if (id > seen.lastId) break
    while (at < seen.places.length && (seen.places[at] as ItemPlace).id < id)
      gone.push((seen.places[at++] as ItemPlace).id)
    // It is back, by a longer expiry: too old to be reported as an item.
    if (seen.places[at]?.id !== id) return 'reset'
    at++
  }
  for (; at < seen.places.length; at++) gone.push((seen.places[at] as ItemPlace).id)
  return gone
}

function tellRemoved(listener: GroupListener, ids: Iterable<bigint>, window: WatchedWindow): void {
  for (const id of ids) if (id <= (listener.position as bigint)) listener.removed(id, window)
}

/** Whether a listener that keeps the newest `capacity` items has dropped this one, which is not in the window. */
function isPushedOut(id: bigint, { places, settings }: WatchedWindow): boolean {
  return settings.mode !== 'top' && places.length === settings.capacity && id < (places[0] as ItemPlace).id
}

function tellMissing(listener: GroupListener, missing: bigint[] | null, window: WatchedWindow): void {
  if (missing === null) listener.reset(window)
  else tellRemoved(listener, missing, window)
}

/** Whether ids beyond `after` were pushed out, or the group is another one. */
function hasLost(after: bigint, window: WatchedWindow): boolean {
  const { lastId, settings } = window
  if (after > lastId || isPushedOut(after + 1n, window)) return true
  return settings.mode === 'history' && after + 1n <= lastId - BigInt(settings.capacity)
}

/**
 * The ids that a listener with all items up to `after` may still have, though they are not in the window. If it gets all
 * items of the window (`getsAll`), without those that these push out. Null after a loss, and where there are many but in
 * `history`.
 */
function missingUpTo(after: bigint, window: WatchedWindow, getsAll: boolean): bigint[] | null {
  if (hasLost(after, window)) return null
  const { places, settings } = window
  const capacity = BigInt(settings.capacity)
  const isHistory = settings.mode === 'history'
  // In the others the last `capacity` members may have had any ids.
  const first = isHistory && after >= capacity ? after - capacity + 1n : 0n
  const there = new Set(places.map(({ id }) => id))
  const missing: bigint[] = []
  for (let id = after; id >= first; id--) {
    if (getsAll && isPushedOut(id, window)) break
    if (there.has(id)) continue
    if (!isHistory && missing.length === MAX_MISSING) return null
    missing.push(id)
  }
  return missing.reverse()
}
