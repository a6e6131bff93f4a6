/**
 * What is known of the groups' layouts, and how much of a group to read by it. Small groups are read whole; large ones
 * are learnt from their heads. What is believed here decides only what a statement reads, never what a page shows: who
 * finds that too little came reads again. No SQL.
 */
import { MAX_PAYLOAD_BYTES } from '../../fields/rules'
import { type Call, isHeadFirst, type ReadRequest } from './page'
import type { Mode } from './types'

interface Layout {
  capacity: number
  mode: Mode
}

/** How much of a group is read: its head alone, its newest slots, else so many slots from the first, in rising order. */
export const HEAD_ALONE = 0
export const NEWEST = 1
export const SMALL = 16
export const MEDIUM = 64

/** How many times the bound of one page a request for many groups may read at the very worst. */
const MANY_FACTOR = 16

/** Groups of more than `SMALL` slots; the longest unread are forgotten. */
export class Layouts {
  readonly #large = new Map<string, Layout>()

  constructor(readonly maxGroups = 20_000) {}

  of(group: string): Layout | undefined {
    return this.#large.get(group)
  }

  learn(group: string, { capacity, mode }: Layout): void {
    this.#large.delete(group)
    if (capacity <= SMALL) return
    this.#large.set(group, { capacity, mode })
    if (this.#large.size > this.maxGroups) this.#large.delete(this.#large.keys().next().value as string)
  }
}

/** Whether a quick read may answer this call, as far as is known. */
export function isQuick(layouts: Layouts, call: Call): boolean {
  return isHeadFirst(call) || hasQuickPages(layouts, call.requests)
}

/** Whether a quick read has the pages of these requests, as far as is known. */
export function hasQuickPages(layouts: Layouts, requests: readonly ReadRequest[]): boolean {
  return !mayBeTooLarge(requests) && requests.every((request) => slotsFor(layouts, request) !== null)
}

/** What to read of the group for this page, as far as is known; null where a quick read does not have it. */
export function slotsFor(layouts: Layouts, { group, limit, before, exclude = [] }: ReadRequest): number | null {
  if (limit > MEDIUM) return null
  const layout = layouts.of(group)
  const slots = limit <= SMALL ? SMALL : MEDIUM
  if (layout === undefined || layout.capacity <= slots) return slots
  if (layout.mode === 'history' && before === undefined && exclude.length === 0) return NEWEST
  return layout.capacity <= MEDIUM ? MEDIUM : null
}

/** An item without its payload: three names of 191 characters and some numbers. */
const BARE_ITEM_BYTES = 2048

/** A single page is kept below its bound; of many, the worst case must stay within what a process has to spare. */
export function mayBeTooLarge(requests: readonly ReadRequest[]): boolean {
  const [{ limit, maxBytes = Number.POSITIVE_INFINITY, payloads }] = requests as [ReadRequest]
  const page = limit * (payloads === 'none' ? BARE_ITEM_BYTES : MAX_PAYLOAD_BYTES)
  return requests.length * page > (requests.length === 1 ? maxBytes : maxBytes * MANY_FACTOR) || page > maxBytes
}
