/**
 * The layouts of groups that a process knows, and how much of a group to read by them. Small groups are read whole; the sizes
 * of large ones are learned from their heads. No statements, no locks.
 *
 * Invariant: this decides only what a statement reads, never what a page shows. A reader that finds that its statement
 * read too little, or by settings that are not in force, reads again.
 */
import { MAX_CAPACITY, MAX_PAYLOAD_BYTES } from '../../fields/rules'
import type { Mode, Settings } from '../../shared/group-types'
import { isHeadFirst, type ReadCall, type ReadRequest } from './page'

interface Layout {
  capacity: number
  mode: Mode
  /** The settings to read by, if the group is laid out by others; null if it is laid out by those in force. */
  settings: Settings | null
  /** The settings by which the statement of a thorough read is made; null where the head says enough. */
  sorting: Settings | null
}

/** How much of a group is read: its head alone, its newest slots, or all slots below a number, in rising order. */
export const HEAD_ALONE = 0
export const NEWEST = 1
export const SMALL = 16
export const MEDIUM = 64
export const WHOLE = MAX_CAPACITY

/** How many times the `maxBytes` of one page a request for many groups may read in the worst case. */
const MANY_FACTOR = 16

const MAX_GROUPS = 20_000

/** Groups of more than `SMALL` slots, `top` ones, and those whose policy has changed; the least recently read are forgotten. */
export class Layouts {
  readonly #known = new Map<string, Layout>()

  of(group: string): Layout | undefined {
    return this.#known.get(group)
  }

  learn(head: Settings & { group: string }, inForce: Settings): void {
    const { group, capacity, mode } = head
    const settings = isSame(head, inForce) ? null : inForce
    this.#known.delete(group)
    if (capacity <= SMALL && settings === null && mode !== 'top') return
    this.#known.set(group, { capacity, mode, settings, sorting: mode === 'top' ? inForce : settings })
    if (this.#known.size > MAX_GROUPS) this.#known.delete(this.#known.keys().next().value as string)
  }
}

export function isSame(a: Settings, b: Settings): boolean {
  return a.capacity === b.capacity && a.mode === b.mode && a.ttlSeconds === b.ttlSeconds
}

export function isQuick(layouts: Layouts, call: ReadCall): boolean {
  return isHeadFirst(call) || hasQuickPages(layouts, call.requests)
}

export function hasQuickPages(layouts: Layouts, requests: readonly ReadRequest[]): boolean {
  return !mayBeTooLarge(requests) && requests.every((request) => slotsFor(layouts, request) !== null)
}

/** How many slots of the group to read for this page, as far as is known; null where a quick read does not have it. */
export function slotsFor(layouts: Layouts, { group, limit, before, exclude = [] }: ReadRequest): number | null {
  if (limit > MEDIUM) return null
  const layout = layouts.of(group)
  const slots = limit <= SMALL ? SMALL : MEDIUM
  if (layout === undefined) return slots
  if (layout.settings !== null) return null
  if (layout.capacity <= slots) return slots
  if (layout.mode === 'history' && before === undefined && exclude.length === 0) return NEWEST
  return layout.capacity <= MEDIUM ? MEDIUM : null
}

/** Whether the pages show all that the windows of their groups may have, as far as is known. */
export function areShownWhole(layouts: Layouts, requests: readonly ReadRequest[]): boolean {
  const isShownWhole = ({ group, limit }: ReadRequest) => {
    const layout = layouts.of(group)
    return layout !== undefined && layout.settings === null && layout.capacity <= limit
  }
  return !mayBeTooLarge(requests) && requests.every(isShownWhole)
}

/** An item without its payload: three names of 191 characters and some numbers. */
const BARE_ITEM_BYTES = 2048

/** Whether the pages of one caller may exceed `maxBytes`; of many pages, whether they may take more than a process can spare. */
export function mayBeTooLarge(requests: readonly ReadRequest[]): boolean {
  const [{ limit, maxBytes, payloads }] = requests as [ReadRequest]
  const page = limit * (payloads === 'none' ? BARE_ITEM_BYTES : MAX_PAYLOAD_BYTES)
  return requests.length * page > (requests.length === 1 ? maxBytes : maxBytes * MANY_FACTOR) || page > maxBytes
}
