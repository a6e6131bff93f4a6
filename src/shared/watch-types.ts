/** The shapes of watching a group. */
import type { Item, Mode, PayloadOptions } from './item-types'
import type { Form } from './types'

export interface WatchOptions<Asked extends Form = Form> extends PayloadOptions<Asked> {
  /** Begin after the item with this id, with the items appended since; −1 begins with all items. When left out, begins now. */
  after?: bigint | undefined
  /**
   * True where an earlier watch ended at `after`: in a `distinct` or `top` group, what was removed since is reported too, or a
   * `reset`. After a page that has just been read it would be what the page left out already.
   */
  resumes?: boolean | undefined
  /** Ends the watching. */
  signal?: AbortSignal | undefined
}

/**
 * A change of a group's window. A listener that keeps the newest `capacity` items of all `item` events, without those that
 * were removed, has the window. In a `history` group it also drops items whose id is at most the newest id less
 * `capacity`, in a `distinct` or `top` group the member's older item. A page that is read then may already have an item that an
 * event still brings.
 */
export type GroupEvent<Payload = unknown> =
  | { type: 'item'; item: Item<Payload> }
  /** The item left the window, but newer items did not push it out. The listener may never have had it. */
  | { type: 'removed'; id: bigint }
  /**
   * Discard your local state and reload the group; ignore items with an id of `totalAppended` or more, which follow as events,
   * as all later changes do.
   */
  | { type: 'reset'; group: string; capacity: number; mode: Mode; totalAppended: bigint }

/** The changes of a group, until the listener stops (`break`, `return()`, the signal) or the store closes. */
export interface GroupWatch<Payload = unknown>
  extends AsyncIterableIterator<GroupEvent<Payload>, undefined, undefined> {
  /**
   * Resolves once all later commits are reported, with the id that the watch begins after. Rejects, as the first event
   * does, if the group can't be read.
   */
  readonly ready: Promise<bigint>
  return(): Promise<IteratorResult<GroupEvent<Payload>, undefined>>
}
